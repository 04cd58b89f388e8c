// Where a tool's result goes: the options -o, -f, --page-cache, -C and --progress, and the file or pipe behind them.
#pragma once

#include <memory>
#include <string>

#include "cli/options.hpp"
#include "format/arrow/batch/compression.hpp"
#include "format/byte_sink.hpp"
#include "format/staged_file.hpp"

namespace strom::tool {

struct OutputOptions {
  std::string path;  // "-": standard output
  bool force = false;
  bool page_cache = false;
  format::arrow::Compression compression;

  bool is_stream() const { return path == "-"; }
  format::PageCache cache() const { return page_cache ? format::PageCache::kKeep : format::PageCache::kSpare; }
};

/// -o, -f and --page-cache. `what`: what is written, for the help.
void add_output_options(OptionTable& table, OutputOptions* options, const std::string& what);
/// -C, for tools that write Arrow.
void add_compression_option(OptionTable& table, OutputOptions* options);

/// The sink for options.path. Errors: kInvalidParameter when standard output is a terminal and `allow_terminal` is
/// false, or the path is that of something else than a file; kIoError and the like when the file exists (without
/// `force`) or cannot be created.
Result<std::unique_ptr<format::ByteSink>> open_output(const OutputOptions& options, bool allow_terminal = false);
/// What a path stands for behind symbolic links, so that a link is kept and the file behind it replaced; the path
/// itself when there is nothing yet. kInvalidParameter when something else than a file is there.
Result<std::string> file_behind(const std::string& path);

}  // namespace strom::tool
