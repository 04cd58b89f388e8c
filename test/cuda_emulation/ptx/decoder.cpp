#include "cuda_emulation/ptx/decoder.hpp"

#include <algorithm>
#include <array>

#include "cuda_emulation/ptx/error.hpp"

namespace strom::ptx {

namespace {

// While a function is decoded the number of its registers is not known, so slots of constants are marked by this bit.
constexpr std::uint32_t kConstantBit = 0x80000000u;
constexpr std::uint32_t kUnassigned = 0x7fffffffu;
constexpr std::uint64_t kMaxLocalBytes = 512u << 10;

std::uint32_t align_up(std::uint32_t value, std::uint64_t align) {
  return static_cast<std::uint32_t>((value + align - 1) / align * align);
}

const Instruction* skip_unless(const Instruction* i, std::uint64_t* r, Thread&) {
  return i + (get<bool>(r[i->a]) ? 1 : 2);
}
const Instruction* skip_if(const Instruction* i, std::uint64_t* r, Thread&) { return i + (get<bool>(r[i->a]) ? 2 : 1); }

const Instruction* end_of_function(const Instruction* i, std::uint64_t*, Thread& t) {
  fail(i, t, "control falls off the end of the function");
}

DecodeFunction find_opcode(const std::string& opcode, bool is_float) {
  if (is_float) {
    const auto found = float_opcodes().find(opcode);
    if (found != float_opcodes().end()) return found->second;
  }
  for (const OpcodeTable* table :
       {&integer_opcodes(), &bit_opcodes(), &compare_opcodes(), &convert_opcodes(), &move_opcodes(), &memory_opcodes(),
        &atomic_opcodes(), &control_opcodes(), &warp_opcodes()}) {
    const auto found = table->find(opcode);
    if (found != table->end()) return found->second;
  }
  return nullptr;
}

}  // namespace

Decoder::Decoder(const FunctionSyntax& syntax, const SymbolTable& globals,
                 const std::unordered_map<std::string, Function*>& functions, Function& function)
    : syntax_(syntax),
      globals_(globals),
      functions_(functions),
      function_(function),
      shared_top_(function.shared_base),
      local_top_(function.local_bytes) {
  scopes_.emplace_back();
  const auto declare_parameters = [&](const std::vector<Variable>& variables, const std::vector<Parameter>& places) {
    for (std::size_t i = 0; i < variables.size(); i++) {
      Symbol symbol;
      symbol.kind = function.is_kernel ? Symbol::Kind::kKernelParameter : Symbol::Kind::kLocal;
      symbol.value = places[i].offset;
      symbol.bytes = places[i].bytes;
      symbol.space = Space::kParam;
      scopes_[0].symbols[variables[i].name] = symbol;
    }
  };
  declare_parameters(syntax.returns, function.returns);
  declare_parameters(syntax.parameters, function.parameters);
}

void Decoder::fail(const std::string& message) const {
  const std::string where = statement_ ? ", line " + std::to_string(statement_->line) : "";
  const std::string text = statement_ ? ": " + statement_->text : "";
  throw Error(syntax_.name + where + ": " + message + text);
}

void Decoder::decode() {
  for (const Statement& statement : syntax_.body) {
    if (statement.kind != Statement::Kind::kBranchTargets) continue;
    std::vector<std::string>& labels = branch_targets_[statement.opcode];
    for (const Operand& label : statement.operands) labels.push_back(label.name);
  }
  for (const Statement& statement : syntax_.body) decode_statement(statement);
  emit(end_of_function, {});
  resolve_labels();
  place_constants();
}

void Decoder::decode_statement(const Statement& statement) {
  statement_ = &statement;
  next_modifier_ = 0;
  switch (statement.kind) {
    case Statement::Kind::kInstruction: return decode_instruction();
    case Statement::Kind::kLabel:
      if (!labels_.emplace(statement.opcode, function_.code.size()).second) fail("label is not unique");
      return;
    case Statement::Kind::kOpenScope:
      scopes_.emplace_back();
      scopes_.back().local_top = local_top_;
      return;
    case Statement::Kind::kCloseScope:
      local_top_ = scopes_.back().local_top;
      scopes_.pop_back();
      return;
    case Statement::Kind::kRegisters: return declare_registers(statement);
    case Statement::Kind::kVariable: return declare_variable(statement);
    case Statement::Kind::kBranchTargets:
    case Statement::Kind::kPrototype: return;
  }
}

void Decoder::decode_instruction() {
  const Statement& statement = *statement_;
  const std::string last = statement.modifiers.empty() ? "" : statement.modifiers.back();
  const DecodeFunction decode = find_opcode(statement.opcode, last == "f32" || last == "f64");
  if (decode == nullptr) fail("unknown op-code " + statement.opcode);
  const bool is_branch = statement.opcode == "bra";
  if (!statement.guard.empty() && !is_branch) decode_guard();
  const std::size_t before = function_.code.size();
  decode(*this);
  // A guard skips one instruction.
  if (!statement.guard.empty() && !is_branch && function_.code.size() != before + 1) {
    fail("this instruction is not emulated with a guard");
  }
}

void Decoder::decode_guard() {
  Operand guard;
  guard.name = statement_->guard;
  Instruction instruction;
  instruction.a = source(guard, kPredicate);
  emit(statement_->guard_is_negated ? skip_if : skip_unless, instruction);
}

// ---- declarations

void Decoder::declare(const std::string& name, Symbol symbol) {
  if (!scopes_.back().symbols.emplace(name, symbol).second) fail("name is declared twice: " + name);
}

void Decoder::declare_registers(const Statement& statement) {
  Symbol symbol;
  symbol.type = statement.type;
  symbol.value = kUnassigned;
  for (const Operand& registers : statement.operands) {
    if (registers.offset == 0) {
      declare(registers.name, symbol);
      continue;
    }
    for (std::int64_t n = 0; n < registers.offset; n++) declare(registers.name + std::to_string(n), symbol);
  }
}

// Local and shared variables, arguments and results of calls.
void Decoder::declare_variable(const Statement& statement) {
  const Variable& variable = statement.variable;
  if (!variable.initialisers.empty()) fail("local variable with an initialiser");
  Symbol symbol;
  if (variable.space == Space::kShared) {
    symbol.kind = Symbol::Kind::kAddress;
    symbol.space = Space::kShared;
    symbol.value = align_up(shared_top_, variable.align);
    symbol.bytes = static_cast<std::uint32_t>(variable.bytes());
    shared_top_ = static_cast<std::uint32_t>(symbol.value + variable.bytes());
    return declare(variable.name, symbol);
  }
  symbol.kind = Symbol::Kind::kLocal;
  symbol.space = variable.space;
  symbol.value = align_up(local_top_, variable.align);
  symbol.bytes = static_cast<std::uint32_t>(variable.bytes());
  if (symbol.value + variable.bytes() > kMaxLocalBytes) fail("too much local memory");
  local_top_ = static_cast<std::uint32_t>(symbol.value + variable.bytes());
  function_.local_bytes = std::max(function_.local_bytes, local_top_);
  function_.local_align = std::max(function_.local_align, static_cast<std::uint32_t>(variable.align));
  declare(variable.name, symbol);
}

const Symbol* Decoder::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->symbols.find(name);
    if (found != scope->symbols.end()) return &found->second;
  }
  const auto found = globals_.find(name);
  return found == globals_.end() ? nullptr : &found->second;
}

