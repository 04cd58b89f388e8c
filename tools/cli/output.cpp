// See output.hpp.
#include "cli/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace strom::tool {

void add_output_options(OptionTable& table, OutputOptions* options, const std::string& what) {
  table.text('o', "output", "FILE", &options->path, what + "; - is standard output").file();
  table.flag('f', "force", &options->force, "replace the file if it exists");
  table.flag(0, "page-cache", &options->page_cache,
             "keep what is written in memory, for who reads it next; else files of 32 MB and more go to the disk past "
             "the system's page cache, which is faster");
}

void add_compression_option(OptionTable& table, OutputOptions* options) {
  table.custom(
      'C', "compress", "CODEC",
      [options](const std::string& text) -> Status {
        STROM_ASSIGN(options->compression, format::arrow::parse_compression(text));
        return Status::ok();
      },
      "compression of record batches: none (default), lz4 or zstd, the latter with a level as in zstd:9");
}

Result<std::string> file_behind(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return path;
  if (!S_ISREG(found.st_mode)) {
    return Status(ErrorCode::kInvalidParameter, "\"" + path + "\" is not a regular file")
        .with_hint("-o - writes to standard output.");
  }
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string target = resolved;
  free(resolved);
  return target;
}

Result<std::unique_ptr<format::ByteSink>> open_output(const OutputOptions& options, bool allow_terminal) {
  if (options.is_stream()) {
    if (!allow_terminal && isatty(STDOUT_FILENO)) {
      return Status(ErrorCode::kInvalidParameter, "standard output is a terminal, which cannot show this format")
          .with_hint("Redirect it, or name a file with -o.");
    }
    return format::descriptor_sink(STDOUT_FILENO, "standard output");
  }
  if (options.path.empty()) return Status(ErrorCode::kInvalidParameter, "no output file; name one with -o");
  STROM_ASSIGN(const std::string path, file_behind(options.path));
  if (!options.force && access(path.c_str(), F_OK) == 0) {
    return Status(ErrorCode::kIoError, "file \"" + options.path + "\" exists").with_hint("-f replaces it.");
  }
  STROM_ASSIGN(auto file, format::StagedFile::create(path, options.force, options.cache()));
  return std::unique_ptr<format::ByteSink>(std::move(file));
}

}  // namespace strom::tool
