// A PlanSpec with a value of its own in every field, written as nodes, turned to text and back as PostgreSQL does with
// plans, and read again; loaded by test/tap/plan_spec.py. Fields are found as PlanSpec finds them, so that a new one is
// tested without a change here.
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/plan/builder.hpp"
#include "engine/plan/serialize.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/node/plan_spec.hpp"

extern "C" {
#include "nodes/nodeFuncs.h"
PG_MODULE_MAGIC;
}

namespace boundary = strom::pg::boundary;
using strom::pg::node::OutputKind;
using strom::pg::node::PlanSpec;

namespace {

/// Gives fields values, no two of which are the same as far as their types allow that.
class Filler {
 public:
  void operator()(auto&... fields) { (set(fields), ...); }

 private:
  static constexpr size_t kRecords = 4;

  int next() { return ++last_; }
  void set(bool& field) { field = next() % 2 == 0; }
  void set(OutputKind& field) { field = static_cast<OutputKind>(outputs_++ % 3); }
  template <class T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void set(T& field) {
    field = static_cast<T>(next() % 100);
  }
  void set(double& field) { field = next() % 2 == 0 ? 3e15 + last_ : last_ + 1.0 / 3; }
  void set(List*& field) {
    const int a = next(), b = next();
    field = boundary::guard([=] { return list_make2(makeInteger(a), makeString(psprintf("%d", b))); });
  }
  void set(Node*& field) {
    const int value = next();
    field = boundary::guard([=] { return reinterpret_cast<Node*>(makeInteger(value)); });
  }
  void set(PartitionPruneInfo*& field) {
    const int value = next();
    field = boundary::guard([=] {
      auto* info = makeNode(PartitionPruneInfo);
      info->other_subplans = bms_make_singleton(value);
      return info;
    });
  }
  void set(std::vector<int>& field) { field = {next(), next(), next()}; }
  template <class Record>
  void set(std::vector<Record>& records) {
    records.resize(kRecords);
    for (Record& record : records) Record::fields(record, *this);
  }

  int last_ = 0, outputs_ = 0;
};

/// A text for each field.
class Printer {
 public:
  void operator()(const auto&... fields) { (add(fields), ...); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  template <class T>
    requires(std::integral<T> || std::is_enum_v<T>)
  void add(T field) {
    texts_.push_back(std::to_string(static_cast<int>(field)));
  }
  void add(double field) { texts_.push_back(std::to_string(field)); }
  void add_node(const void* node) {
    texts_.emplace_back(boundary::guard([=] { return nodeToString(node); }));
  }
  void add(List* const& field) { add_node(field); }
  void add(Node* const& field) { add_node(field); }
  void add(PartitionPruneInfo* const& field) { add_node(field); }
  void add(const std::vector<int>& field) {
    for (const int value : field) add(value);
  }
  template <class Record>
  void add(const std::vector<Record>& records) {
    for (const Record& record : records) Record::fields(record, *this);
  }

  std::vector<std::string> texts_;
};

std::vector<std::string> texts_of(const PlanSpec& spec) {
  Printer printer;
  PlanSpec::fields(spec, printer);
  return printer.texts();
}

PlanSpec filled() {
  PlanSpec spec;
  Filler filler;
  PlanSpec::fields(spec, filler);
  spec.kind = strom::pg::node::PlanKind::kAggregation;
  const strom::engine::plan::ValueType type{strom::registry::TypeId::kInt4, 0};
  spec.program.sources.push_back({{type}});
  strom::engine::plan::Builder builder(spec.program);
  spec.program.pipelines.emplace_back().outputs = {builder.column(0, type)};
  return spec;
}

/// The plan as it comes to the executor: by way of its text, with indexes of tables raised by `offset`.
const CustomScan* planned(const PlanSpec& spec, int offset) {
  List* written = spec.write();
  const auto scanrelid = static_cast<Index>(static_cast<int>(spec.scanrelid) + offset);
  return boundary::guard([=] {
    auto* plan = makeNode(CustomScan);
    plan->scan.scanrelid = scanrelid;
    plan->custom_private = static_cast<List*>(stringToNode(nodeToString(copyObjectImpl(written))));
    return plan;
  });
}

std::string difference(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  if (before.size() != after.size())
    return std::to_string(before.size()) + " fields were written, " + std::to_string(after.size()) + " read";
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) return "field " + std::to_string(i) + ": " + before[i] + " became " + after[i];
  return {};
}

}  // namespace

/// Empty where all is as it was.
STROM_SQL_FUNCTION(strom_test_plan_spec) {
  const PlanSpec spec = filled(), same(planned(spec, 0));
  std::string problem = difference(texts_of(spec), texts_of(same));
  if (problem.empty() && same.kind != spec.kind) problem = "the kind is another one";
  if (problem.empty() && strom::engine::plan::serialize(same.program) != strom::engine::plan::serialize(spec.program))
    problem = "the program is another one";
  return boundary::guard([&problem] { return PointerGetDatum(cstring_to_text(problem.c_str())); });
}

/// What setrefs.c adds to range table indexes is added to those of pipelines and leaves.
STROM_SQL_FUNCTION(strom_test_plan_spec_offset) {
  constexpr int kOffset = 5;
  const PlanSpec spec = filled(), moved(planned(spec, kOffset));
  bool all = moved.relid_offset == kOffset && moved.scanrelid == spec.scanrelid;
  for (size_t i = 0; i < spec.pipelines.size(); ++i) {
    all = all && moved.pipelines[i].relid == spec.pipelines[i].relid + kOffset;
    for (size_t k = 0; k < spec.pipelines[i].leaves.size(); ++k)
      all = all && moved.pipelines[i].leaves[k].relid == spec.pipelines[i].leaves[k].relid + kOffset;
  }
  return BoolGetDatum(all);
}

/// Reads a plan of another version: an error.
STROM_SQL_FUNCTION(strom_test_plan_spec_version) {
  const CustomScan* plan = planned(filled(), 0);
  boundary::guard([plan] { linitial(plan->custom_private) = makeInteger(1 << 20); });
  const PlanSpec spec(plan);
  return BoolGetDatum(spec.pipelines.empty());
}
