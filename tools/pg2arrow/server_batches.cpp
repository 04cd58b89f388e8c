// See server_batches.hpp.
#include "pg2arrow/server_batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dump/row_batches.hpp"
#include "format/arrow/read/stream_decoder.hpp"
#include "format/pgwire/copy_decoder.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::ColumnBuilder;
using format::arrow::StreamDecoder;
using format::arrow::StreamRows;

constexpr const char* kStream = "arrow_ipc_stream()";

/// The extension's function, if this role may call it; one of that name that belongs to nobody's extension is not
/// trusted. Its arguments are the version of the interface.
Result<std::string> find_function(Connection& connection) {
  STROM_ASSIGN(
      const auto rows,
      connection.query(
          "SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(p.proname)"
          " FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
          " JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid"
          "  AND d.deptype = 'e' AND d.refclassid = 'pg_catalog.pg_extension'::regclass"
          " JOIN pg_catalog.pg_extension x ON x.oid = d.refobjid AND x.extname = 'pg_strom'"
          " WHERE p.proname = 'arrow_ipc_stream' AND p.proretset AND p.prorettype = 'pg_catalog.bytea'::regtype"
          " AND pg_catalog.pg_get_function_identity_arguments(p.oid) = 'query text, batch_bytes bigint, options jsonb'"
          " AND pg_catalog.has_schema_privilege(n.oid, 'usage') AND pg_catalog.has_function_privilege(p.oid, "
          "'execute')"));
  return rows.empty() ? std::string() : rows[0][0].value_or("");
}

std::string numeric_option(const NumericChoice& choice) {
  switch (choice.as) {
    case NumericChoice::As::kText: return "text";
    case NumericChoice::As::kReal: return choice.may_round ? "float8-nearest" : "float8";
    case NumericChoice::As::kDecimal: break;
  }
  return fmt::format("{},{}", choice.precision, choice.scale);
}

std::string call_of(const Connection& connection, const Settings& settings, const std::string& function,
                    const std::string& query, int64_t batch_bytes) {
  std::string options = fmt::format(R"({{"numeric": "{}")", numeric_option(settings.numeric));
  if (settings.infinity_is_null) options += R"(, "infinity": "null")";
  if (settings.out_of_range_is_null) options += R"(, "out_of_range": "null")";
  options += "}";
  return fmt::format("SELECT {}({}, {}, '{}')", function, connection.quoted_text(query), batch_bytes, options);
}

/// The server's messages about values that Arrow does not have name the column.
Status with_hint(const Status& status) {
  if (status.message().find("cannot be written to Arrow") == std::string::npos) return status;
  return Status(status.code(), status.message())
      .with_detail(status.detail())
      .with_hint("Cast the column in the query given by -c; see also --numeric, --infinity and --out-of-range.");
}

/// Runs a call and decodes the stream that its rows are pieces of.
Status receive(Connection& connection, const std::string& call, StreamDecoder& decoder,
               const StreamDecoder::TakeRows& take, const tool::Failure& failure) {
  columnar::Field field;
  field.name = kStream;
  field.layout = columnar::Layout::kBinary;
  std::vector<ColumnBuilder> piece;
  piece.emplace_back(field);
  format::pgwire::WireColumn wire;
  wire.wire = format::pgwire::Wire::kBytes;
  format::pgwire::CopyDecoder copy({wire}, &piece);
  STROM_TRY(connection.start_copy(call));
  while (!failure.is_set()) {
    Result<Connection::Data> received = connection.copy_data();
    if (!received.is_ok()) return with_hint(received.status());
    const Connection::Data data = std::move(received).value();
    if (data.bytes == nullptr) {
      STROM_TRY(copy.finish());
      return decoder.finish();
    }
    const auto* bytes = reinterpret_cast<const uint8_t*>(data.bytes.get());
    if (const auto value = copy.take_value(bytes, data.size)) {
      STROM_TRY(decoder.feed(value->data(), static_cast<int64_t>(value->size()), take));
      continue;
    }
    STROM_TRY(copy.feed(bytes, data.size));
    STROM_TRY(decoder.feed(piece[0].data().data(), piece[0].data().size(), take));
    piece[0].clear();
  }
  return Status::ok();
}

