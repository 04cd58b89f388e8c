#include "engine/plan/serialize.hpp"

#include <cstring>
#include <type_traits>

#include "engine/plan/verify.hpp"

namespace strom::engine::plan {
namespace {

constexpr uint32_t kMagic = 0x52545350;  // "PSTR"

class Writer {
 public:
  template <class T>
  void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  void type(const ValueType& t) {
    value(static_cast<uint8_t>(t.type));
    value(t.scale);
  }
  void text(const std::string& s) {
    value(static_cast<uint32_t>(s.size()));
    bytes_ += s;
  }
  template <class T, class F>
  void list(const std::vector<T>& items, F each) {
    value(static_cast<uint32_t>(items.size()));
    for (const T& item : items) each(item);
  }
  void ids(const std::vector<uint32_t>& items) {
    list(items, [&](uint32_t id) { value(id); });
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool failed() const { return failed_; }
  size_t offset() const { return offset_; }
  bool at_end() const { return offset_ == bytes_.size(); }

  template <class T>
  T value() {
    T v{};
    if (bytes_.size() - offset_ < sizeof v) {
      failed_ = true;
      return v;
    }
    std::memcpy(&v, bytes_.data() + offset_, sizeof v);
    offset_ += sizeof v;
    return v;
  }
  ValueType type() {
    ValueType t;
    t.type = static_cast<registry::TypeId>(value<uint8_t>());
    t.scale = value<int16_t>();
    return t;
  }
  std::string text() {
    const auto size = value<uint32_t>();
    if (failed_ || bytes_.size() - offset_ < size) {
      failed_ = true;
      return {};
    }
    std::string s(bytes_.substr(offset_, size));
    offset_ += size;
    return s;
  }
  template <class T, class F>
  void list(std::vector<T>* items, F each) {
    const auto count = value<uint32_t>();
    for (uint32_t i = 0; i < count && !failed_; ++i) items->push_back(each());
  }
  void ids(std::vector<uint32_t>* items) {
    list(items, [&] { return value<uint32_t>(); });
  }

 private:
  std::string_view bytes_;
  size_t offset_ = 0;
  bool failed_ = false;
};

void write_pipeline(Writer& w, const Pipeline& p) {
  w.value(p.source);
  w.ids(p.quals);
  w.ids(p.joins);
  w.ids(p.join_quals);
  w.value(static_cast<uint8_t>(p.sink));
  w.ids(p.outputs);
  w.value(p.top.rows);
  w.value(p.top.key);
  w.value(static_cast<uint8_t>(p.top.descending));
  w.value(static_cast<uint8_t>(p.top.nulls_first));
  w.ids(p.top.checked);
  w.ids(p.top.partition);
  w.value(static_cast<uint8_t>(p.top.distinct));
  w.list(p.order, [&](const SortKey& key) {
    w.value(key.output);
    w.value(static_cast<uint8_t>(key.descending));
    w.value(static_cast<uint8_t>(key.nulls_first));
  });
  w.ids(p.group_keys);
  w.list(p.grouping_sets, [&](uint64_t set) { w.value(set); });
  w.list(p.aggregates, [&](const Aggregate& a) {
    w.value(static_cast<uint8_t>(a.id));
    w.value(a.arg);
    w.value(a.filter);
    w.value(a.second);
  });
}

Pipeline read_pipeline(Reader& r) {
  Pipeline p;
  p.source = r.value<uint32_t>();
  r.ids(&p.quals);
  r.ids(&p.joins);
  r.ids(&p.join_quals);
  p.sink = static_cast<SinkKind>(r.value<uint8_t>());
  r.ids(&p.outputs);
  p.top.rows = r.value<int64_t>();
  p.top.key = r.value<uint32_t>();
  p.top.descending = r.value<uint8_t>() != 0;
  p.top.nulls_first = r.value<uint8_t>() != 0;
  r.ids(&p.top.checked);
  r.ids(&p.top.partition);
  p.top.distinct = r.value<uint8_t>() != 0;
  r.list(&p.order, [&] {
    SortKey key;
    key.output = r.value<uint32_t>();
    key.descending = r.value<uint8_t>() != 0;
    key.nulls_first = r.value<uint8_t>() != 0;
    return key;
  });
  r.ids(&p.group_keys);
  r.list(&p.grouping_sets, [&] { return r.value<uint64_t>(); });
  r.list(&p.aggregates, [&] {
    Aggregate a;
    a.id = static_cast<registry::AggregateId>(r.value<uint8_t>());
    a.arg = r.value<uint32_t>();
    a.filter = r.value<uint32_t>();
    a.second = r.value<uint32_t>();
    return a;
  });
  return p;
}

}  // namespace

std::string serialize(const Program& program) {
  Writer w;
  w.value(kMagic);
  w.value(kProgramVersion);
  w.list(program.constants, [&](const Constant& c) {
    w.type(c.type);
    w.value(static_cast<uint8_t>(c.is_null));
    w.value(c.param);
    w.value(static_cast<uint8_t>(c.may_raise));
    w.text(c.bytes);
  });
  w.list(program.nodes, [&](const Node& n) {
    w.value(static_cast<uint8_t>(n.kind));
    w.type(n.type);
    w.value(n.imm);
    for (NodeId arg : n.args) w.value(arg);
  });
  w.list(program.sources, [&](const Source& s) { w.list(s.columns, [&](const ValueType& t) { w.type(t); }); });
  w.list(program.joins, [&](const Join& j) {
    w.value(j.build_pipeline);
    w.ids(j.outer_keys);
    w.ids(j.inner_keys);
    w.ids(j.payload);
    w.value(static_cast<uint8_t>(j.kind));
    w.ids(j.quals);
    w.value(static_cast<uint8_t>(j.spatial));
    w.value(j.srid);
  });
  w.list(program.pipelines, [&](const Pipeline& p) { write_pipeline(w, p); });
  return w.take();
}

Result<Program> deserialize(std::string_view bytes) {
  Reader r(bytes);
  Program program;
  if (r.value<uint32_t>() != kMagic || r.value<uint32_t>() != kProgramVersion)
    return Status(ErrorCode::kInternal, "not an engine program of version " + std::to_string(kProgramVersion));
  r.list(&program.constants, [&] {
    Constant c;
    c.type = r.type();
    c.is_null = r.value<uint8_t>() != 0;
    c.param = r.value<int32_t>();
    c.may_raise = r.value<uint8_t>() != 0;
    c.bytes = r.text();
    return c;
  });
  r.list(&program.nodes, [&] {
    Node n;
    n.kind = static_cast<NodeKind>(r.value<uint8_t>());
    n.type = r.type();
    n.imm = r.value<uint32_t>();
    for (NodeId& arg : n.args) arg = r.value<uint32_t>();
    return n;
  });
  r.list(&program.sources, [&] {
    Source s;
    r.list(&s.columns, [&] { return r.type(); });
    return s;
  });
  r.list(&program.joins, [&] {
    Join j;
    j.build_pipeline = r.value<uint32_t>();
    r.ids(&j.outer_keys);
    r.ids(&j.inner_keys);
    r.ids(&j.payload);
    j.kind = static_cast<JoinKind>(r.value<uint8_t>());
    r.ids(&j.quals);
    j.spatial = static_cast<SpatialMatch>(r.value<uint8_t>());
    j.srid = r.value<int32_t>();
    return j;
  });
  r.list(&program.pipelines, [&] { return read_pipeline(r); });
  if (r.failed() || !r.at_end())
    return Status(ErrorCode::kInternal, "engine program is broken at byte " + std::to_string(r.offset()));
  STROM_TRY(verify(program));
  return program;
}

}  // namespace strom::engine::plan
