// The ids of chunks whose events a file has, as a note in its footer: events and ids are on the disk at the same
// instant, so a chunk that comes again after a kill is known. Used by EventFiles.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace strom::fluent2arrow {

inline constexpr char kChunksNote[] = "fluent2arrow.chunks";

/// `chunks` behind those of `note`, of which the oldest are left out when there are many.
std::string note_with(std::string_view note, const std::vector<std::string>& chunks);
/// The oldest comes first.
std::vector<std::string> chunks_of(std::string_view note);

/// At most `most` of the files that a pattern's names can be (event_files.hpp), those that were changed last first.
std::vector<std::string> files_of_pattern(const std::string& pattern, size_t most);

}  // namespace strom::fluent2arrow