format::arrow::LabelsById labels_of(const tool::Dictionaries& dictionaries) {
  format::arrow::LabelsById labels;
  for (const auto& [id, dictionary] : dictionaries) labels.emplace(id, dictionary.labels);
  return labels;
}

/// What rules the fast path out before the server is asked.
const char* obstacle(const Connection& connection, const Settings& settings, const Plan& plan) {
  if (settings.no_server_side) return "--no-server-side";
  if (!settings.partition_by.empty()) return "--partition-by";
  if (!plan.records.empty()) return "more than 1600 columns";
  if (plan.columns.empty()) return "no columns";
  if (plan.is_parallel) return "the server has a parallel plan";
  if (connection.parameter("server_encoding") == "SQL_ASCII") return "the server does not know its encoding";
  return nullptr;
}

/// The server's columns for a query without rows are ours.
Status compare_columns(Connection& connection, const Settings& settings, const Plan& plan,
                       const std::string& function) {
  const tool::Contents contents = contents_of(plan.columns);
  std::vector<ColumnBuilder> columns;
  columns.reserve(contents.fields.size());
  for (const auto& field : contents.fields) columns.emplace_back(field);
  StreamDecoder decoder(kStream, columns, labels_of(contents.dictionaries));
  const std::string nothing = "SELECT * FROM (" + plan.queries[0] + "\n) AS q LIMIT 0";
  STROM_ASSIGN(const auto pieces, connection.binary_values(call_of(connection, settings, function, nothing, 1)));
  for (const std::string& piece : pieces) {
    STROM_TRY(decoder.feed(reinterpret_cast<const uint8_t*>(piece.data()), static_cast<int64_t>(piece.size()),
                           [](const StreamRows&) { return Status::ok(); }));
  }
  return decoder.finish();
}

}  // namespace

Result<ServerSide> find_server_side(Connection& connection, const Settings& settings, const Plan& plan) {
  if (const char* why_not = obstacle(connection, settings, plan); why_not != nullptr) return ServerSide{"", why_not};
  STROM_ASSIGN(std::string function, find_function(connection));
  if (function.empty()) return ServerSide{"", "the server has no extension pg_strom that this role may use"};
  STROM_TRY(connection.run("SAVEPOINT server_side"));
  const Status compared = compare_columns(connection, settings, plan, function);
  STROM_TRY(connection.run("ROLLBACK TO SAVEPOINT server_side"));
  STROM_TRY(connection.run("RELEASE SAVEPOINT server_side"));
  if (!compared.is_ok()) return ServerSide{"", compared.message() + " " + compared.detail()};
  return ServerSide{std::move(function), ""};
}

Status run_server_side(Connection& connection, const Settings& settings, const std::string& function,
                       const WorkerQuery& query, const tool::Dictionaries& dictionaries, tool::OutputFiles& files,
                       tool::Progress& progress, const tool::Failure& failure) {
  tool::RowBatches batches(settings, files, progress, query.worker);
  StreamDecoder decoder(kStream, batches.columns(), labels_of(dictionaries));
  int64_t rows = 0;
  const auto take = [&](const StreamRows& given) -> Status {
    for (int64_t at = 0; at < given.count();) {
      const int64_t count = std::min(given.count() - at, batches.room(rows));
      STROM_TRY(given.append_to(batches.columns(), at, count));
      at += count;
      rows += count;
      STROM_TRY(batches.advance(rows, at == count ? given.bytes() : 0));  // with the first part
    }
    return Status::ok();
  };
  STROM_TRY(
      receive(connection, call_of(connection, settings, function, query.text, batches.step()), decoder, take, failure));
  return failure.is_set() ? Status::ok() : batches.flush(rows);
}

}  // namespace strom::pg2arrow
