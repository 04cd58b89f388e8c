#include "cuda_emulation/ptx/parser.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "cuda_emulation/ptx/error.hpp"
#include "cuda_emulation/ptx/lexer.hpp"

namespace strom::ptx {

namespace {

// Limits that a real module never meets; they keep a broken one from exhausting memory.
constexpr std::uint64_t kMaxVariableBytes = std::uint64_t{1} << 28;
constexpr std::uint64_t kMaxRegisters = 1u << 20;
constexpr std::uint64_t kMaxAlign = 4096;

std::vector<std::string> split_at_dots(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); i++) {
    if (i < text.size() && text[i] != '.') continue;
    parts.emplace_back(text.substr(start, i - start));
    start = i + 1;
  }
  return parts;
}

class Parser {
 public:
  explicit Parser(std::string_view source) : lexer_(source) {}
  ModuleSyntax parse_module();

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error((function_.empty() ? "" : function_ + ", ") + "line " + std::to_string(lexer_.peek().line) + ": " +
                message);
  }
  const Token& peek() const { return lexer_.peek(); }
  bool accept(char symbol);
  bool accept(std::string_view word);
  void expect(char symbol);
  std::string expect_word(const char* what);
  std::uint64_t expect_integer(const char* what);

  void parse_top_level();
  void parse_function(bool is_kernel);
  void parse_performance_directives(FunctionSyntax& function);
  std::vector<Variable> parse_parameters();
  Variable parse_variable(Space space);
  void parse_array_size(Variable& variable);
  void parse_initialisers(Variable& variable);
  Initialiser parse_initialiser(const Variable& variable);
  void skip_section();

  void parse_body(FunctionSyntax& function);
  bool parse_directive(Statement& statement);
  void parse_registers(Statement& statement);
  void parse_named(Statement& statement, const std::string& name);
  void parse_instruction(Statement& statement);
  Operand parse_operand();
  Operand parse_address();
  Operand parse_parts(Operand::Kind kind, char close);
  Operand parse_number();
  std::int64_t parse_offset();

  Lexer lexer_;
  ModuleSyntax module_;
  std::string function_;
};

bool Parser::accept(char symbol) {
  if (!peek().is(symbol)) return false;
  lexer_.next();
  return true;
}

bool Parser::accept(std::string_view word) {
  if (!peek().is(word)) return false;
  lexer_.next();
  return true;
}

void Parser::expect(char symbol) {
  if (!accept(symbol)) fail(std::string("expected '") + symbol + "' before '" + std::string(peek().text) + "'");
}

std::string Parser::expect_word(const char* what) {
  if (peek().kind != Token::Kind::kWord)
    fail(std::string("expected ") + what + " before '" + std::string(peek().text) + "'");
  return std::string(lexer_.next().text);
}

std::uint64_t Parser::expect_integer(const char* what) {
  if (peek().kind != Token::Kind::kInteger) fail(std::string("expected ") + what);
  return lexer_.next().value;
}

ModuleSyntax Parser::parse_module() {
  while (peek().kind != Token::Kind::kEnd) parse_top_level();
  return std::move(module_);
}

void Parser::parse_top_level() {
  bool is_external = false;
  for (;;) {
    if (accept(std::string_view(".extern"))) {
      is_external = true;
    } else if (!accept(std::string_view(".visible")) && !accept(std::string_view(".weak")) &&
               !accept(std::string_view(".common"))) {
      break;
    }
  }
  const std::string word = expect_word("a directive");
  if (word == ".version" || word == ".target" || word == ".address_size" || word == ".file") {
    lexer_.skip_line();
  } else if (word == ".section") {
    skip_section();
  } else if (word == ".entry" || word == ".func") {
    parse_function(word == ".entry");
  } else if (word == ".global" || word == ".const" || word == ".shared") {
    Variable variable = parse_variable(word == ".global"  ? Space::kGlobal
                                       : word == ".const" ? Space::kConst
                                                          : Space::kShared);
    variable.is_external = is_external;
    if (is_external && variable.space != Space::kShared) fail("external variables are not emulated: " + variable.name);
    expect(';');
    module_.variables.push_back(std::move(variable));
  } else {
    fail("unknown directive " + word);
  }
}

