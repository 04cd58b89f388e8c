#include "cuda_emulation/ptx/module.hpp"

#include <algorithm>
#include <cstring>

#include "cuda_emulation/ptx/interpreter.hpp"
#include "cuda_emulation/ptx/parser.hpp"

namespace strom::ptx {

namespace {

constexpr std::uint64_t kMaxStaticSharedBytes = 256u << 10;
constexpr std::uint64_t kSharedAlign = 128;  // of the dynamic part, at least
constexpr std::uint64_t kMaxParameterBytes = 32764;

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

std::uint64_t add_shared(std::uint64_t top, const Variable& variable) {
  const std::uint64_t end = align_up(top, variable.align) + variable.bytes();
  if (end > kMaxStaticSharedBytes) throw Error("too much shared memory at " + variable.name);
  return end;
}

struct Extent {
  std::uint64_t bytes = 0, align = 1;
};

Extent shared_extent_of(const FunctionSyntax& function) {
  Extent extent;
  for (const Statement& statement : function.body) {
    if (statement.kind != Statement::Kind::kVariable || statement.variable.space != Space::kShared) continue;
    extent.bytes = add_shared(extent.bytes, statement.variable);
    extent.align = std::max(extent.align, statement.variable.align);
  }
  return extent;
}

}  // namespace

Module::Module(std::string_view source) {
  const ModuleSyntax syntax = parse(source);
  for (const FunctionSyntax& function : syntax.functions) {
    if (function.has_body) declare_function(function);
  }
  place_shared(syntax);
  place_variables(syntax);
  for (const FunctionSyntax& function : syntax.functions) {
    if (!function.has_body) continue;
    Decoder(function, symbols_, functions_by_name_, *functions_by_name_.at(function.name)).decode();
  }
}

Module::~Module() = default;

void Module::declare_function(const FunctionSyntax& syntax) {
  auto function = std::make_unique<Function>();
  function->name = syntax.name;
  function->is_kernel = syntax.is_kernel;
  function->max_threads = syntax.max_threads;
  std::uint64_t top = 0;
  const auto place = [&](const std::vector<Variable>& variables, std::vector<Parameter>& places) {
    for (const Variable& variable : variables) {
      // Those of device functions lie where an indirect call finds them without knowing alignments.
      top = align_up(top, syntax.is_kernel ? variable.align : std::max<std::uint64_t>(variable.align, 16));
      places.push_back({static_cast<std::uint32_t>(top), static_cast<std::uint32_t>(variable.bytes())});
      top += variable.bytes();
      if (top > kMaxParameterBytes) throw Error(syntax.name + ": too many parameters");
    }
  };
  place(syntax.returns, function->returns);
  place(syntax.parameters, function->parameters);
  (syntax.is_kernel ? function->parameter_bytes : function->local_bytes) = static_cast<std::uint32_t>(top);

  if (!functions_by_name_.emplace(syntax.name, function.get()).second)
    throw Error("function is defined twice: " + syntax.name);
  Symbol symbol;
  symbol.kind = Symbol::Kind::kAddress;
  symbol.value = reinterpret_cast<std::uint64_t>(function.get());
  symbols_[syntax.name] = symbol;
  if (!syntax.is_kernel) callable_.push_back(function.get());
  functions_.push_back(std::move(function));
}

// Shared memory: variables of one kernel | of the module and of device functions | dynamic. Each kernel's variables end
// where the common part begins, so that the common and dynamic parts have the same offsets for all kernels, and what
// lies behind the last variable is out of bounds.
void Module::place_shared(const ModuleSyntax& syntax) {
  std::uint64_t common = 0, largest = 0;
  std::vector<std::pair<const Variable*, std::uint64_t>> places;
  for (const Variable& variable : syntax.variables) {
    if (variable.space != Space::kShared || variable.elements == 0) continue;
    places.emplace_back(&variable, align_up(common, variable.align));
    common = add_shared(common, variable);
  }
  for (const FunctionSyntax& function : syntax.functions) {
    if (!function.has_body) continue;
    const Extent extent = shared_extent_of(function);
    if (function.is_kernel) {
      largest = std::max(largest, align_up(extent.bytes, std::max(extent.align, kSharedAlign)));
    } else {
      Function& decoded = *functions_by_name_.at(function.name);
      decoded.shared_base = static_cast<std::uint32_t>(align_up(common, extent.align));
      common = decoded.shared_base + extent.bytes;
    }
  }
  if (common > kMaxStaticSharedBytes) throw Error("too much shared memory in device functions");
  common = align_up(common, kSharedAlign);
  dynamic_shared_offset_ = static_cast<std::uint32_t>(largest + common);
  for (const FunctionSyntax& function : syntax.functions) {
    if (!function.has_body) continue;
    Function& decoded = *functions_by_name_.at(function.name);
    if (function.is_kernel) {
      const Extent extent = shared_extent_of(function);
      decoded.shared_base = static_cast<std::uint32_t>((largest - extent.bytes) / extent.align * extent.align);
      decoded.static_shared_bytes = dynamic_shared_offset_ - decoded.shared_base;
    } else {
      decoded.shared_base += static_cast<std::uint32_t>(largest);
    }
  }
  Symbol symbol;
  symbol.kind = Symbol::Kind::kAddress;
  symbol.space = Space::kShared;
  for (const auto& [variable, offset] : places) {
    symbol.value = largest + offset;
    symbols_[variable->name] = symbol;
  }
  symbol.value = dynamic_shared_offset_;
  for (const Variable& variable : syntax.variables) {
    if (variable.space == Space::kShared && variable.elements == 0) symbols_[variable.name] = symbol;
  }
}

void Module::place_variables(const ModuleSyntax& syntax) {
  for (const Variable& variable : syntax.variables) {
    if (variable.space == Space::kShared) continue;
    const std::size_t align = std::max<std::size_t>(variable.align, 16);
    const std::size_t bytes = std::max<std::size_t>(variable.bytes(), 1);
    auto* address = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(align)));
    memory_.emplace_back(address, AlignedDelete{align});
    std::memset(address, 0, bytes);
    Symbol symbol;
    symbol.kind = Symbol::Kind::kAddress;
    symbol.space = variable.space;
    symbol.value = reinterpret_cast<std::uint64_t>(address);
    if (!symbols_.emplace(variable.name, symbol).second) throw Error("name is declared twice: " + variable.name);
    variables_[variable.name] = {address, variable.bytes()};
  }
  for (const Variable& variable : syntax.variables) {
    if (variable.space != Space::kShared) initialise(variable);
  }
}

