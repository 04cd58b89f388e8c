// What is not emulated must stop, and what is broken must not crash.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "cuda_emulation/ptx/module.hpp"

namespace strom::ptx {
namespace {

std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + before + R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %p<4>; .reg .b16 %rs<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>;
  .shared .align 8 .b8 box[64];
  ld.param.u64 %rd1, [p];
)" + body +
         "\n  ret;\n}\n";
}

std::string failure_of(const std::string& text) {
  try {
    const Module module(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no failure";
}

TEST(PtxErrors, WhatIsEmulatedLoads) { EXPECT_EQ(failure_of(kernel("add.s32 %r1, %r2, 3;")), "no failure"); }

TEST(PtxErrors, UnknownOpCodesNameKernelLineAndText) {
  const std::string message = failure_of(kernel("frobnicate.u32 %r1, %r2;"));
  EXPECT_EQ(message, "k, line 9: unknown op-code frobnicate: frobnicate.u32 %r1, %r2;");
}

TEST(PtxErrors, UnknownModifiersStop) {
  const char* const statements[] = {
      "add.ftz.f32 %f1, %f2, %f3;",
      "add.sat.f32 %f1, %f2, %f3;",
      "add.sat.u32 %r1, %r2, %r3;",
      "add.wide.s32 %r1, %r2, %r3;",
      "mul.s32 %r1, %r2, %r3;",
      "mul.lo.sat.s32 %r1, %r2, %r3;",
      "mul24.lo.s32 %r1, %r2, %r3;",
      "mad.lo.sat.s32 %r1, %r2, %r3, 1;",
      "fma.f32 %f1, %f2, %f3, %f1;",
      "fma.rn.relu.f32 %f1, %f2, %f3, %f1;",
      "fma.rn.f16 %rs1, %rs2, %rs3, %rs1;",
      "cvt.rn.f16.f32 %rs1, %f1;",
      "cvt.s32.f32 %r1, %f1;",
      "cvt.rn.s32.f32 %r1, %f1;",
      "cvt.rni.rn.f32.f32 %f1, %f2;",
      "cvt.f32.f64 %f1, %fd1;",
      "setp.lt.b32 %p1, %r1, %r2;",
      "setp.hi.s32 %p1, %r1, %r2;",
      "setp.ltu.s32 %p1, %r1, %r2;",
      "setp.lt.ftz.f32 %p1, %f1, %f2;",
      "ld.global.v8.b32 %r1, [%rd1];",
      "ld.global.b128 %rd2, [%rd1];",
      "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
      "ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;",
      "st.async.shared.u32 [%r1], %r2;",
      "st.const.u32 [%rd1], %r1;",
      "atom.global.add.f16 %rs1, [%rd1], %rs2;",
      "atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;",
      "atom.local.add.u32 %r1, [%rd1], 1;",
      "atom.global.cas.b128 %rd1, [%rd1], %rd2, %rd3;",
      "red.global.exch.b32 [%rd1], %r1;",
      "shfl.up.b32 %r1, %r2, 1, 0;",
      "shfl.sync.up.b64 %rd1, %rd2, 1, 0, -1;",
      "vote.ballot.b32 %r1, %p1;",
      "bar.red.xor.pred %p1, 0, %p2;",
      "barrier.cluster.arrive;",
      "prmt.b32.f4e %r1, %r2, %r3, %r4;",
      "div.f32 %f1, %f2, %f3;",
      "sqrt.f64 %fd1, %fd2;",
      "ex2.approx.f64 %fd1, %fd2;",
      "min.xorsign.abs.f32 %f1, %f2, %f3;",
      "mov.b128 %rd1, %rd2;",
      "cp.async.ca.shared.global [%r1], [%rd1], 16;",
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1}, {%fd1}, {%fd1}, {%fd1};",
      "membar.cluster;",
      "bra.foo end;",
      "ret.foo;",
  };
  for (const char* statement : statements) {
    const std::string message = failure_of(kernel(statement));
    EXPECT_EQ(message.find("k, line 9: "), 0u) << statement << " -> " << message;
  }
}

TEST(PtxErrors, OperandsThatDoNotFit) {
  const char* const statements[] = {
      "add.s32 %r1, %r2;",
      "add.s32 %r1, %rd2, 3;",
      "add.s32 3, %r1, %r2;",
      "add.f32 %f1, %f2, 3;",
      "add.s32 %r1, %r99, 3;",
      "and.pred %p1, %r1, %p2;",
      "bra nowhere;",
      "ld.shared.u32 %r1, [nothing];",
      "ld.param.u32 %r1, [p+8];",
      "ld.param.u64 %rd1, [p+4];",
      "ld.global.u32 %r1, [box];",
      "mov.u32 %r1, %tid.w;",
      "call nowhere, (%r1);",
      "call.uni printf;",
      "selp.b32 %r1, %r2, %r3, %r4;",
      "mov.u64 %r1, %rd1;",
      "{ .reg .b32 %inner; } mov.u32 %r1, %inner;",
      "brx.idx %r1, table;",
      "@%r1 ret;",
  };
  for (const char* statement : statements) EXPECT_NE(failure_of(kernel(statement)), "no failure") << statement;
}

TEST(PtxErrors, PrintfIsNotEmulated) {
  const std::string message =
      failure_of(kernel("{ .param .b64 a; .param .b64 b; .param .b32 r; call.uni (r), vprintf, (a, b); }",
                        ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);"));
  EXPECT_NE(message.find("vprintf"), std::string::npos) << message;
}

std::string run_failure(const std::string& body, std::uint64_t argument = 0, Dim3 block = {}) {
  const Module module(kernel(body));
  const void* arguments[] = {&argument};
  try {
    module.launch("k", {.grid = {}, .block = block}, arguments);
  } catch (const Error& e) {
    return e.what();
  }
  return "no failure";
}

TEST(PtxErrors, MemoryErrorsNameTheThread) {
  std::uint64_t word = 0;
  const auto at = reinterpret_cast<std::uint64_t>(&word);
  EXPECT_EQ(run_failure("st.global.u64 [%rd1], 5;", at), "no failure");
  EXPECT_EQ(word, 5u);
  EXPECT_EQ(run_failure("ld.global.u32 %r1, [%rd1];"),
            "k, block (0,0,0), thread (0,0,0): null pointer: address 0x0: line 9: ld.global.u32 %r1, [%rd1];");
  EXPECT_NE(run_failure("ld.global.u32 %r1, [%rd1+2];", at).find("misaligned address"), std::string::npos);
  EXPECT_NE(run_failure("ld.shared.u32 %r1, [box+64];").find("shared memory out of bounds"), std::string::npos);
  EXPECT_NE(run_failure("ld.shared.u32 %r1, [box+-4];").find("shared memory out of bounds"), std::string::npos);
  EXPECT_EQ(run_failure("ld.shared.u32 %r1, [box+60];"), "no failure");
  // Through a generic address too.
  const std::string generic = "mov.u64 %rd2, box; cvta.shared.u64 %rd2, %rd2; ";
  EXPECT_EQ(run_failure(generic + "st.u64 [%rd2+56], 1;"), "no failure");
  EXPECT_NE(run_failure(generic + "st.u64 [%rd2+64], 1;").find("shared memory out of bounds"), std::string::npos);
  EXPECT_NE(run_failure("{ .local .align 8 .b8 v[8]; mov.u64 %rd3, v; ld.local.u64 %rd2, [%rd3+8]; }")
                .find("local memory out of bounds"),
            std::string::npos);
}

TEST(PtxErrors, BarriersAndTraps) {
  const std::string divergent =
      "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 3; @%p1 bra other; bar.sync 0; bra end; other: bar.sync 0; end:";
  EXPECT_NE(run_failure(divergent, 0, {32}).find("divergent barrier"), std::string::npos);
  const std::string deadlock =
      "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 3; @%p1 bra other; bar.sync 0; bra end; other: bar.warp.sync 255; "
      "end:";
  EXPECT_NE(run_failure(deadlock, 0, {32}).find("deadlock or divergent barrier"), std::string::npos);
  EXPECT_NE(run_failure("bar.warp.sync 2;").find("lane is not in its own mask"), std::string::npos);
  EXPECT_NE(run_failure("bar.sync 16;").find("16 barriers"), std::string::npos);
  EXPECT_NE(run_failure("bar.sync 1, 33;").find("whole warps"), std::string::npos);
  EXPECT_NE(run_failure("trap;").find("trap"), std::string::npos);
}

// A module with a bit of everything, to be broken.
const std::string& everything() {
  static const std::string text = kernel(R"(
  { .local .align 4 .b8 v[16]; .reg .b64 %at; mov.u64 %at, v; st.local.v2.u32 [%at+8], {%r1, -1}; }
  mov.u32 %r1, %ctaid.x; mad.lo.s32 %r2, %r1, 0x80, 7; setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p3;
  @!%p1 bra $L1; mov.f64 %fd1, 0d3FF0000000000000; fma.rn.f64 %fd2, %fd1, %fd1, %fd1; cvt.rzi.s64.f64 %rd2, %fd2;
$L1: ts: .branchtargets $L1, $L2;
  brx.idx %r1, ts;
$L2: shfl.sync.bfly.b32 %r3|%p1, %r1, 4, 31, -1; vote.sync.ballot.b32 %r4, !%p1, -1; bar.red.popc.u32 %r5, 0, %p1;
  atom.global.cas.b64 %rd4, [%rd1+8], %rd2, %rd3; lop3.b32 %r6, %r1, %r2, %r3, 0x96;
  ld.global.nc.L1::no_allocate.v4.u32 {%r1,%r2,%r3,_}, [%rd1];
  { .param .b64 param0; .param .b32 retval0; st.param.b64 [param0+0], %rd1;
  call.uni (retval0), f, (param0); ld.param.b32 %r1, [retval0]; }
)",
                                         R"(.extern .shared .align 16 .b8 dynamic[];
.global .align 8 .u64 table[3] = {generic(number)+4, f, 0xff};
  .global .align 4 .b8 number[8] = {1, 2, 3}; .const .f32 pi = 0f40490FDB;
.func (.param .b32 r) f(.param .b64 a) { .reg .b32 %x; mov.u32 %x, 1; st.param.b32 [r], %x; ret; }
)");
  return text;
}

TEST(PtxErrors, BrokenTextNeverCrashes) {
  ASSERT_EQ(failure_of(everything()), "no failure");
  std::mt19937 random(11);
  const std::string symbols = ";,.{}[]()<>|!@:+-=%$_\"/*0123456789abcdefxru \n";
  const std::string words[] = {".reg",  ".param", ".shared", ".align", "99999999999999999999", "4294967295", ".b8",
                               ".func", ".entry", "0f",      "0d12",   "%r<1000000>",          "[",          "};"};
  int failures = 0;
  for (int round = 0; round < 6000; round++) {
    std::string text = everything();
    for (unsigned edits = 1 + random() % 4; edits > 0; edits--) {
      if (text.empty()) break;
      const std::size_t at = random() % text.size();
      switch (random() % 5) {
        case 0: text[at] = symbols[random() % symbols.size()]; break;
        case 1: text.erase(at, 1 + random() % 20); break;
        case 2: text.insert(at, words[random() % std::size(words)]); break;
        case 3: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
        default: text.resize(at + 1);
      }
    }
    failures += failure_of(text) != "no failure";
  }
  // Most edits do damage, some do not.
  EXPECT_GT(failures, 4000);
  EXPECT_LT(failures, 6000);
}

}  // namespace
}  // namespace strom::ptx
