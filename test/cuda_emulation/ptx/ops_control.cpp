// Branches, calls, barriers and the end of threads. PTX ISA, "Control Flow Instructions" and "bar".

#include <algorithm>
#include <cstring>

#include "cuda_emulation/ptx/decoder.hpp"

namespace strom::ptx {

namespace {

constexpr std::uint32_t kMaxCallDepth = 512;

const Instruction* branch(const Instruction* i, std::uint64_t*, Thread&) { return i->target; }

const Instruction* branch_if(const Instruction* i, std::uint64_t* r, Thread&) {
  return get<bool>(r[i->a]) ? i->target : i + 1;
}

const Instruction* branch_unless(const Instruction* i, std::uint64_t* r, Thread&) {
  return get<bool>(r[i->a]) ? i + 1 : i->target;
}

const Instruction* branch_indexed(const Instruction* i, std::uint64_t* r, Thread& t) {
  const auto index = get<std::uint32_t>(r[i->a]);
  if (index >= i->table->targets.size()) fail(i, t, "index is outside of the branch targets");
  return i->table->targets[index];
}

// ---- calls

void copy_parameters(const std::vector<ParameterCopy>& copies, std::byte* to, const std::byte* from, bool to_callee) {
  for (const ParameterCopy& copy : copies) {
    std::memcpy(to + (to_callee ? copy.callee_offset : copy.caller_offset),
                from + (to_callee ? copy.caller_offset : copy.callee_offset), copy.bytes);
  }
}

const Instruction* enter(const Instruction* i, Thread& t, const Function& callee) {
  if (t.depth + 1 >= kMaxCallDepth) fail(i, t, "calls are nested too deeply");
  const std::byte* caller_local = t.local;
  push_frame(t, callee, t.depth + 1);
  copy_parameters(i->call->arguments, t.local, caller_local, true);
  t.frame().resume = i + 1;
  t.frame().site = i->call;
  return nullptr;
}

const Instruction* call_direct(const Instruction* i, std::uint64_t*, Thread& t) {
  return enter(i, t, *i->call->callee);
}

const Instruction* call_indirect(const Instruction* i, std::uint64_t* r, Thread& t) {
  const auto* callee = reinterpret_cast<const Function*>(r[i->a]);
  const std::vector<const Function*>& functions = *t.block->launch->functions;
  if (std::find(functions.begin(), functions.end(), callee) == functions.end())
    fail(i, t, "call of what is no function");
  const auto agree = [](const std::vector<ParameterCopy>& copies, const std::vector<Parameter>& parameters) {
    return std::equal(
        copies.begin(), copies.end(), parameters.begin(), parameters.end(),
        [](const ParameterCopy& a, const Parameter& b) { return a.bytes == b.bytes && a.callee_offset == b.offset; });
  };
  if (!agree(i->call->arguments, callee->parameters) || !agree(i->call->results, callee->returns)) {
    fail(i, t, "call of a function of another type");
  }
  return enter(i, t, *callee);
}

const Instruction* return_from(const Instruction*, std::uint64_t*, Thread& t) {
  if (t.depth == 0) {
    t.state = Thread::State::kDone;
    return nullptr;
  }
  const Frame& callee = t.frame();
  t.depth--;
  Frame& caller = t.frame();
  t.pc = callee.resume;
  t.registers = caller.slots.data();
  t.local = caller.local.get();
  copy_parameters(callee.site->results, t.local, callee.local.get(), false);
  return nullptr;
}

const Instruction* exit_thread(const Instruction*, std::uint64_t*, Thread& t) {
  t.state = Thread::State::kDone;
  return nullptr;
}

const Instruction* trap(const Instruction* i, std::uint64_t*, Thread& t) { fail(i, t, "trap"); }

// __assertfail(message, file, line, function, character size)
const Instruction* fail_assertion(const Instruction* i, std::uint64_t*, Thread& t) {
  const auto argument = [&](std::size_t n) {
    std::uint64_t value = 0;
    const ParameterCopy& copy = i->call->arguments[n];
    std::memcpy(&value, t.local + copy.caller_offset, std::min<std::size_t>(copy.bytes, sizeof(value)));
    return value;
  };
  fail(i, t,
       std::string("assertion failed: ") + reinterpret_cast<const char*>(argument(0)) + " at " +
           reinterpret_cast<const char*>(argument(1)) + ":" + std::to_string(argument(2)));
}

// A thread that waits for others lets them run.
const Instruction* yield(const Instruction* i, std::uint64_t*, Thread& t) {
  t.pc = i + 1;
  t.yields = true;
  return nullptr;
}

// ---- barriers: `a` number, `b` expected threads (0: all), `c` predicate

Barrier& barrier_of(const Instruction* i, const std::uint64_t* r, Thread& t) {
  const auto number = get<std::uint32_t>(r[i->a]), expected = get<std::uint32_t>(r[i->b]);
  if (number >= t.block->barriers.size()) fail(i, t, "there are 16 barriers");
  if (expected % 32 != 0) fail(i, t, "the threads of a barrier must be whole warps");
  Barrier& barrier = t.block->barriers[number];
  barrier.expected = expected;
  t.barrier = number;
  return barrier;
}

const Instruction* wait_at_barrier(const Instruction* i, std::uint64_t* r, Thread& t) {
  barrier_of(i, r, t);
  t.pc = i;
  t.state = Thread::State::kAtBarrier;
  return nullptr;
}

const Instruction* arrive_at_barrier(const Instruction* i, std::uint64_t* r, Thread& t) {
  barrier_of(i, r, t).arrived_early++;
  return i + 1;
}

// ---- decoding

void decode_bra(Decoder& d) {
  d.accept("uni");
  d.end_modifiers();
  d.expect_operands(1);
  if (d.operand(0).kind != Operand::Kind::kName) d.fail("a label is expected");
  Instruction i;
  Handler handler = branch;
  if (!d.statement().guard.empty()) {
    Operand guard;
    guard.name = d.statement().guard;
    i.a = d.source(guard, kPredicate);
    handler = d.statement().guard_is_negated ? branch_unless : branch_if;
  }
  d.emit(handler, i);
  d.branch_to(d.operand(0).name);
}

void decode_brx(Decoder& d) {
  d.expect("idx");
  d.accept("uni");
  d.end_modifiers();
  d.expect_operands(2);
  const std::vector<std::string>* labels = d.find_branch_targets(d.operand(1).name);
  if (labels == nullptr) d.fail("unknown branch targets");
  Instruction i;
  i.a = d.source(0, kB32);
  d.emit(branch_indexed, i);
  d.jump_through(*labels);
}

std::vector<ParameterCopy> decode_call_parameters(Decoder& d, const Operand& list) {
  std::vector<ParameterCopy> copies;
  if (list.kind != Operand::Kind::kList) d.fail("a list of parameters is expected");
  for (const Operand& part : list.parts) {
    const Symbol* symbol = part.kind == Operand::Kind::kName ? d.find(part.name) : nullptr;
    if (symbol == nullptr || symbol->kind != Symbol::Kind::kLocal) d.fail("parameter is not of the .param space");
    copies.push_back({static_cast<std::uint32_t>(symbol->value), 0, symbol->bytes});
  }
  return copies;
}

void match_parameters(Decoder& d, std::vector<ParameterCopy>& copies, const std::vector<Parameter>& parameters) {
  if (copies.size() != parameters.size()) d.fail("call with another number of parameters");
  for (std::size_t n = 0; n < copies.size(); n++) {
    if (copies[n].bytes != parameters[n].bytes) d.fail("call with a parameter of another size");
    copies[n].callee_offset = parameters[n].offset;
  }
}

// Where an indirect callee has its parameters: the layout of Module::declare_function for parameters of these sizes.
void lay_out_indirect(CallSite& call) {
  std::uint32_t top = 0;
  for (std::vector<ParameterCopy>* copies : {&call.results, &call.arguments}) {
    for (ParameterCopy& copy : *copies) {
      copy.callee_offset = top;
      top += (copy.bytes + 15) / 16 * 16;
    }
  }
}

// call{.uni} {(result),} function {, (arguments)} {, prototype}
void decode_call(Decoder& d) {
  d.accept("uni");
  d.end_modifiers();
  d.expect_operands(1, 4);
  std::size_t at = 0;
  CallSite& call = d.new_call();
  if (d.operand(0).kind == Operand::Kind::kList) call.results = decode_call_parameters(d, d.operand(at++));
  if (at >= d.operand_count() || d.operand(at).kind != Operand::Kind::kName) d.fail("a function is expected");
  const Operand& target = d.operand(at++);
  if (at < d.operand_count() && d.operand(at).kind == Operand::Kind::kList) {
    call.arguments = decode_call_parameters(d, d.operand(at++));
  }
  Instruction i;
  i.call = &call;
  if (target.name == "__assertfail" && call.arguments.size() >= 3) {
    d.emit(fail_assertion, i);
    return;
  }
  Function* callee = d.find_function(target.name);
  if (callee == nullptr) {
    if (at + 1 != d.operand_count()) d.fail("unknown function, or an indirect call without a prototype");
    i.a = d.source(target, kB64);
    lay_out_indirect(call);
    d.emit(call_indirect, i);
    return;
  }
  if (at != d.operand_count()) d.fail("prototype for a function that is known");
  if (callee->is_kernel) d.fail("call of a kernel");
  match_parameters(d, call.arguments, callee->parameters);
  match_parameters(d, call.results, callee->returns);
  call.callee = callee;
  d.emit(call_direct, i);
}

void decode_ret(Decoder& d) {
  d.accept("uni");
  d.end_modifiers();
  d.expect_operands(0);
  d.emit(return_from, {});
}

template <Handler kHandler>
void decode_bare(Decoder& d) {
  d.end_modifiers();
  d.expect_operands(0);
  d.emit(kHandler, {});
}

void decode_nanosleep(Decoder& d) {
  d.take_last_type("u", {32});
  d.expect_operands(1);
  Instruction i;
  i.a = d.source(0, kB32);
  d.emit(yield, i);
}

// bar.sync a{, b}  bar.arrive a, b  bar.red.popc.u32 d, a{, b}, {!}p  bar.red.{and,or}.pred p, a{, b}, {!}q
void decode_block_barrier(Decoder& d, int what) {
  Instruction i;
  std::size_t at = 0, most = 2;
  Type result{};
  if (what == 2) {
    i.immediate = 1 + d.choose({"popc", "and", "or"});
    result = d.take_last_type(i.immediate == 1 ? "u" : "p", {1, 32});
    at = 1;
    most = 4;
  } else {
    d.end_modifiers();
  }
  d.expect_operands(what == 2 ? 3 : what == 1 ? 2 : 1, most);
  if (what == 2) {
    i.dst = d.destination(0, result);
    Operand predicate = d.operand(d.operand_count() - 1);
    if (predicate.kind == Operand::Kind::kNot) {
      predicate.kind = Operand::Kind::kName;
      i.e = 1;
    }
    i.c = d.source(predicate, kPredicate);
  }
  const std::size_t numbers = d.operand_count() - (what == 2 ? 2 : 0);
  i.a = d.source(at, kB32);
  i.b = numbers == 2 ? d.source(at + 1, kB32) : d.constant_slot(0);
  d.emit(what == 1 ? &arrive_at_barrier : &wait_at_barrier, i);
}

void decode_barrier(Decoder& d) {
  d.accept("cta");
  const int what = d.choose({"sync", "arrive", "red"});
  d.accept("aligned");
  decode_block_barrier(d, what);
}

void decode_bar(Decoder& d) {
  if (d.accept("warp")) {
    d.expect("sync");
    return decode_warp_barrier(d);
  }
  d.accept("cta");
  decode_block_barrier(d, d.choose({"sync", "arrive", "red"}));
}

}  // namespace

const OpcodeTable& control_opcodes() {
  static const OpcodeTable table = {
      {"bra", decode_bra},
      {"brx", decode_brx},
      {"call", decode_call},
      {"ret", decode_ret},
      {"exit", decode_bare<exit_thread>},
      {"trap", decode_bare<trap>},
      {"bar", decode_bar},
      {"barrier", decode_barrier},
      {"nanosleep", decode_nanosleep},
  };
  return table;
}

}  // namespace strom::ptx
