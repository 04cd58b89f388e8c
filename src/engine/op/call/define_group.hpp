// Defines execute_group() for one group of functions. Included by engine/op/call/GROUP.hpp, behind the headers of the
// group's functors, with STROM_GROUP and STROM_GROUP_ROWS (the file of its rows) defined; hence no include guard.
#include "engine/op/call/kernel.hpp"

namespace strom::engine::op::STROM_GROUP {

enum Member : uint16_t {
#define STROM_FUNCTION(name, ...) name,
#define STROM_FUNCTION3(name, ...) name,
#define STROM_EXTRACT(name, ...) name,
#include STROM_GROUP_ROWS
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
};

/// Executes `instr`, which calls row `member` of the group.
template <class P>
STROM_KERNEL void execute_group(const P& p, TileState& s, const TileInstr& instr, uint16_t member) {
  using namespace registry;
  using namespace expr;
  switch (static_cast<Member>(member)) {
#define STROM_FUNCTION(name, pg_name, result, nargs, a, b, functor, traits)                              \
  case Member::name:                                                                                     \
    call<P, functor, nargs, TypeId::result, TypeId::a, TypeId::b, TypeId::kBool, (traits)>(p, s, instr); \
    break;
#define STROM_FUNCTION3(name, pg_name, result, a, b, c, functor, traits) \
  case Member::name: call<P, functor, 3, TypeId::result, TypeId::a, TypeId::b, TypeId::c, (traits)>(p, s, instr); break;
#define STROM_EXTRACT(name, pg_name, result, source, field, functor, traits)                                  \
  case Member::name:                                                                                          \
    call<P, functor, 1, TypeId::result, TypeId::source, TypeId::kBool, TypeId::kBool, (traits)>(p, s, instr); \
    break;
#include STROM_GROUP_ROWS
#undef STROM_FUNCTION
#undef STROM_FUNCTION3
#undef STROM_EXTRACT
  }
}

}  // namespace strom::engine::op::STROM_GROUP

#undef STROM_GROUP
#undef STROM_GROUP_ROWS
