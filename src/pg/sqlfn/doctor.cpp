// SQL functions about the machine: pgstrom.doctor() and pgstrom.device_info(), see sql/doctor.sql.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/machine_memory.hpp"
#include "engine/exec/execution.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/cache/shared_columns.hpp"
#include "pg/compat/collation.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/node/thread_slots.hpp"
#include "pg/sqlfn/findings_output.hpp"
#include "pg/sqlfn/log_devices.hpp"
#include "pg/gpu/service_path.hpp"

namespace boundary = strom::pg::boundary;
namespace guc = strom::pg::guc;
using boundary::guard;
using namespace strom::pg::sqlfn;

namespace {

uint64_t machine_memory() { return strom::base::read_machine_memory().total; }

uint64_t bytes_of_buffers() { return static_cast<uint64_t>(NBuffers) * BLCKSZ; }

/// The libraries in a setting such as: a, "b", $libdir/c.
std::vector<std::string> libraries_of(const char* setting) {
  std::vector<std::string> names;
  std::istringstream parts(setting == nullptr ? "" : setting);
  for (std::string part; std::getline(parts, part, ',');) {
    std::erase_if(part, [](char c) { return c == ' ' || c == '"' || c == '\''; });
    if (!part.empty()) names.push_back(part);
  }
  return names;
}

bool has_us(const std::vector<std::string>& libraries) {
  return std::any_of(libraries.begin(), libraries.end(), [](const std::string& name) {
    return name == "pg_strom" || name.ends_with("/pg_strom") || name.ends_with("/pg_strom.so");
  });
}

/// The command that makes every session load the engine from its start; empty when sessions do so already.
std::string preload_for_sessions() {
  const auto session = libraries_of(session_preload_libraries_string);
  if (has_us(libraries_of(shared_preload_libraries_string)) || has_us(session)) return {};
  std::string others;
  for (const std::string& name : session) others += "'" + name + "', ";
  return "ALTER SYSTEM SET session_preload_libraries = " + others + "'pg_strom'; SELECT pg_reload_conf();";
}

void check_preload(std::vector<Finding>* findings) {
  const std::string fix = preload_for_sessions();
  if (fix.empty())
    findings->push_back({"preload", Health::kOk, "Every session has the engine from its start.", ""});
  else
    findings->push_back({"preload", Health::kWarning,
                         "A session has the engine only after it has used an Arrow table or a function of the "
                         "extension; until then queries on other tables do without.",
                         fix});
}

bool is_preload_noted = false;  // reported at the end of this transaction

/// PostgreSQL suppresses notices while the script of CREATE EXTENSION runs.
void note_preload(XactEvent event, void*) {
  const bool is_due = is_preload_noted && event == XACT_EVENT_PRE_COMMIT;
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
    is_preload_noted = false;
  if (!is_due) return;
  boundary::entry([]() -> Datum {
    const std::string fix = preload_for_sessions();
    const char* hint = fix.c_str();
    if (fix.empty()) return Datum{0};
    guard([hint] {
      ereport(NOTICE,
              (errmsg("pg_strom takes part in queries on Arrow tables; in queries on other tables where a session "
                      "has loaded it"),
               errhint("For all new sessions: %s", hint)));
    });
    return Datum{0};
  });
}

void check_engine(std::vector<Finding>* findings) {
  if (!guc::pg_strom::enabled)
    findings->push_back({"engine", Health::kWarning, "It is switched off.", "SET pg_strom.enabled = on;"});
  else if (guc::pg_strom::device() == guc::DeviceChoice::kOff)
    findings->push_back({"engine", Health::kWarning, "No device is allowed.", "SET pg_strom.device = auto;"});
  else
    findings->push_back({"engine", Health::kOk,
                         "A query uses up to " + std::to_string(strom::pg::node::wanted_threads()) + " threads.", ""});
}

void check_memory(std::vector<Finding>* findings) {
  constexpr uint64_t kPart = 4;  // of the machine's memory
  const uint64_t setting = static_cast<uint64_t>(guc::pg_strom::work_memory) << 10;
  const std::string detail =
      "A query's tables may take " + size_text(setting) + ", and the machine has " + size_text(machine_memory()) + ".";
  if (setting > machine_memory() / kPart)
    findings->push_back({"work memory", Health::kWarning, detail,
                         "SET pg_strom.work_memory = '" + size_text(machine_memory() / kPart / kPart) + "';"});
  else
    findings->push_back({"work memory", Health::kOk, detail, ""});

  constexpr uint64_t kInitial = uint64_t{128} << 20, kLarge = uint64_t{4} << 30;  // as initdb leaves it; worth changing
  const std::string buffers = "They are " + size_text(bytes_of_buffers()) + " of " + size_text(machine_memory());
  if (bytes_of_buffers() <= kInitial && machine_memory() >= kLarge)
    findings->push_back({"shared buffers", Health::kWarning,
                         buffers + ", as after initdb; more would keep more of the tables in memory.",
                         "ALTER SYSTEM SET shared_buffers = '" + size_text(machine_memory() / kPart) +
                             "';   -- and restart the server"});
  else
    findings->push_back({"shared buffers", Health::kOk, buffers + ".", ""});
}

void check_file_rights(std::vector<Finding>* findings) {
  const bool may_read = guard([] { return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES); });
  const char* quoted = guard([] { return quote_identifier(GetUserNameFromId(GetUserId(), false)); });
  if (may_read)
    findings->push_back({"Arrow files", Health::kOk, "This role may make tables of files.", ""});
  else
    findings->push_back({"Arrow files", Health::kNote, "This role may not make tables of files.",
                         std::string("GRANT pg_read_server_files TO ") + quoted +
                             "; GRANT USAGE ON FOREIGN SERVER arrow_fdw TO " + quoted + ";"});
}