void Parser::skip_section() {
  while (!peek().is('{')) {
    if (peek().kind == Token::Kind::kEnd) fail("section without a body");
    lexer_.next();
  }
  while (!peek().is('}')) {
    if (peek().kind == Token::Kind::kEnd) fail("section without an end");
    lexer_.next();
  }
  expect('}');
}

void Parser::parse_function(bool is_kernel) {
  FunctionSyntax function;
  function.is_kernel = is_kernel;
  function.line = peek().line;
  if (peek().is('(')) function.returns = parse_parameters();
  function.name = expect_word("a function name");
  if (is_kernel && !function.returns.empty()) fail("a kernel returns nothing");
  if (peek().is('(')) function.parameters = parse_parameters();
  function_ = function.name;
  parse_performance_directives(function);
  if (!accept(';')) {
    expect('{');
    function.has_body = true;
    parse_body(function);
  }
  function_.clear();
  module_.functions.push_back(std::move(function));
}

void Parser::parse_performance_directives(FunctionSyntax& function) {
  for (;;) {
    if (accept(std::string_view(".maxntid")) || accept(std::string_view(".reqntid"))) {
      std::uint64_t threads = 1;
      do {
        threads *= std::min<std::uint64_t>(expect_integer("a number of threads"), 1u << 16);
      } while (accept(','));
      function.max_threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, 1u << 30));
    } else if (accept(std::string_view(".minnctapersm")) || accept(std::string_view(".maxnctapersm")) ||
               accept(std::string_view(".maxnreg"))) {
      expect_integer("a number");
    } else if (!accept(std::string_view(".noreturn")) && !accept(std::string_view(".abi_preserve_control"))) {
      return;
    }
  }
}

std::vector<Variable> Parser::parse_parameters() {
  std::vector<Variable> parameters;
  expect('(');
  while (!accept(')')) {
    const std::string space = expect_word(".param");
    if (space != ".param") fail("parameters in " + space + " are not emulated");
    parameters.push_back(parse_variable(Space::kParam));
    if (!accept(',') && !peek().is(')')) fail("expected ',' or ')'");
  }
  return parameters;
}

// After the state space: {.align n} {.ptr {.space} {.align n}} .type name {[size]} {= initialiser}
Variable Parser::parse_variable(Space space) {
  Variable variable;
  variable.space = space;
  variable.line = peek().line;
  for (;;) {
    const std::string word = expect_word("a type or a name");
    if (word == ".align") {
      const std::uint64_t align = expect_integer("an alignment");
      if (!std::has_single_bit(align) || align > kMaxAlign) fail("bad alignment");
      // The alignment after .ptr is the alignment of the pointer's target.
      if (variable.type.kind == 0) variable.align = align;
    } else if (word == ".attribute") {
      fail("attribute of a variable is not emulated");
    } else if (word == ".ptr" || (variable.type.kind != 0 && (word == ".global" || word == ".shared"))) {
      continue;
    } else if (word[0] == '.') {
      if (variable.type.kind != 0) fail("unexpected " + word);
      variable.type = parse_type(word.substr(1));
      if (variable.type.kind == 0 || variable.type.is_predicate()) fail("unknown type " + word);
      variable.align = std::max<std::uint64_t>(variable.align, variable.type.bytes());
    } else {
      if (variable.type.kind == 0) fail("no type for " + word);
      variable.name = word;
      break;
    }
  }
  parse_array_size(variable);
  if (accept('=')) parse_initialisers(variable);
  return variable;
}

void Parser::parse_array_size(Variable& variable) {
  while (accept('[')) {
    const std::uint64_t size = peek().is(']') ? 0 : expect_integer("an array size");
    expect(']');
    if (size > kMaxVariableBytes) fail("variable too large: " + variable.name);
    variable.elements *= size;
    if (variable.elements > kMaxVariableBytes / variable.type.bytes()) fail("variable too large: " + variable.name);
  }
}

void Parser::parse_initialisers(Variable& variable) {
  if (!accept('{')) {
    variable.initialisers.push_back(parse_initialiser(variable));
    return;
  }
  while (!accept('}')) {
    variable.initialisers.push_back(parse_initialiser(variable));
    if (!accept(',') && !peek().is('}')) fail("expected ',' or '}'");
  }
  if (variable.initialisers.size() > variable.elements) fail("too many initialisers for " + variable.name);
}

