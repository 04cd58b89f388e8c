#include "pg/store/files.hpp"

#include <unistd.h>

#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/store/checkpoint.hpp"
#include "pg/store/control.hpp"
#include "pg/store/published.hpp"
#include "pg/store/transaction.hpp"
#include "store/log/base_file.hpp"

namespace strom::pg::store {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

namespace {

/// Files that are removed at the end of the transaction.
struct Removal {
  Oid relid;
  std::string base_file, redo_file, memory;
  bool at_commit;  // false: when the transaction aborts
  int level;
};

std::vector<Removal>& removals() {
  static auto* list = new std::vector<Removal>();
  return *list;
}

/// Called for PREPARE TRANSACTION: another session may end the transaction later.
void refuse_prepare() {
  if (removals().empty()) return;
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cannot PREPARE a transaction that has created or dropped store tables")));
}

void note_removal(Removal removal) {
  guard([] { watch_transactions(); });
  removal.level = guard([] { return GetCurrentTransactionNestLevel(); });
  removals().push_back(std::move(removal));
}

void refuse_existing(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) return;
  throw_if_failed(Status(ErrorCode::kBadOption, "file \"" + path + "\" exists already")
                      .with_hint("A new store table makes its files itself."));
}

/// Checkpoints write to a file of the base file's name with this behind it, and rename it then.
void refuse_names_of_checkpoints(const Options& options) {
  for (const std::string& path : {options.base_file, options.redo_log_file})
    if (path.ends_with(log::kNewSuffix))
      throw_if_failed(Status(ErrorCode::kBadOption, "file \"" + path + "\" has a name that a checkpoint may use")
                          .with_hint(std::string("Use a name that does not end in \"") + log::kNewSuffix + "\"."));
  refuse_existing(options.base_file + log::kNewSuffix);
}

void make_files(Relation relation) {
  const Oid relid = RelationGetRelid(relation);
  const Options options = value_or_throw(parse_options(catalog::load_foreign_table(relid, {}).options));
  log::BaseHeader header;
  value_or_throw(columns_of(relation, options.primary_key, options.max_num_rows, &header.shape));
  refuse_existing(options.base_file);
  refuse_existing(options.redo_log_file);
  refuse_names_of_checkpoints(options);
  header.identity = new_identity(relid);
  auto redo = value_or_throw(log::RedoFile::create(options.redo_log_file, header.identity, options.redo_log_limit));
  note_removal({relid, {}, options.redo_log_file, {}, false, 0});
  throw_if_failed(log::sync_folder_of(options.redo_log_file));
  refuse_existing(options.base_file);  // two paths of one file
  auto base = value_or_throw(log::BaseWriter::begin(options.base_file, header));
  throw_if_failed(base.finish(enableFsync));
  note_removal({relid, options.base_file, {}, memory_path(relid), false, 0});
}

void compare_definition(Relation relation) {
  const Oid relid = RelationGetRelid(relation);
  const Options options = value_or_throw(parse_options(catalog::load_foreign_table(relid, {}).options));
  rows::Shape shape;
  value_or_throw(columns_of(relation, options.primary_key, options.max_num_rows, &shape));
  const auto base = value_or_throw(log::BaseReader::open(options.base_file));
  if (base.header().shape == shape && base.header().identity.relation == relid) {
    // Memory that is made now would be that of options which the transaction may take back.
    Table* table = guard([relation, relid] { return has_memory(relid) ? open_table(relation) : nullptr; });
    const auto redo = value_or_throw(log::RedoFile::open(options.redo_log_file, base.header().identity));
    if (redo.ring_bytes() != options.redo_log_limit)
      throw_if_failed(Status(ErrorCode::kUnsupported, "\"redo_log_limit\" of a store table cannot be changed")
                          .with_detail("The log was made for " + std::to_string(redo.ring_bytes()) + " bytes.")
                          .with_hint("Make a new table and copy the rows into it."));
    if (table != nullptr) follow_kv_option(table, relation);
    return;
  }
  throw_if_failed(Status(ErrorCode::kUnsupported,
                         "columns, types, \"primary_key\", \"max_num_rows\" and files of a store table "
                         "cannot be changed")
                      .with_hint("Make a new table and copy the rows into it."));
}

}  // namespace

void settle_files(XactEvent event) {
  if (event == XACT_EVENT_PRE_PREPARE) refuse_prepare();
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) return;
  for (const Removal& removal : removals())
    if (removal.at_commit == (event == XACT_EVENT_COMMIT))
      remove_files(removal.relid, removal.base_file, removal.redo_file, removal.memory);
  removals().clear();
}

void settle_files_of_subtransaction(SubXactEvent event) {
  const int level = GetCurrentTransactionNestLevel();
  auto& list = removals();
  if (event == SUBXACT_EVENT_COMMIT_SUB)
    for (Removal& removal : list) removal.level = std::min(removal.level, level - 1);
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  for (const Removal& removal : list)
    if (removal.level >= level && !removal.at_commit)
      remove_files(removal.relid, removal.base_file, removal.redo_file, removal.memory);
  std::erase_if(list, [level](const Removal& removal) { return removal.level >= level; });
}

void check_definition(Relation relation) {
  boundary::entry([relation] { compare_definition(relation); });
}

void create_files(Relation relation) {
  boundary::entry([relation] { make_files(relation); });
}

void drop_files(Oid relid, const Options& options) {
  guard([relid] { bar_checkpoints(relid); });
  note_removal({relid, options.preserve_files ? std::string() : options.base_file,
                options.preserve_files ? std::string() : options.redo_log_file, memory_path(relid), true, 0});
}

}  // namespace strom::pg::store
