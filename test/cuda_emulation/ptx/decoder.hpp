// Turns the statements of one function into instructions. The op-codes are decoded by the tables of ops_*.cpp, which
// take modifiers and operands from here; a modifier that is not taken is an error, so nothing is ignored by accident.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda_emulation/ptx/instruction.hpp"
#include "cuda_emulation/ptx/syntax.hpp"

namespace strom::ptx {

/// What a name stands for.
struct Symbol {
  enum class Kind : std::uint8_t {
    kRegister,         // slot `value`
    kAddress,          // a constant: global or constant variable, offset of a shared one, address of a Function
    kKernelParameter,  // offset `value` in the parameter block
    kLocal,            // offset `value` in the frame's local memory: local variable or parameter
  };
  Kind kind = Kind::kRegister;
  Type type;
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;
  Space space = Space::kGeneric;
};

using SymbolTable = std::unordered_map<std::string, Symbol>;

/// Where an address operand starts from; its offset is Instruction::immediate.
enum class AddressBase : std::uint8_t { kSlot, kKernelParameter, kLocal };

class Decoder {
 public:
  /// `globals`: names of the module. `function`: its signature is filled in, its code is made here.
  Decoder(const FunctionSyntax& syntax, const SymbolTable& globals,
          const std::unordered_map<std::string, Function*>& functions, Function& function);
  void decode();

  // ---- for the op-code tables

  const Statement& statement() const { return *statement_; }
  [[noreturn]] void fail(const std::string& message) const;

  /// Takes the next modifier if it is that one.
  bool accept(std::string_view modifier);
  void expect(std::string_view modifier);
  /// Takes the next modifier if it is one of the list; its index, else `otherwise` (fails when that is -1).
  int choose(std::initializer_list<std::string_view> list, int otherwise = -1);
  /// Takes the next modifier, which is a type.
  Type take_type();
  /// Takes the next and last modifier, which is a type whose kind is in `kinds` and whose width is in `widths`.
  Type take_last_type(std::string_view kinds, std::initializer_list<int> widths);
  bool has_modifiers() const { return next_modifier_ < statement_->modifiers.size(); }
  void end_modifiers() const;
  bool is_last_modifier(std::string_view name) const;

  std::size_t operand_count() const { return statement_->operands.size(); }
  void expect_operands(std::size_t least, std::size_t most) const;
  void expect_operands(std::size_t count) const { expect_operands(count, count); }
  const Operand& operand(std::size_t n) const { return statement_->operands[n]; }

  /// How the width of a register relates to the instruction's width.
  enum class Width { kSame, kAtLeast };
  std::uint32_t source(const Operand& operand, Type type, Width width = Width::kSame);
  std::uint32_t source(std::size_t n, Type type, Width width = Width::kSame) { return source(operand(n), type, width); }
  /// `_` is a slot that is never read.
  std::uint32_t destination(const Operand& operand, Type type, Width width = Width::kSame);
  std::uint32_t destination(std::size_t n, Type type, Width width = Width::kSame) {
    return destination(operand(n), type, width);
  }
  /// d or d|p: the second is the unread slot when it is missing.
  std::pair<std::uint32_t, std::uint32_t> destination_pair(std::size_t n, Type first, Type second);
  /// The value of a constant operand.
  std::int64_t constant(std::size_t n) const;
  std::uint32_t constant_slot(std::uint64_t value);
  static std::uint32_t unread_slot() { return 0; }  // slot 0 is nobody's register

  /// Fills `a` and `immediate` for an access of that many bytes; what the address starts from. `space` becomes that
  /// of the symbol if it is generic.
  AddressBase address(std::size_t n, Instruction& instruction, Space& space, std::uint32_t bytes);
  const Symbol* find(const std::string& name) const;
  Function* find_function(const std::string& name) const;
  const std::vector<std::string>* find_branch_targets(const std::string& name) const;

  Instruction& emit(Handler handler, const Instruction& instruction);
  /// The instruction's target is set when all labels are known.
  void branch_to(const std::string& label);
  /// Its JumpTable is filled when all labels are known.
  void jump_through(const std::vector<std::string>& labels);
  CallSite& new_call() { return function_.calls.emplace_back(); }

 private:
  struct Scope {
    SymbolTable symbols;
    std::uint32_t local_top = 0;
  };
  struct Fix {
    std::size_t instruction;
    JumpTable* table;  // nullptr: a branch
    std::vector<std::string> labels;
    int line;
  };

  void decode_statement(const Statement& statement);
  void decode_instruction();
  void decode_guard();
  void declare(const std::string& name, Symbol symbol);
  void declare_registers(const Statement& statement);
  void declare_variable(const Statement& statement);
  void resolve_labels();
  void place_constants();
  std::uint32_t register_slot(const std::string& name, Type type, Width width);

  const FunctionSyntax& syntax_;
  const SymbolTable& globals_;
  const std::unordered_map<std::string, Function*>& functions_;
  Function& function_;
  const Statement* statement_ = nullptr;
  std::size_t next_modifier_ = 0;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, std::size_t> labels_;
  std::unordered_map<std::string, std::vector<std::string>> branch_targets_;
  std::unordered_map<std::uint64_t, std::uint32_t> constants_;
  std::vector<Fix> fixes_;
  std::uint32_t shared_top_ = 0;
  std::uint32_t local_top_ = 0;
};

/// Decodes one statement of its op-code: takes modifiers and operands, emits.
using DecodeFunction = void (*)(Decoder&);
using OpcodeTable = std::unordered_map<std::string_view, DecodeFunction>;

const OpcodeTable& integer_opcodes();
const OpcodeTable& float_opcodes();  // of these names when the last modifier is f32 or f64
const OpcodeTable& bit_opcodes();
const OpcodeTable& compare_opcodes();
const OpcodeTable& convert_opcodes();
const OpcodeTable& move_opcodes();
const OpcodeTable& memory_opcodes();
const OpcodeTable& atomic_opcodes();
const OpcodeTable& control_opcodes();
const OpcodeTable& warp_opcodes();

/// The operands of bar.warp.sync, whose modifiers are taken.
void decode_warp_barrier(Decoder& d);

// ---- a handler for each type

template <class F>
Handler select_integer(Type type, F make) {
  const bool is_signed = type.is_signed();
  switch (type.bits) {
    case 8: return is_signed ? make.template operator()<std::int8_t>() : make.template operator()<std::uint8_t>();
    case 16: return is_signed ? make.template operator()<std::int16_t>() : make.template operator()<std::uint16_t>();
    case 32: return is_signed ? make.template operator()<std::int32_t>() : make.template operator()<std::uint32_t>();
    default: return is_signed ? make.template operator()<std::int64_t>() : make.template operator()<std::uint64_t>();
  }
}

template <class F>
Handler select_float(Type type, F make) {
  return type.bits == 32 ? make.template operator()<float>() : make.template operator()<double>();
}

inline constexpr Type kPredicate{'p', 1};
inline constexpr Type kB16{'b', 16}, kB32{'b', 32}, kB64{'b', 64};

}  // namespace strom::ptx
