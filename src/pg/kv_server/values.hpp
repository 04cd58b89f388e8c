// Converts values that clients send to the form of a store table's memory. Whatever they send, the result is a valid
// value of the column's type. May ereport.
#pragma once

#include "pg/store/columns.hpp"
#include "store/message/message.hpp"

namespace strom::pg::kv_server {

/// The cell refers to the field's bytes, to `space`, or to the current memory context. False: the bytes are no value in
/// stored form. Errors: those of the type's input function, for text; 0A000: the type is only taken as text.
bool take_value(const store::StoreColumn& column, const ::strom::store::message::Field& field, store::CellSpace* space,
                store::rows::Cell* cell);

}  // namespace strom::pg::kv_server