Initialiser Parser::parse_initialiser(const Variable& variable) {
  Initialiser result;
  if (peek().kind == Token::Kind::kWord) {
    result.symbol = expect_word("a symbol");
    if (result.symbol == "generic") {
      expect('(');
      result.symbol = expect_word("a symbol");
      expect(')');
    }
    if (variable.type.bits != 64) fail("an address needs 64 bits: " + variable.name);
    if (peek().is('+') || peek().is('-')) result.value = static_cast<std::uint64_t>(parse_offset());
    return result;
  }
  const Operand number = parse_number();
  const bool is_single = number.kind == Operand::Kind::kFloat32, is_double = number.kind == Operand::Kind::kFloat64;
  if ((is_single && variable.type.bits != 32) || (is_double && variable.type.bits != 64)) {
    fail("initialiser of another type than " + variable.name);
  }
  if (variable.type.is_float() && !is_single && !is_double) fail("integer initialises " + variable.name);
  result.value = static_cast<std::uint64_t>(number.offset);
  return result;
}

// ---- bodies

void Parser::parse_body(FunctionSyntax& function) {
  std::size_t depth = 1;
  for (;;) {
    Statement statement;
    statement.line = peek().line;
    const std::size_t start = lexer_.offset();
    if (accept('{')) {
      depth++;
      statement.kind = Statement::Kind::kOpenScope;
    } else if (accept('}')) {
      if (--depth == 0) return;
      statement.kind = Statement::Kind::kCloseScope;
    } else if (accept(';')) {
      continue;
    } else if (peek().kind == Token::Kind::kWord && peek().text[0] == '.') {
      if (!parse_directive(statement)) continue;
    } else {
      parse_instruction(statement);
    }
    const std::string_view whole = lexer_.source().substr(start, lexer_.offset() - start);
    for (const char c : whole.substr(0, whole.find("//"))) {
      const bool blank = c == '\n' || c == '\t' || c == '\r' || c == ' ';
      if (statement.text.size() < 160 && !(blank && (statement.text.empty() || statement.text.back() == ' '))) {
        statement.text += blank ? ' ' : c;
      }
    }
    while (statement.text.ends_with(' ')) statement.text.pop_back();
    function.body.push_back(std::move(statement));
  }
}

// False when the directive says nothing about the program's meaning.
bool Parser::parse_directive(Statement& statement) {
  const std::string word = expect_word("a directive");
  if (word == ".loc") {
    lexer_.skip_line();
    return false;
  }
  if (word == ".pragma") {
    while (!accept(';')) {
      if (peek().kind != Token::Kind::kString && !peek().is(',')) fail("malformed .pragma");
      lexer_.next();
    }
    return false;
  }
  if (word == ".reg") {
    parse_registers(statement);
    return true;
  }
  static constexpr std::array<std::pair<std::string_view, Space>, 3> kSpaces = {
      {{".local", Space::kLocal}, {".shared", Space::kShared}, {".param", Space::kParam}}};
  for (const auto& [name, space] : kSpaces) {
    if (word != name) continue;
    statement.kind = Statement::Kind::kVariable;
    statement.variable = parse_variable(space);
    expect(';');
    return true;
  }
  fail("unknown directive " + word);
}

void Parser::parse_registers(Statement& statement) {
  statement.kind = Statement::Kind::kRegisters;
  const std::string type = expect_word("a type");
  statement.type = parse_type(type.substr(1));
  if (type[0] != '.' || statement.type.kind == 0) fail("unknown type of registers " + type);
  do {
    Operand registers;
    registers.name = expect_word("a register");
    if (accept('<')) {
      const std::uint64_t count = expect_integer("a number of registers");
      expect('>');
      if (count == 0 || count > kMaxRegisters) fail("bad number of registers");
      registers.offset = static_cast<std::int64_t>(count);
    }
    statement.operands.push_back(std::move(registers));
  } while (accept(','));
  expect(';');
}

// After `name :`: a label, or a table with a name.
void Parser::parse_named(Statement& statement, const std::string& name) {
  statement.opcode = name;
  if (accept(std::string_view(".branchtargets"))) {
    statement.kind = Statement::Kind::kBranchTargets;
    do {
      Operand label;
      label.name = expect_word("a label");
      statement.operands.push_back(std::move(label));
    } while (accept(','));
    expect(';');
  } else if (accept(std::string_view(".callprototype"))) {
    statement.kind = Statement::Kind::kPrototype;
    while (!accept(';')) {
      if (peek().kind == Token::Kind::kEnd) fail("prototype without an end");
      lexer_.next();
    }
  } else {
    statement.kind = Statement::Kind::kLabel;
  }
}