Function* Decoder::find_function(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

const std::vector<std::string>* Decoder::find_branch_targets(const std::string& name) const {
  const auto found = branch_targets_.find(name);
  return found == branch_targets_.end() ? nullptr : &found->second;
}

// ---- modifiers

bool Decoder::accept(std::string_view modifier) {
  if (!has_modifiers() || statement_->modifiers[next_modifier_] != modifier) return false;
  next_modifier_++;
  return true;
}

void Decoder::expect(std::string_view modifier) {
  if (!accept(modifier)) fail("expected modifier ." + std::string(modifier));
}

int Decoder::choose(std::initializer_list<std::string_view> list, int otherwise) {
  int index = 0;
  for (const std::string_view name : list) {
    if (accept(name)) return index;
    index++;
  }
  if (otherwise < 0) {
    fail(has_modifiers() ? "unknown modifier ." + statement_->modifiers[next_modifier_] : "a modifier is missing");
  }
  return otherwise;
}

Type Decoder::take_type() {
  if (!has_modifiers()) fail("the type is missing");
  const Type type = parse_type(statement_->modifiers[next_modifier_]);
  if (type.kind == 0) fail("unknown modifier ." + statement_->modifiers[next_modifier_]);
  next_modifier_++;
  return type;
}

Type Decoder::take_last_type(std::string_view kinds, std::initializer_list<int> widths) {
  const Type type = take_type();
  if (kinds.find(type.kind) == std::string_view::npos ||
      std::find(widths.begin(), widths.end(), type.bits) == widths.end()) {
    fail("type is not possible or not emulated here");
  }
  end_modifiers();
  return type;
}

void Decoder::end_modifiers() const {
  if (has_modifiers()) fail("unknown modifier ." + statement_->modifiers[next_modifier_]);
}

bool Decoder::is_last_modifier(std::string_view name) const {
  return !statement_->modifiers.empty() && statement_->modifiers.back() == name;
}

// ---- operands

void Decoder::expect_operands(std::size_t least, std::size_t most) const {
  if (operand_count() < least || operand_count() > most) fail("wrong number of operands");
}

std::uint32_t Decoder::constant_slot(std::uint64_t value) {
  const auto next = static_cast<std::uint32_t>(function_.constants.size());
  const auto [found, is_new] = constants_.emplace(value, next | kConstantBit);
  if (is_new) function_.constants.push_back(value);
  return found->second;
}

std::uint32_t Decoder::register_slot(const std::string& name, Type type, Width width) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->symbols.find(name);
    if (found == scope->symbols.end()) continue;
    Symbol& symbol = found->second;
    if (symbol.kind != Symbol::Kind::kRegister) break;
    const bool fits = width == Width::kSame ? symbol.type.bits == type.bits : symbol.type.bits >= type.bits;
    if (symbol.type.is_predicate() != type.is_predicate() || !fits) fail("register of another type: " + name);
    if (symbol.value == kUnassigned) symbol.value = ++function_.registers;
    return static_cast<std::uint32_t>(symbol.value);
  }
  fail("not a register: " + name);
}

