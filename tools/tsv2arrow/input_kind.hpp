// What an input is when it is not delimited text in UTF-8: compressed, in another encoding, another kind of file.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/csv/row_reader.hpp"

namespace strom::tsv2arrow {

/// kUnsupported, and how to go on, when the bytes at the beginning of `text` say that it is something else, whatever
/// its name. `name` is that of the file, for messages.
Status check_input_kind(const std::string& name, std::string_view text);

/// Where in `text`, which begins with a row, a carriage return without a line feed stands outside of quotes; npos:
/// there is none. Such a byte may end a line or not, which nobody can tell.
size_t find_bare_return(const format::csv::Dialect& dialect, std::string_view text);

/// The error for it.
Status bare_return(const std::string& place);

}  // namespace strom::tsv2arrow