void Parser::parse_instruction(Statement& statement) {
  if (accept('@')) {
    statement.guard_is_negated = accept('!');
    statement.guard = expect_word("a predicate");
  }
  const std::string word = expect_word("an instruction");
  if (statement.guard.empty() && accept(':')) return parse_named(statement, word);
  statement.modifiers = split_at_dots(word);
  statement.opcode = statement.modifiers.front();
  statement.modifiers.erase(statement.modifiers.begin());
  if (peek().is(';')) {
    lexer_.next();
    return;
  }
  do {
    statement.operands.push_back(parse_operand());
  } while (accept(','));
  expect(';');
}

Operand Parser::parse_operand() {
  Operand operand;
  if (accept('[')) return parse_address();
  if (accept('{')) return parse_parts(Operand::Kind::kVector, '}');
  if (accept('(')) return parse_parts(Operand::Kind::kList, ')');
  if (accept('!')) {
    operand.kind = Operand::Kind::kNot;
    operand.name = expect_word("a predicate");
    return operand;
  }
  if (peek().kind != Token::Kind::kWord) return parse_number();
  operand.name = expect_word("an operand");
  if (accept('|')) {
    Operand second, pair;
    second.name = expect_word("a predicate");
    pair.kind = Operand::Kind::kPair;
    pair.parts = {std::move(operand), std::move(second)};
    return pair;
  }
  if (peek().is('+') || peek().is('-')) operand.offset = parse_offset();
  return operand;
}

Operand Parser::parse_address() {
  Operand operand;
  operand.kind = Operand::Kind::kAddress;
  if (peek().kind == Token::Kind::kWord) operand.name = expect_word("an address");
  if (!peek().is(']')) operand.offset = operand.name.empty() ? parse_number().offset : parse_offset();
  expect(']');
  return operand;
}

// Parts are names and numbers; they do not nest.
Operand Parser::parse_parts(Operand::Kind kind, char close) {
  Operand operand;
  operand.kind = kind;
  while (!accept(close)) {
    Operand part;
    if (peek().kind == Token::Kind::kWord) {
      part.name = expect_word("an operand");
    } else {
      part = parse_number();
    }
    operand.parts.push_back(std::move(part));
    if (!accept(',') && !peek().is(close)) fail(std::string("expected ',' or '") + close + "'");
  }
  return operand;
}

Operand Parser::parse_number() {
  Operand operand;
  const bool negative = accept('-');
  const Token token = lexer_.next();
  switch (token.kind) {
    case Token::Kind::kInteger: operand.kind = Operand::Kind::kInteger; break;
    case Token::Kind::kFloat32: operand.kind = Operand::Kind::kFloat32; break;
    case Token::Kind::kFloat64: operand.kind = Operand::Kind::kFloat64; break;
    default: fail("expected an operand before '" + std::string(token.text) + "'");
  }
  if (negative && operand.kind != Operand::Kind::kInteger) fail("negative floating point literal");
  operand.offset = static_cast<std::int64_t>(negative ? 0 - token.value : token.value);
  return operand;
}

// +n, -n or +-n
std::int64_t Parser::parse_offset() {
  bool negative = false;
  if (accept('+')) {
    negative = accept('-');
  } else {
    expect('-');
    negative = true;
  }
  const std::uint64_t value = expect_integer("an offset");
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

}  // namespace

Type parse_type(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, Type>, 15> kTypes = {{
      {"pred", {'p', 1}},
      {"u8", {'u', 8}},
      {"u16", {'u', 16}},
      {"u32", {'u', 32}},
      {"u64", {'u', 64}},
      {"s8", {'s', 8}},
      {"s16", {'s', 16}},
      {"s32", {'s', 32}},
      {"s64", {'s', 64}},
      {"b8", {'b', 8}},
      {"b16", {'b', 16}},
      {"b32", {'b', 32}},
      {"b64", {'b', 64}},
      {"f32", {'f', 32}},
      {"f64", {'f', 64}},
  }};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& row) { return row.first == name; });
  return found == kTypes.end() ? Type{} : found->second;
}

ModuleSyntax parse(std::string_view source) { return Parser(source).parse_module(); }

}  // namespace strom::ptx
