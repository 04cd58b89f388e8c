// Waits for another process or thread without sleeping: yields the processor between two looks. Used by both ends of
// rings.
#pragma once

#include <cstdint>

namespace strom::store::message {

/// True if yielding is worth it now. After another thread has kept the processor for long, it is not worth it for some
/// time: a thread that yields then gets the processor back later than one that sleeps and is woken.
bool may_give_way();

/// Yields the processor to waiting threads.
void give_way();

}  // namespace strom::store::message