void Module::initialise(const Variable& variable) {
  std::byte* to = variables_.at(variable.name).address;
  for (const Initialiser& initialiser : variable.initialisers) {
    std::uint64_t value = initialiser.value;
    if (!initialiser.symbol.empty()) {
      const auto found = symbols_.find(initialiser.symbol);
      if (found == symbols_.end()) throw Error("unknown name " + initialiser.symbol + " initialises " + variable.name);
      value += found->second.value;
    }
    std::memcpy(to, &value, variable.type.bytes());
    to += variable.type.bytes();
  }
}

const Function* Module::find_kernel(const std::string& name) const {
  const auto found = functions_by_name_.find(name);
  return found == functions_by_name_.end() || !found->second->is_kernel ? nullptr : found->second;
}

const ModuleVariable* Module::find_variable(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

std::vector<std::string> Module::kernel_names() const {
  std::vector<std::string> names;
  for (const auto& function : functions_) {
    if (function->is_kernel) names.push_back(function->name);
  }
  return names;
}

std::uint64_t Module::launch(const std::string& name, const LaunchOptions& options,
                             std::span<const void* const> arguments) const {
  const Function* kernel = find_kernel(name);
  if (kernel == nullptr) throw Error("no kernel of the name " + name);
  if (arguments.size() != kernel->parameters.size()) throw Error(name + ": wrong number of arguments");
  std::vector<std::uint64_t> block((kernel->parameter_bytes + 7) / 8 + 1);
  auto* parameters = reinterpret_cast<std::byte*>(block.data());
  for (std::size_t n = 0; n < arguments.size(); n++) {
    std::memcpy(parameters + kernel->parameters[n].offset, arguments[n], kernel->parameters[n].bytes);
  }
  LaunchState launch;
  launch.kernel = kernel;
  launch.grid = options.grid;
  launch.block = options.block;
  launch.parameters = parameters;
  launch.allocations = options.allocations;
  launch.functions = &callable_;
  launch.shared_first = dynamic_shared_offset_ - kernel->static_shared_bytes;
  launch.shared_end = dynamic_shared_offset_ + options.dynamic_shared_bytes;
  launch.dynamic_shared_bytes = options.dynamic_shared_bytes;
  return run_grid(launch, options.os_threads);
}

}  // namespace strom::ptx