std::uint32_t Decoder::source(const Operand& operand, Type type, Width width) {
  switch (operand.kind) {
    case Operand::Kind::kName: {
      if (operand.name == "WARP_SZ" && operand.offset == 0) return constant_slot(32);
      const Symbol* symbol = find(operand.name);
      if (symbol != nullptr && symbol->kind == Symbol::Kind::kAddress && !type.is_float() && type.bits >= 32) {
        return constant_slot(symbol->value + static_cast<std::uint64_t>(operand.offset));
      }
      if (operand.offset != 0) fail("offset on a register");
      return register_slot(operand.name, type, width);
    }
    case Operand::Kind::kInteger:
      if (type.is_float()) fail("integer where a floating point number belongs");
      // nvcc writes -1 for true.
      if (type.is_predicate()) return constant_slot(operand.offset != 0);
      return constant_slot(static_cast<std::uint64_t>(operand.offset));
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      if (type.bits != (operand.kind == Operand::Kind::kFloat32 ? 32 : 64)) fail("literal of another width");
      return constant_slot(static_cast<std::uint64_t>(operand.offset));
    default: fail("operand of another form is expected");
  }
}

std::uint32_t Decoder::destination(const Operand& operand, Type type, Width width) {
  if (operand.kind != Operand::Kind::kName || operand.offset != 0) fail("the destination is not a register");
  return operand.name == "_" ? unread_slot() : register_slot(operand.name, type, width);
}

