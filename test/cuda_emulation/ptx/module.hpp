// A PTX module ready to run: variables in memory, functions decoded. The entry point of the interpreter:
//
//   strom::ptx::Module module(text);
//   const void* arguments[] = {&pointer, &rows};
//   module.launch("kernel", {.grid = {4}, .block = {128}}, arguments);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cuda_emulation/ptx/decoder.hpp"
#include "cuda_emulation/ptx/error.hpp"
#include "cuda_emulation/ptx/instruction.hpp"

namespace strom::ptx {

struct LaunchOptions {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  /// What may be accessed as global memory; nullptr: anything but a null pointer.
  const AllocationMap* allocations = nullptr;
  /// OS threads that run blocks; 0: one per processor.
  unsigned os_threads = 0;
};

struct ModuleVariable {
  std::byte* address = nullptr;
  std::uint64_t bytes = 0;
};

class Module {
 public:
  /// Throws Error when the text has anything that is not emulated.
  explicit Module(std::string_view source);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// nullptr when there is none of that (mangled) name.
  const Function* find_kernel(const std::string& name) const;
  const ModuleVariable* find_variable(const std::string& name) const;
  const std::unordered_map<std::string, ModuleVariable>& variables() const { return variables_; }
  /// Names of all kernels, in the order of the text.
  std::vector<std::string> kernel_names() const;

  /// Runs a grid to its end; `arguments` point to one value each, of the size that the kernel declares. Throws Error
  /// for what goes wrong in any thread; then other threads may have run or not. Returns the instructions executed.
  std::uint64_t launch(const std::string& kernel, const LaunchOptions& options,
                       std::span<const void* const> arguments) const;

 private:
  void place_shared(const ModuleSyntax& syntax);
  void place_variables(const ModuleSyntax& syntax);
  void declare_function(const FunctionSyntax& syntax);
  void initialise(const Variable& variable);

  SymbolTable symbols_;
  std::unordered_map<std::string, Function*> functions_by_name_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::vector<const Function*> callable_;
  std::unordered_map<std::string, ModuleVariable> variables_;
  std::vector<std::unique_ptr<std::byte, AlignedDelete>> memory_;
  std::uint32_t dynamic_shared_offset_ = 0;
};

}  // namespace strom::ptx
