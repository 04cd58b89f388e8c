// See table_folder.hpp.
#include "dump/table_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <set>

#include "base/os_error.hpp"
#include "dump/sql_table.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

namespace {

Result<std::string> make_output_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return base::os_error(errno, "could not create folder \"" + path + "\"");
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return base::os_error(errno, "could not find folder \"" + path + "\"");
  std::string folder = resolved;
  free(resolved);
  return folder;
}

/// A folder separator in a name would be one in the path, too.
std::string file_name(const SourceTable& table) {
  std::string out;
  for (const char c : table.file) out += c == '/' || c == '%' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return out + ".arrow";
}

}  // namespace

Result<DumpResult> dump_tables(const DumpSettings& settings, const std::vector<SourceTable>& tables,
                               const std::function<Result<DumpResult>(size_t, const std::string&)>& dump) {
  STROM_ASSIGN(const std::string folder, make_output_folder(settings.output.path));
  DumpResult total{folder, 0, 0, 0};
  std::string script = "-- Foreign tables over the files that were dumped.\n";
  std::set<std::string> known;  // statements that are in the script
  for (size_t i = 0; i < tables.size(); ++i) {
    const SourceTable& table = tables[i];
    const std::string path = folder + "/" + file_name(table);
    if (!settings.resume || access(path.c_str(), F_OK) != 0) {
      Result<DumpResult> dumped = dump(i, path);
      if (!dumped.is_ok()) {
        const Status status = dumped.status();
        if (status.code() == ErrorCode::kCancelled) return status;
        return Status(status.code(), "table " + table.shown + ": " + status.message())
            .with_detail(status.detail())
            .with_hint(status.hint());
      }
      total.files += dumped.value().files;
      total.batches += dumped.value().batches;
      total.rows += dumped.value().rows;
    }
    STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(path));
    if (const std::string schema = create_schema(table.schema); !schema.empty() && known.insert(schema).second)
      script += schema;
    STROM_ASSIGN(const std::string types, type_definitions(*file, known));
    script += types;
    script += create_dumped_table(file->schema, table.reference, path);
  }
  OutputOptions output = settings.output;
  output.path = folder + "/create_tables.sql";
  output.force = output.force || settings.resume;
  STROM_ASSIGN(const auto sink, open_output(output));
  STROM_TRY(sink->append({{script.data(), script.size()}}));
  STROM_TRY(sink->commit());
  return total;
}

}  // namespace strom::tool
