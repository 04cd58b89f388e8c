// Writes values as MessagePack, for events that came in another form. Used by syslog.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace strom::format::forward {

void put_nil(std::string* out);
void put_bool(bool value, std::string* out);
void put_int(int64_t value, std::string* out);
void put_uint(uint64_t value, std::string* out);
void put_float(double value, std::string* out);
/// Invalid UTF-8 is replaced.
void put_text(std::string_view text, std::string* out);
/// `count` pairs, or elements, follow.
void put_map(uint32_t count, std::string* out);
void put_array(uint32_t count, std::string* out);
/// The beginning of an event: its time, in nanoseconds since 1970. Its record, a map, follows.
void put_event(int64_t time_ns, std::string* out);

}  // namespace strom::format::forward
