// Converts a PlanSpec to nodes: a List of the version, the kind, the program and the fields. A record becomes a List of
// its fields, or an IntList if they are numbers. A vector of records becomes a List of them.
#include "pg/node/plan_spec.hpp"

#include <concepts>
#include <string>
#include <type_traits>

#include "engine/plan/serialize.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::node {

using boundary::entry;
using boundary::guard;

namespace {

/// Raise this when the form of custom_private changes.
constexpr int kVersion = 2;

enum SpecIndex { kVersionAt, kKindAt, kProgramAt, kFieldsAt };

template <class T>
concept Number = std::integral<T> || std::is_enum_v<T>;
template <class T>
concept Packed = requires { requires T::kIsPacked; };
template <class T>
concept NodePointer = std::same_as<T, List*> || std::same_as<T, Node*> || std::same_as<T, PartitionPruneInfo*>;

/// Writes the numbers of a record as an IntList. Only the last field can be a vector. May ereport.
struct NumberWriter {
  List* list = nullptr;

  void operator()(const auto&... values) { (put(values), ...); }
  template <Number T>
  void put(T value) {
    list = lappend_int(list, static_cast<int>(value));
  }
  void put(const std::vector<int>& values) {
    for (const int value : values) put(value);
  }
};

/// May ereport; holds nothing with a destructor.
struct NodeWriter {
  List* list = nullptr;

  void operator()(const auto&... values) { (put(values), ...); }

 private:
  void put_node(void* node) { list = lappend(list, node); }
  template <Number T>
  void put(T value) {
    put_node(makeInteger(static_cast<int>(value)));
  }
  void put(double value) { put_node(makeFloat(psprintf("%.17g", value))); }
  template <NodePointer T>
  void put(const T& node) {
    put_node(node);
  }
  void put(const std::vector<int>& values) {
    NumberWriter numbers;
    numbers(values);
    put_node(numbers.list);
  }
  template <class Record>
  void put(const std::vector<Record>& records) {
    List* written = NIL;
    for (const Record& record : records) {
      std::conditional_t<Packed<Record>, NumberWriter, NodeWriter> fields;
      Record::fields(record, fields);
      written = lappend(written, fields.list);
    }
    put_node(written);
  }
};

struct NumberReader {
  const List* list;
  int next = 0;

  void operator()(auto&... values) { (get(values), ...); }
  template <Number T>
  void get(T& value) {
    value = static_cast<T>(list_nth_int(list, next++));
  }
  void get(std::vector<int>& values) {
    while (next < list_length(list)) values.push_back(list_nth_int(list, next++));
  }
};

struct NodeReader {
  const List* list;
  int next = 0;

  void operator()(auto&... values) { (get(values), ...); }

 private:
  void* take() { return list_nth(list, next++); }
  template <Number T>
  void get(T& value) {
    value = static_cast<T>(intVal(take()));
  }
  // In a node's text form, a Float with a whole number looks like an Integer.
  void get(double& value) {
    const void* node = take();
    value = IsA(node, Integer) ? intVal(node) : floatVal(node);
  }
  template <NodePointer T>
  void get(T& node) {
    node = static_cast<T>(take());
  }
  void get(std::vector<int>& values) { NumberReader{static_cast<const List*>(take())}(values); }
  template <class Record>
  void get(std::vector<Record>& records) {
    const auto* written = static_cast<const List*>(take());
    records.resize(static_cast<size_t>(list_length(written)));
    for (size_t i = 0; i < records.size(); ++i) {
      std::conditional_t<Packed<Record>, NumberReader, NodeReader> reader{
          static_cast<const List*>(list_nth(written, static_cast<int>(i)))};
      Record::fields(records[i], reader);
    }
  }
};

engine::plan::Program program_of(const Const* literal) {
  const auto* bytes = reinterpret_cast<const bytea*>(DatumGetPointer(literal->constvalue));
  return boundary::value_or_throw(
      engine::plan::deserialize(std::string_view(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes))));
}

/// May ereport.
Const* bytes_of(const std::string& serialized) {
  auto* bytes = static_cast<bytea*>(palloc(serialized.size() + VARHDRSZ));
  SET_VARSIZE(bytes, serialized.size() + VARHDRSZ);
  memcpy(VARDATA(bytes), serialized.data(), serialized.size());
  return makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(bytes), false, false);
}

}  // namespace

PlanSpec::PlanSpec(const CustomScan* plan) : custom_scan(plan), kind(plan_kind(plan)) {
  const List* written = plan->custom_private;
  if (const int version = intVal(list_nth(written, kVersionAt)); version != kVersion)
    throw boundary::StatusError(Status(ErrorCode::kInternal, "engine plan is of version " + std::to_string(version)));
  program = program_of(static_cast<const Const*>(list_nth(written, kProgramAt)));
  NodeReader reader{written, kFieldsAt};
  fields(*this, reader);
  relid_offset = static_cast<int>(plan->scan.scanrelid) - static_cast<int>(scanrelid);
  for (PipelineSpec& pipeline : pipelines) {
    if (pipeline.relid != 0) pipeline.relid += static_cast<Index>(relid_offset);
    for (LeafSpec& leaf : pipeline.leaves) leaf.relid += static_cast<Index>(relid_offset);
  }
}

List* PlanSpec::write() const {
  const std::string serialized = engine::plan::serialize(program);
  return guard([&] {
    NodeWriter writer{list_make3(makeInteger(kVersion), makeInteger(static_cast<int>(kind)), bytes_of(serialized))};
    fields(*this, writer);
    return writer.list;
  });
}

PlanKind plan_kind(const CustomScan* plan) {
  return static_cast<PlanKind>(intVal(list_nth(plan->custom_private, kKindAt)));
}

PlanSummary summary_of(const CustomScan* plan) {
  return entry([plan] {
    const PlanSpec spec(plan);
    return guard([&spec] {
      PlanSummary summary = {spec.kind, NIL, NIL};
      for (const PipelineSpec& pipeline : spec.pipelines)
        if (pipeline.relid != 0) summary.tables = lappend_int(summary.tables, static_cast<int>(pipeline.relid));
      for (const UnsupportedSpec& one : spec.unsupported)
        summary.reasons = lappend(summary.reasons, strVal(one.reason));
      return summary;
    });
  });
}

}  // namespace strom::pg::node