void check_collation(std::vector<Finding>* findings) {
  if (guard([] { return strom::pg::compat::collation_orders_bytes(DEFAULT_COLLATION_OID); }))
    findings->push_back({"collation", Health::kOk, "The engine orders text as this database does.", ""});
  else
    findings->push_back(
        {"collation", Health::kNote,
         "PostgreSQL orders this database's text. Conditions with < and >, min, max and ORDER BY of text "
         "are not in the engine, but for text of the collation \"C\".",
         "ALTER TABLE ... ALTER COLUMN ... TYPE text COLLATE \"C\";   -- or in a query: ORDER BY ... "
         "COLLATE \"C\""});
}

ServiceState service_state() {
  ServiceState state;
  state.is_preloaded = has_us(libraries_of(shared_preload_libraries_string));
  state.is_wanted = strom::pg::gpu::wants_service();
  const auto client = strom::service::Client::connect(strom::pg::gpu::gpu_client_options());
  if (client.is_ok())
    state.device = client.value()->welcome().device;
  else
    state.why_not = client.status().message();
  return state;
}

CacheState column_cache() {
  const auto memory = strom::pg::cache::SharedColumns::memory();
  const auto machine = strom::base::read_machine_memory();
  return {memory.allowed, memory.is_usual, memory.taken, memory.lacking, machine.total, machine.is_limited};
}

SharedMemory shared_memory() {
  switch (dynamic_shared_memory_type) {
    case DSM_IMPL_POSIX: return SharedMemory::kPosix;
    case DSM_IMPL_MMAP: return SharedMemory::kFiles;
    default: return SharedMemory::kSystemV;
  }
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  check_preload(&findings);
  check_engine(&findings);
  check_processor(&findings);
  check_memory(&findings);
  check_shared_memory(column_cache(), shared_memory(), &findings);
  check_limits(&findings);
  check_file_rights(&findings);
  check_collation(&findings);
  check_tables(&findings);
  const char* user = guard([] { return pstrdup(GetUserNameFromId(BOOTSTRAP_SUPERUSERID, true)); });
  check_gpu(strom::device::inspect_nvidia_driver(), user, std::string(pkglib_path) + "/pg_strom_cuda.so", &findings);
  check_service(service_state(), preload_statement(), &findings);
  return findings;
}

