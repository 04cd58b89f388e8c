// Small modules written by hand: what nvcc emits rarely, and single instructions against their definition.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "cuda_emulation/ptx/module.hpp"

namespace strom::ptx {
namespace {

constexpr const char* kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

// A kernel whose body leaves its result in %out, from the operands %a, %b, %c.
std::uint64_t evaluate(const std::string& body, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) {
  const std::string text = std::string(kHeader) +
                           R"(.visible .entry k(.param .u64 to, .param .u64 pa, .param .u64 pb, .param .u64 pc)
{
  .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<19>; .reg .b64 %rd<9>, %a, %b, %c, %out, %to;
  .reg .f32 %f<9>; .reg .f64 %fd<9>;
  .reg .b32 %wa, %wb, %wc;
  ld.param.u64 %to, [to]; ld.param.u64 %a, [pa]; ld.param.u64 %b, [pb]; ld.param.u64 %c, [pc];
  cvt.u32.u64 %wa, %a; cvt.u32.u64 %wb, %b; cvt.u32.u64 %wc, %c; mov.u64 %out, 0;
)" + body + "\n  st.global.u64 [%to], %out;\n  ret;\n}\n";
  const Module module(text);
  std::uint64_t result = 0;
  std::uint64_t* to = &result;
  const void* arguments[] = {&to, &a, &b, &c};
  module.launch("k", {}, arguments);
  return result;
}

std::uint64_t evaluate32(const std::string& body, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0) {
  return evaluate(body + "\n  cvt.u64.u32 %out, %r0;", a, b, c);
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST(PtxInstructions, Bits) {
  EXPECT_EQ(evaluate32("lop3.b32 %r0, %wa, %wb, %wc, 0x96;", 0xf0, 0xcc, 0xaa), 0xf0u ^ 0xccu ^ 0xaau);
  EXPECT_EQ(evaluate32("lop3.b32 %r0, %wa, %wb, %wc, 0xe8;", 0xf0, 0xcc, 0xaa), 0xe8u);
  EXPECT_EQ(evaluate32("prmt.b32 %r0, %wa, %wb, 0x7c10;", 0x80c04020, 0x11223344), 0x11004020u);
  EXPECT_EQ(evaluate32("prmt.b32 %r0, %wa, %wb, 0x000b;", 0x80c04020, 0), 0x202020ffu);
  EXPECT_EQ(evaluate32("shf.r.wrap.b32 %r0, %wa, %wb, 40;", 0x12345678, 0x9abcdef0), 0xf0123456u);
  EXPECT_EQ(evaluate32("shf.l.clamp.b32 %r0, %wa, %wb, 40;", 0x12345678, 0x9abcdef0), 0x12345678u);
  EXPECT_EQ(evaluate32("shl.b32 %r0, %wa, 32;", 1), 0u);
  EXPECT_EQ(evaluate32("shr.s32 %r0, %wa, 99;", 0x80000000), 0xffffffffu);
  EXPECT_EQ(evaluate("bfe.s64 %out, %a, 4, 8;", 0xff0), ~0ull);
  EXPECT_EQ(evaluate("bfe.u64 %out, %a, %wb, %wc;", 0xabcd, 60, 9), 0u);
  EXPECT_EQ(evaluate("bfe.s64 %out, %a, %wb, %wc;", 1ull << 63, 60, 9), 0xfffffffffffffff8u);
  EXPECT_EQ(evaluate("bfi.b64 %out, %a, %b, 8, 4;", 0x5, 0xffff), 0xf5ffu);
  EXPECT_EQ(evaluate32("bfind.s32 %r0, %wa;", 0xfffffff0), 3u);
  EXPECT_EQ(evaluate32("bfind.shiftamt.u64 %r0, %a;", 1), 63u);
  EXPECT_EQ(evaluate32("bfind.u32 %r0, %wa;", 0), 0xffffffffu);
  EXPECT_EQ(evaluate("brev.b64 %out, %a;", 1), 1ull << 63);
  EXPECT_EQ(evaluate32("popc.b64 %r0, %a; clz.b64 %r1, %a; add.s32 %r0, %r0, %r1;", 0xff), 8u + 56u);
}

TEST(PtxInstructions, IntegerArithmetic) {
  EXPECT_EQ(evaluate("mul.hi.s64 %out, %a, %b;", ~0ull, 5), ~0ull);
  EXPECT_EQ(evaluate("mul.hi.u64 %out, %a, %b;", ~0ull, 5), 4u);
  EXPECT_EQ(evaluate("mad.wide.s32 %out, %wa, %wb, %c;", 0xffffffff, 7, 100), 93u);
  EXPECT_EQ(evaluate("div.s64 %out, %a, %b;", 1ull << 63, ~0ull), 1ull << 63);
  EXPECT_EQ(evaluate("div.u64 %out, %a, %b;", 7, 0), ~0ull);
  EXPECT_EQ(evaluate("rem.s64 %out, %a, %b;", std::uint64_t(-7), 4), std::uint64_t(-3));
  EXPECT_EQ(evaluate32("add.sat.s32 %r0, %wa, %wb;", 0x7fffffff, 5), 0x7fffffffu);
  EXPECT_EQ(evaluate32("sub.sat.s32 %r0, %wa, %wb;", 0x80000000, 5), 0x80000000u);
  EXPECT_EQ(evaluate32("sad.u32 %r0, %wa, %wb, %wc;", 3, 10, 100), 107u);
  EXPECT_EQ(evaluate("min.s64 %out, %a, %b;", std::uint64_t(-5), 3), std::uint64_t(-5));
  EXPECT_EQ(evaluate("min.u64 %out, %a, %b;", std::uint64_t(-5), 3), 3u);
}

TEST(PtxInstructions, CarriesRunThroughOtherInstructions) {
  EXPECT_EQ(evaluate("add.cc.u64 %rd1, %a, %b; xor.b64 %rd2, %a, %a; addc.u64 %out, %rd2, %c;", ~0ull, 1, 5), 6u);
  EXPECT_EQ(evaluate("sub.cc.u64 %rd1, %a, %b; subc.u64 %out, %c, 0;", 1, 2, 5), 4u);
  EXPECT_EQ(evaluate("sub.cc.u64 %rd1, %a, %b; addc.u64 %out, 0, 0;", 2, 1), 1u);
  EXPECT_EQ(
      evaluate32("mad.lo.cc.u32 %r1, %wa, %wb, %wc; madc.hi.u32 %r0, %wa, %wb, 0;", 0xffffffff, 0xffffffff, 0xffffffff),
      0xffffffffu);
  // 128-bit product by halves.
  EXPECT_EQ(evaluate32("mul.lo.u32 %r2, %wa, %wb; add.cc.u32 %r2, %r2, %wc; madc.hi.cc.u32 %r0, %wa, %wb, 0;", 0x10000,
                       0x10001, 0xffff0000),
            2u);
}

TEST(PtxInstructions, RoundingOfFloats) {
  const double tiny = std::ldexp(1.0, -60);
  const auto add = [&](const char* mode) {
    return evaluate(
        std::string("mov.b64 %fd1, %a; mov.b64 %fd2, %b; add.") + mode + ".f64 %fd3, %fd1, %fd2; mov.b64 %out, %fd3;",
        bits(1), bits(tiny));
  };
  EXPECT_EQ(add("rn"), bits(1));
  EXPECT_EQ(add("rz"), bits(1));
  EXPECT_EQ(add("rm"), bits(1));
  EXPECT_EQ(add("rp"), bits(std::nextafter(1.0, 2.0)));
  EXPECT_EQ(evaluate32("cvt.rp.f32.u32 %f1, %wa; mov.b32 %r0, %f1;", 16777217),
            std::bit_cast<std::uint32_t>(16777218.0f));
  EXPECT_EQ(evaluate32("cvt.rz.f32.u32 %f1, %wa; mov.b32 %r0, %f1;", 16777217),
            std::bit_cast<std::uint32_t>(16777216.0f));
  EXPECT_EQ(evaluate("mov.b64 %fd1, %a; min.f64 %fd2, %fd1, 0d0000000000000000; mov.b64 %out, %fd2;", bits(-0.0)),
            bits(-0.0));
}

TEST(PtxInstructions, ConversionsToIntegersAreClamped) {
  const auto convert = [&](const char* how, double value) {
    return std::int64_t(evaluate(std::string("mov.b64 %fd1, %a; cvt.") + how + ".f64 %out, %fd1;", bits(value)));
  };
  EXPECT_EQ(convert("rni.s64", 2.5), 2);
  EXPECT_EQ(convert("rni.s64", 3.5), 4);
  EXPECT_EQ(convert("rmi.s64", -2.5), -3);
  EXPECT_EQ(convert("rpi.s64", -2.5), -2);
  EXPECT_EQ(convert("rzi.s64", 1e30), INT64_MAX);
  EXPECT_EQ(convert("rzi.s64", -1e30), INT64_MIN);
  EXPECT_EQ(convert("rzi.u64", -3.0), 0);
  EXPECT_EQ(convert("rzi.s32", 1e10), INT32_MAX);
  EXPECT_EQ(convert("rzi.s64", std::numeric_limits<double>::quiet_NaN()), INT64_MIN);
  EXPECT_EQ(std::int32_t(convert("rzi.s32", std::numeric_limits<double>::quiet_NaN())), INT32_MIN);
  EXPECT_EQ(evaluate32("cvt.sat.u8.s32 %rs1, %wa; cvt.u32.u16 %r0, %rs1;", 300), 255u);
  EXPECT_EQ(evaluate32("cvt.sat.u8.s32 %rs1, %wa; cvt.u32.u16 %r0, %rs1;", std::uint32_t(-9)), 0u);
  EXPECT_EQ(evaluate("cvt.s64.s8 %out, %wa;", 0x1ff), ~0ull);
}

TEST(PtxInstructions, PredicatesCombine) {
  EXPECT_EQ(evaluate32("setp.eq.s32 %p3, 1, 1; setp.lt.and.s32 %p1|%p2, %wa, 5, %p3; selp.u32 %r0, 1, 0, %p1;", 3), 1u);
  EXPECT_EQ(evaluate32("setp.eq.s32 %p3, 1, 1; setp.lt.and.s32 %p1|%p2, %wa, 5, !%p3; selp.u32 %r0, 1, 0, %p1;", 3),
            0u);
  EXPECT_EQ(evaluate32("setp.eq.s32 %p3, 1, 1; setp.lt.xor.s32 %p1|%p2, %wa, 5, %p3; selp.u32 %r0, 1, 0, %p2;", 3), 1u);
  EXPECT_EQ(evaluate32("setp.hi.u32 %p1, %wa, 5; selp.u32 %r0, 1, 0, %p1;", 0xffffffff), 1u);
  EXPECT_EQ(evaluate32("slct.b32.s32 %r0, %wa, %wb, %wc;", 10, 20, std::uint32_t(-1)), 20u);
  EXPECT_EQ(evaluate32("mov.u32 %r0, 1; setp.ne.s32 %p1, %wa, 0; @%p1 mov.u32 %r0, 2; @!%p1 mov.u32 %r0, 3;", 1), 2u);
}

TEST(PtxInstructions, Vectors) {
  EXPECT_EQ(evaluate("mov.b64 {%r1, %r2}, %a; mov.b64 %out, {%r2, %r1};", 0x0123456789abcdef), 0x89abcdef01234567u);
  EXPECT_EQ(evaluate("mov.b32 {%rs1, _}, %wa; cvt.u64.u16 %out, %rs1;", 0xabcd1234), 0x1234u);
  EXPECT_EQ(evaluate("{ .local .align 16 .b8 v[16]; .reg .b64 %at; mov.u64 %at, v; st.local.v2.u64 [%at], {%a, %b}; "
                     "ld.local.u64 %out, [%at+8]; }",
                     1, 7),
            7u);
}

TEST(PtxModule, JumpTable) {
  const std::string body = R"(
    ts: .branchtargets L0, L1, L2;
    brx.idx %wa, ts;
    L0: mov.u64 %out, 100; bra.uni end;
    L1: mov.u64 %out, 101; bra.uni end;
    L2: mov.u64 %out, 102;
    end:)";
  for (std::uint64_t n = 0; n < 3; n++) EXPECT_EQ(evaluate(body, n), 100 + n);
  EXPECT_THROW(evaluate(body, 3), Error);
}

constexpr const char* kCalls = R"(
.func (.param .b32 result) triple(.param .b32 value);
.global .align 8 .u64 table[2] = {triple, quadruple};
.global .align 4 .u32 numbers[4] = {10, 20, 30, 40};
.global .align 8 .u64 third = generic(numbers)+8;
.func (.param .b32 result) triple(.param .b32 value)
{ .reg .b32 %x; ld.param.u32 %x, [value]; mul.lo.s32 %x, %x, 3; st.param.b32 [result+0], %x; ret; }
.func (.param .b32 result) quadruple(.param .b32 value)
{ .reg .b32 %x; ld.param.u32 %x, [value]; shl.b32 %x, %x, 2; st.param.b32 [result+0], %x; ret; }
.visible .entry k(.param .u64 to, .param .u32 which, .param .u32 value)
{
  .reg .b64 %rd<9>; .reg .b32 %r<9>;
  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [which]; ld.param.u32 %r2, [value];
  mul.wide.u32 %rd2, %r1, 8; mov.u64 %rd3, table; add.s64 %rd2, %rd3, %rd2; ld.global.u64 %rd4, [%rd2];
  { // call
    .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (retval0), %rd4, (param0), prototype;
    ld.param.b32 %r3, [retval0+0];
  }
  ld.global.u64 %rd5, [third]; ld.u32 %r4, [%rd5]; add.s32 %r3, %r3, %r4;
  st.global.u32 [%rd1], %r3;
  ret;
})";