std::pair<std::uint32_t, std::uint32_t> Decoder::destination_pair(std::size_t n, Type first, Type second) {
  if (operand(n).kind != Operand::Kind::kPair) return {destination(n, first), unread_slot()};
  return {destination(operand(n).parts[0], first), destination(operand(n).parts[1], second)};
}

std::int64_t Decoder::constant(std::size_t n) const {
  if (operand(n).kind != Operand::Kind::kInteger) fail("a constant is expected");
  return operand(n).offset;
}

AddressBase Decoder::address(std::size_t n, Instruction& instruction, Space& space, std::uint32_t bytes) {
  const Operand& operand = this->operand(n);
  if (operand.kind != Operand::Kind::kAddress) fail("an address is expected");
  instruction.immediate = operand.offset;
  if (operand.name.empty()) {
    instruction.a = constant_slot(0);
    return AddressBase::kSlot;
  }
  const Symbol* symbol = find(operand.name);
  if (symbol == nullptr) fail("unknown name " + operand.name);
  if (symbol->kind == Symbol::Kind::kRegister) {
    // Shared and local addresses may be held in 32 bits.
    const bool is_narrow = symbol->type.bits == 32 && space == Space::kShared;
    instruction.a = register_slot(operand.name, is_narrow ? kB32 : kB64, Width::kSame);
    return AddressBase::kSlot;
  }
  if (space == Space::kGeneric) space = symbol->space;
  if (space != symbol->space) fail("variable of another state space: " + operand.name);
  if (symbol->kind == Symbol::Kind::kAddress) {
    instruction.a = constant_slot(symbol->value);
    return AddressBase::kSlot;
  }
  // The offset of a parameter is known, so it is checked here and not at every access.
  if (operand.offset < 0 || operand.offset + std::int64_t{bytes} > symbol->bytes)
    fail("offset is outside of " + operand.name);
  instruction.immediate += static_cast<std::int64_t>(symbol->value);
  return symbol->kind == Symbol::Kind::kLocal ? AddressBase::kLocal : AddressBase::kKernelParameter;
}

// ---- code

Instruction& Decoder::emit(Handler handler, const Instruction& instruction) {
  function_.sources.push_back({statement_ ? statement_->line : syntax_.line, statement_ ? statement_->text : ""});
  Instruction& emitted = function_.code.emplace_back(instruction);
  emitted.run = handler;
  return emitted;
}

void Decoder::branch_to(const std::string& label) {
  fixes_.push_back({function_.code.size() - 1, nullptr, {label}, statement_->line});
}

void Decoder::jump_through(const std::vector<std::string>& labels) {
  JumpTable& table = function_.tables.emplace_back();
  function_.code.back().table = &table;
  fixes_.push_back({function_.code.size() - 1, &table, labels, statement_->line});
}

void Decoder::resolve_labels() {
  for (const Fix& fix : fixes_) {
    for (const std::string& label : fix.labels) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) {
        throw Error(syntax_.name + ", line " + std::to_string(fix.line) + ": unknown label " + label);
      }
      const Instruction* target = &function_.code[found->second];
      if (fix.table != nullptr) {
        fix.table->targets.push_back(target);
      } else {
        function_.code[fix.instruction].target = target;
      }
    }
  }
}

void Decoder::place_constants() {
  const std::uint32_t first = ++function_.registers;
  for (Instruction& instruction : function_.code) {
    for (std::uint32_t* slot :
         {&instruction.dst, &instruction.a, &instruction.b, &instruction.c, &instruction.d, &instruction.e}) {
      if (*slot & kConstantBit) *slot = first + (*slot & ~kConstantBit);
    }
  }
}

}  // namespace strom::ptx
