// What the parser makes of PTX text: declarations and statements, names unresolved. module.cpp turns it into code.
// Grammar: NVIDIA, "PTX ISA", chapters 4 and 5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strom::ptx {

enum class Space : std::uint8_t { kGeneric, kGlobal, kConst, kShared, kLocal, kParam };

/// A fundamental type. kind: 'u', 's', 'b', 'f', or 'p' for a predicate (of 1 bit).
struct Type {
  char kind = 0;
  std::uint8_t bits = 0;

  unsigned bytes() const { return bits / 8u; }
  bool is_float() const { return kind == 'f'; }
  bool is_signed() const { return kind == 's'; }
  bool is_predicate() const { return kind == 'p'; }
  bool operator==(const Type&) const = default;
};

/// The type of that name (without its dot), or one of kind 0. Types that are not emulated (f16, b128, …) are unknown.
Type parse_type(const std::string& name);

/// One element of an initialiser: a number (bits of the element's type), or the address of a symbol plus a number.
struct Initialiser {
  std::uint64_t value = 0;
  std::string symbol;
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type;
  std::uint64_t align = 1;
  std::uint64_t elements = 1;
  bool is_external = false;  // with no size: dynamic shared memory
  std::vector<Initialiser> initialisers;
  int line = 0;

  std::uint64_t bytes() const { return elements * type.bytes(); }
};

struct Operand {
  enum class Kind : std::uint8_t {
    kName,     // register, special register, variable, function or label: `name`, plus `offset`
    kInteger,  // `offset`
    kFloat32,  // bits in `offset`
    kFloat64,
    kAddress,  // [`name` + `offset`], or [`offset`] when there is no name
    kVector,   // {`parts`}
    kPair,     // parts[0]|parts[1]
    kNot,      // !`name`
    kList,     // (`parts`): arguments of a call
  };
  Kind kind = Kind::kName;
  std::string name;
  std::int64_t offset = 0;
  std::vector<Operand> parts;
};

/// One line of a function's body.
struct Statement {
  enum class Kind : std::uint8_t {
    kInstruction,
    kLabel,  // `opcode` is its name
    kOpenScope,
    kCloseScope,
    kRegisters,  // `type`; names in operands; offset > 0: that many, numbered from 0
    kVariable,
    kBranchTargets,  // `opcode` is the name of the table
    kPrototype,      // of an indirect call; `opcode` is its name
  };
  Kind kind = Kind::kInstruction;
  int line = 0;
  std::string text;  // as written, on one line
  std::string guard;
  bool guard_is_negated = false;
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  Type type;
  Variable variable;
};

struct FunctionSyntax {
  std::string name;
  int line = 0;
  bool is_kernel = false;
  bool has_body = false;
  unsigned max_threads = 0;  // .maxntid or .reqntid, 0 when there is none
  std::vector<Variable> returns, parameters;
  std::vector<Statement> body;
};

struct ModuleSyntax {
  std::vector<Variable> variables;
  std::vector<FunctionSyntax> functions;
};

}  // namespace strom::ptx
