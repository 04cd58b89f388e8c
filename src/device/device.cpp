#include "device/device.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_error.hpp"

namespace strom::device {

Result<std::shared_ptr<const Module>> Module::open(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) return base::os_error(errno, "could not open device module \"" + path + "\"");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    return Status(ErrorCode::kIoError, "could not load device module \"" + path + "\"").with_detail(dlerror());
  const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleSymbol));
  const ModuleTable* table = entry == nullptr ? nullptr : entry();
  if (table == nullptr) return Status(ErrorCode::kUnsupported, "\"" + path + "\" is not a device module");
  if (table->version != kModuleVersion || table->size != sizeof(ModuleTable))
    return Status(ErrorCode::kUnsupported, "device module \"" + path + "\" is of another version")
        .with_detail("It has version " + std::to_string(table->version) + ", and " + std::to_string(kModuleVersion) +
                     " is expected.");
  return std::shared_ptr<const Module>(new Module(table));
}

Result<int> Module::count() const {
  int count = 0;
  STROM_TRY(check(table_->count(&count), "find a GPU"));
  return count;
}

Status Module::check(int outcome, const char* what) const {
  if (outcome == kModuleOk) return {};
  ErrorCode code = ErrorCode::kInternal;
  if (outcome == kModuleOutOfMemory) code = ErrorCode::kOutOfMemory;
  if (outcome == kModuleLost || outcome == kModuleNoDevice) code = ErrorCode::kDeviceLost;
  return Status(code, std::string("could not ") + what + ": " + table_->error_text());
}

Status Stream::copy_in(void* device, const void* host, size_t bytes) const {
  return module_->check(module_->table().copy_in(stream_.get(), device, host, bytes), "copy to the GPU");
}

Status Stream::copy_out(void* host, const void* device, size_t bytes) const {
  return module_->check(module_->table().copy_out(stream_.get(), host, device, bytes), "copy from the GPU");
}

Status Stream::fill(void* device, int byte, size_t bytes) const {
  return module_->check(module_->table().fill(stream_.get(), device, byte, bytes), "fill memory of the GPU");
}

Status Stream::run_tiles(engine::block::TileState* states, engine::block::RunResult* results, int count) const {
  return module_->check(module_->table().run_tiles(stream_.get(), states, results, count), "start a kernel on the GPU");
}

Status Stream::run_copies(const engine::block::BlockCopy* copies, uint32_t count) const {
  return module_->check(module_->table().run_copies(stream_.get(), copies, count), "start a kernel on the GPU");
}

Status Stream::run_pages(const engine::block::PageTask* task, uint32_t count) const {
  return module_->check(module_->table().run_pages(stream_.get(), task, count), "start a kernel on the GPU");
}

Status Stream::record(const Event& event) const {
  return module_->check(module_->table().record_event(event.get(), stream_.get()), "record an event on the GPU");
}

Status Stream::wait_for(const Event& event) const {
  return module_->check(module_->table().await_event(stream_.get(), event.get()), "wait for an event on the GPU");
}

Status Stream::finish() const {
  return module_->check(module_->table().finish_stream(stream_.get()), "run on the GPU");
}

Result<std::unique_ptr<Device>> Device::open(std::shared_ptr<const Module> module, int number) {
  std::unique_ptr<Device> device(new Device(std::move(module), number));
  const ModuleTable& table = device->module_->table();
  STROM_ASSIGN(const int count, device->module_->count());
  if (number < 0 || number >= count)
    return Status(ErrorCode::kDeviceLost, "there is no GPU " + std::to_string(number))
        .with_detail(std::to_string(count) + " were found.");
  STROM_TRY(device->use());
  STROM_TRY(device->module_->check(table.facts(number, &device->facts_), "ask the GPU for its properties"));
  return device;
}

Status Device::use() const { return module_->check(module_->table().use(number_), "use the GPU"); }

Result<DeviceMemory> Device::allocate(size_t bytes) const {
  void* memory = nullptr;
  STROM_TRY(module_->check(module_->table().allocate(bytes, &memory), "allocate memory of the GPU"));
  return DeviceMemory(module_.get(), memory);
}

Result<ShareHandle> Device::share(const DeviceMemory& memory) const {
  ShareHandle handle;
  STROM_TRY(module_->check(module_->table().share(memory.get(), handle.data()), "share memory of the GPU"));
  return handle;
}

Result<PinnedMemory> Device::allocate_pinned(size_t bytes) const {
  void* memory = nullptr;
  STROM_TRY(module_->check(module_->table().allocate_pinned(bytes, &memory), "allocate pinned memory"));
  return PinnedMemory(module_.get(), memory);
}

Result<RegisteredMemory> Device::register_host(void* memory, size_t bytes) const {
  STROM_TRY(module_->check(module_->table().register_host(memory, bytes), "pin memory"));
  return RegisteredMemory(module_.get(), memory);
}

Result<Stream> Device::create_stream() const {
  ModuleStream* made = nullptr;
  STROM_TRY(module_->check(module_->table().create_stream(&made), "make a stream on the GPU"));
  Stream stream;
  stream.module_ = module_;
  stream.stream_ = {module_.get(), made};
  return stream;
}

Result<Event> Device::create_event() const {
  ModuleEvent* event = nullptr;
  STROM_TRY(module_->check(module_->table().create_event(&event), "make an event on the GPU"));
  return Event(module_.get(), event);
}

Result<bool> Device::is_done(const Event& event) const {
  int is_done = 0;
  STROM_TRY(module_->check(module_->table().is_event_done(event.get(), &is_done), "run on the GPU"));
  return is_done != 0;
}

}  // namespace strom::device