const char* health_word(Health health) {
  switch (health) {
    case Health::kOk: return "ok";
    case Health::kNote: return "note";
    case Health::kWarning: return "warning";
    case Health::kError: return "error";
  }
  return "?";
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

std::string name_of(const strom::device::NvidiaGpu& gpu) {
  return gpu.name.empty() ? "NVIDIA GPU at " + gpu.address : gpu.name;
}

std::string device_line() {
  const int threads = strom::pg::node::wanted_threads();
  std::string line = "CPU \"" + processor_name() + "\" (" +
                     strom::engine::exec::isa_name(strom::engine::exec::best_isa()) + ", " + std::to_string(threads) +
                     (threads == 1 ? " thread)" : " threads)");
  int number = 0;
  for (const strom::device::NvidiaGpu& gpu : strom::device::inspect_nvidia_driver().gpus)
    line += ", GPU" + std::to_string(number++) + " \"" + name_of(gpu) + "\"";
  return number > 0 ? line : line + ", no GPU";
}

struct DeviceRow {
  const char *device, *name, *instructions;  // instructions may be nullptr
  int threads;                               // -1: unknown
  bool is_used;
};

// May ereport.
void put_device(ReturnSetInfo* result, const DeviceRow& row) {
  Datum values[] = {CStringGetTextDatum(row.device), CStringGetTextDatum(row.name),
                    row.instructions == nullptr ? Datum{0} : CStringGetTextDatum(row.instructions),
                    Int32GetDatum(row.threads), BoolGetDatum(row.is_used)};
  bool nulls[] = {false, false, row.instructions == nullptr, row.threads < 0, false};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

std::string strom::pg::sqlfn::preload_statement() {
  std::string names;
  for (const std::string& name : libraries_of(shared_preload_libraries_string)) names += "'" + name + "', ";
  return "ALTER SYSTEM SET shared_preload_libraries = " + names + "'pg_strom';   -- and restart the server";
}

void strom::pg::sqlfn::log_devices() {
  boundary::entry([] {
    const std::string line = device_line();
    const char* text = line.c_str();
    guard([text] { ereport(LOG, (errmsg("pg_strom runs on %s", text))); });
  });
}

void strom::pg::sqlfn::put_findings(const std::vector<Finding>& findings, ReturnSetInfo* result) {
  for (const Finding& finding : findings) {
    const char* texts[] = {finding.check.c_str(), health_word(finding.health), finding.detail.c_str(),
                           finding.fix.c_str()};
    guard([&texts, result] {
      Datum values[4];
      for (int i = 0; i < 4; ++i) values[i] = CStringGetTextDatum(texts[i]);
      bool nulls[] = {false, false, false, *texts[3] == '\0'};
      tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    });
  }
}

/// Called only by the extension's script: CREATE EXTENSION ends with a NOTICE unless the library is preloaded.
STROM_SQL_FUNCTION(strom_note_preload) {
  static bool is_registered = false;
  if (!is_registered) guard([] { RegisterXactCallback(note_preload, nullptr); });
  is_registered = true;
  is_preload_noted = true;
  return Datum{0};
}

/// pgstrom.doctor() -> setof (check, status, detail, fix)
STROM_SQL_FUNCTION(strom_doctor) {
  guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  put_findings(examine(), reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo));
  return Datum{0};
}

/// pgstrom.device_info() -> setof (device, name, instructions, threads, used)
STROM_SQL_FUNCTION(strom_device_info) {
  guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const bool is_used = guc::pg_strom::enabled && guc::pg_strom::device() != guc::DeviceChoice::kOff;
  const std::string processor = processor_name();
  const char* instructions = strom::engine::exec::isa_name(strom::engine::exec::best_isa());
  const DeviceRow cpu = {"cpu", processor.c_str(), instructions, strom::pg::node::wanted_threads(), is_used};
  guard([&cpu, result] { put_device(result, cpu); });
  int number = 0;
  for (const strom::device::NvidiaGpu& gpu : strom::device::inspect_nvidia_driver().gpus) {
    const std::string device = "gpu" + std::to_string(number++);
    const std::string name = name_of(gpu);
    const DeviceRow row = {device.c_str(), name.c_str(), nullptr, -1, false};
    guard([&row, result] { put_device(result, row); });
  }
  return Datum{0};
}
