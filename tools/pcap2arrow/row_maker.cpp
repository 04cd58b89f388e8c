// See row_maker.hpp.
#include "pcap2arrow/row_maker.hpp"

namespace strom::pcap2arrow {

namespace {

using columnar::ColumnBuilder;
using format::packets::ColumnChoice;
using format::packets::Packet;
using format::packets::PacketCounts;

class PacketRows final : public RowMaker {
 public:
  explicit PacketRows(const ColumnChoice& choice) : packets_(choice) {}
  const std::vector<columnar::Field>& fields() const override { return packets_.fields(); }
  Status append(std::span<const Packet> packets, std::vector<ColumnBuilder>& columns, PacketCounts& counts) override {
    return packets_.append(packets, columns, counts);
  }
  void append_ended(int64_t, std::vector<ColumnBuilder>&) override {}
  void finish(std::vector<ColumnBuilder>&) override {}

 private:
  format::packets::PacketColumns packets_;
};

class FlowRows final : public RowMaker {
 public:
  FlowRows(const Settings& settings, const ColumnChoice& choice)
      : is_nano_(settings.nanoseconds),
        fields_(format::packets::flow_fields(is_nano_)),
        packets_(choice.protocols),
        table_(flow_limits(settings)) {}
  const std::vector<columnar::Field>& fields() const override { return fields_; }
  Status append(std::span<const Packet> packets, std::vector<ColumnBuilder>& columns, PacketCounts& counts) override {
    found_.clear();
    packets_.append(packets, found_, counts);
    table_.add(found_, ended_);
    put(columns);
    return Status::ok();
  }
  void append_ended(int64_t time, std::vector<ColumnBuilder>& columns) override {
    table_.sweep(time, ended_);
    put(columns);
  }
  void finish(std::vector<ColumnBuilder>& columns) override {
    table_.finish(ended_);
    put(columns);
  }

 private:
  void put(std::vector<ColumnBuilder>& columns) {
    format::packets::append_flows(ended_, is_nano_, columns);
    ended_.clear();
  }

  const bool is_nano_;
  const std::vector<columnar::Field> fields_;
  format::packets::FlowPackets packets_;
  format::packets::FlowTable table_;
  std::vector<format::packets::FlowPacket> found_;
  std::vector<format::packets::Flow> ended_;
};

}  // namespace

format::packets::FlowLimits flow_limits(const Settings& settings) {
  constexpr int64_t kNano = 1000000000;
  return {settings.flow_idle * kNano, settings.flow_active * kNano, static_cast<size_t>(settings.flow_table)};
}

std::unique_ptr<RowMaker> RowMaker::create(const Settings& settings, const ColumnChoice& choice) {
  if (settings.flows) return std::make_unique<FlowRows>(settings, choice);
  return std::make_unique<PacketRows>(choice);
}

std::vector<columnar::Field> row_fields(const Settings& settings, const ColumnChoice& choice) {
  if (settings.flows) return format::packets::flow_fields(settings.nanoseconds);
  return format::packets::PacketColumns(choice).fields();
}

std::vector<ColumnBuilder> make_columns(const std::vector<columnar::Field>& fields) {
  std::vector<ColumnBuilder> columns;
  columns.reserve(fields.size());
  for (const auto& field : fields) columns.emplace_back(field);
  return columns;
}

}  // namespace strom::pcap2arrow
