// Waiting for another process or thread without sleeping: the processor is given away between two looks. Used by both
// ends of rings.
#pragma once

#include <cstdint>

namespace strom::store::message {

/// Whether that is worth while now. It is not for some time after somebody else has kept the processor for long: who
/// gives it away gets it back later than who sleeps and is woken.
bool may_give_way();

/// Gives the processor to others that wait for it.
void give_way();

}  // namespace strom::store::message