TEST(PtxModule, IndirectCallsAndAddressesInTables) {
  const Module module(std::string(kHeader) + kCalls);
  for (std::uint32_t which = 0; which < 2; which++) {
    std::uint32_t result = 0, value = 5;
    std::uint32_t* to = &result;
    const void* arguments[] = {&to, &which, &value};
    module.launch("k", {}, arguments);
    EXPECT_EQ(result, (which == 0 ? 15u : 20u) + 30u);
  }
  EXPECT_EQ(module.kernel_names(), std::vector<std::string>{"k"});
  EXPECT_EQ(module.find_variable("numbers")->bytes, 16u);
}

TEST(PtxModule, NamedBarriersOfSomeWarps) {
  const Module module(std::string(kHeader) + R"(.visible .entry k(.param .u64 to)
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<3>; .shared .align 4 .b32 box;
  ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra second;
  st.shared.u32 [box], 41; bar.arrive 3, 64; ret;
second: bar.sync 3, 64; ld.shared.u32 %r2, [box]; add.s32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; ret;
})");
  std::uint32_t result = 0;
  std::uint32_t* to = &result;
  const void* arguments[] = {&to};
  module.launch("k", {.grid = {}, .block = {64}}, arguments);
  EXPECT_EQ(result, 42u);
}

TEST(PtxModule, ThreadsThatSpinLetOthersRun) {
  const Module module(std::string(kHeader) + R"(.visible .entry k()
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .shared .align 4 .b32 flag;
  mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @!%p1 bra wait; st.shared.u32 [flag], 0;
wait: bar.sync 0; setp.eq.u32 %p1, %r1, 63; @%p1 bra set;
spin: ld.volatile.shared.u32 %r2, [flag]; setp.eq.s32 %p2, %r2, 0; @%p2 bra spin; ret;
set: st.volatile.shared.u32 [flag], 1; ret;
})");
  EXPECT_GT(module.launch("k", {.grid = {}, .block = {64}}, {}), 64u);
}

}  // namespace
}  // namespace strom::ptx
