#include "engine/device/device_pipeline.hpp"

#include <cstddef>
#include <span>

#include "engine/op/join/join_image.hpp"
#include "engine/device/cached_join.hpp"
#include "engine/op/pipeline/worker.hpp"

namespace strom::engine::device {

using block::JoinTable;
using block::TileCode;
using registry::Phys;
using registry::StrView;

namespace {

constexpr size_t kTileAlloc = block::kTileRows + block::kTilePadding;

size_t put_code(const op::Assembly& assembly, op::DeviceImage* image) {
  const size_t instrs = image->put(std::span(assembly.instrs));
  const size_t segments = image->put(std::span(assembly.segments));
  const size_t lists = image->put(std::span(assembly.lists));
  const size_t aggregates = image->put(std::span(assembly.aggregates));
  const size_t own_arrays = image->put(std::span(assembly.own_arrays));
  const size_t phys = image->put(std::span(assembly.register_phys));
  const size_t code = image->put(&assembly.code, sizeof assembly.code);
  image->point(code + offsetof(TileCode, instrs), instrs);
  image->point(code + offsetof(TileCode, segments), segments);
  image->point(code + offsetof(TileCode, lists), lists);
  image->point(code + offsetof(TileCode, aggregates), aggregates);
  image->point(code + offsetof(TileCode, own_arrays), own_arrays);
  image->point(code + offsetof(TileCode, register_phys), phys);
  return code;
}

op::ConstantValue constant_value(const plan::Program& program, const op::ConstantUse& use,
                                 const op::PreparedConstant* prepared) {
  if (use.form == plan::PreparedForm::kNone) return op::ConstantValue(program.constants[use.constant]);
  return op::ConstantValue(prepared != nullptr ? prepared->bytes() : StrView{nullptr, 0});
}

/// Writes a tile of the constant; returns the offsets of its values and flags.
std::pair<size_t, size_t> put_constant(const op::ConstantValue& value, bool is_text, op::DeviceImage* image) {
  size_t values;
  StrView view{nullptr, 0};
  if (is_text) std::memcpy(&view, value.bytes, sizeof view);
  if (view.ptr != nullptr && value.flag == 0) {
    const StrView text = view;
    values = image->reserve(kTileAlloc * sizeof text);
    const size_t bytes = image->put(text.ptr, static_cast<size_t>(text.len));
    for (size_t i = 0; i < kTileAlloc; ++i) {
      image->point(values + i * sizeof text + offsetof(StrView, ptr), bytes);
      std::memcpy(image->at(values + i * sizeof text + offsetof(StrView, len)), &text.len, sizeof text.len);
    }
  } else {
    values = image->reserve(kTileAlloc * value.size);
    for (size_t i = 0; i < kTileAlloc; ++i) std::memcpy(image->at(values + i * value.size), value.bytes, value.size);
  }
  const size_t flags = image->reserve(kTileAlloc);
  std::memset(image->at(flags), value.flag, kTileAlloc);
  return {values, flags};
}

/// Copies the host's marks. Workers of the CPU may set more meanwhile, but the host has those anyway.
size_t put_marks(const JoinTable& table, op::DeviceImage* image) {
  const size_t marks = image->reserve(table.row_count);
  uint8_t* to = image->at(marks);
  for (size_t row = 0; row < table.row_count; ++row) to[row] = __atomic_load_n(table.matched + row, __ATOMIC_RELAXED);
  return marks;
}

}  // namespace

Result<std::unique_ptr<DevicePipeline>> DevicePipeline::open(Device* device, const plan::Program& program,
                                                             const op::Assembly& assembly,
                                                             const op::PreparedConstants& prepared,
                                                             const Device::KeepGoing& keep_going) {
  std::unique_ptr<DevicePipeline> pipeline(new DevicePipeline(device));
  op::DeviceImage image;
  pipeline->code_ = put_code(assembly, &image);
  std::vector<std::pair<size_t, size_t>> constants;
  std::vector<bool> flagged;
  for (size_t i = 0; i < assembly.constants.size(); ++i) {
    const op::ConstantValue value = constant_value(program, assembly.constants[i], prepared.at(i));
    const bool is_text = program.constants[assembly.constants[i].constant].type.phys() == Phys::kStr;
    constants.push_back(put_constant(value, is_text, &image));
    flagged.push_back(value.flag != 0);
  }
  pipeline->joins_ = image.reserve(std::max<size_t>(1, assembly.joins.size()) * sizeof(JoinTable));
  for (size_t i = 0; i < assembly.joins.size(); ++i)
    STROM_TRY(
        pipeline->put_join(*assembly.joins[i].build, pipeline->joins_ + i * sizeof(JoinTable), &image, keep_going));
  STROM_ASSIGN(pipeline->region_, device->allocate(image.size(), true, keep_going));
  image.write(pipeline->region_->host(), pipeline->region_->device());
  for (size_t i = 0; i < constants.size(); ++i) {
    char* device = pipeline->region_->device();
    pipeline->constants_.push_back(
        {device + constants[i].first, flagged[i] ? reinterpret_cast<uint8_t*>(device + constants[i].second) : nullptr});
  }
  STROM_TRY(device->run({{{pipeline->region_.get(), 0, image.size()}}, nullptr, nullptr, 0, {}}, keep_going));
  return pipeline;
}

/// Writes to `offset` the table that the device has cached, or one with arrays in the image. The marks are the
/// pipeline's.
Status DevicePipeline::put_join(const op::JoinBuild& build, size_t offset, op::DeviceImage* image,
                                const Device::KeepGoing& keep_going) {
  const DeviceRegion* cached = nullptr;
  if (build.cached() != nullptr) {
    Result<const DeviceRegion*> found = build.cached()->on(device_, build, keep_going);
    if (!found.is_ok() && found.status().code() != ErrorCode::kOverBudget) return found.status();
    if (found.is_ok()) cached = found.value();
  }
  const JoinTable& table = build.table();
  const JoinTable copy = cached == nullptr ? table : cached_join_on_device(cached->bytes());
  std::memcpy(image->at(offset), &copy, sizeof copy);
  if (cached == nullptr)
    op::put_join(build, offset, image);
  else
    cached_joins_.push_back(cached);
  const size_t marks = table.matched == nullptr ? op::DeviceImage::kNowhere : put_marks(table, image);
  image->point(offset + offsetof(JoinTable, matched), marks);
  if (table.matched != nullptr) matches_.push_back({marks, table.row_count, table.matched});
  return {};
}

Status DevicePipeline::take_matches(const Device::KeepGoing& keep_going) {
  DeviceWork work;
  for (const Matches& matches : matches_) work.out.push_back({region_.get(), matches.offset, matches.rows});
  if (work.out.empty()) return {};
  STROM_TRY(device_->run(work, keep_going));
  for (const Matches& matches : matches_) {
    const auto* seen = reinterpret_cast<const uint8_t*>(region_->host() + matches.offset);
    for (size_t row = 0; row < matches.rows; ++row)
      if (seen[row] != 0) __atomic_store_n(matches.host + row, uint8_t{1}, __ATOMIC_RELAXED);
  }
  return {};
}

}  // namespace strom::engine::device
