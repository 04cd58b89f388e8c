// Whether a reader of files reads ahead the columns that it hands out. Used by src/format/arrow, and by code that reads
// the bytes in another way.
#pragma once

namespace strom::base {

/// While it lives, readers do not read ahead columns of fixed width of mapped files that they hand out to this thread:
/// the thread decides how to read them before it looks at them.
class NoReadAhead {
 public:
  explicit NoReadAhead(bool is_wanted) : before_(active) { active = before_ || is_wanted; }
  ~NoReadAhead() { active = before_; }
  NoReadAhead(const NoReadAhead&) = delete;
  NoReadAhead& operator=(const NoReadAhead&) = delete;

  static bool is_active() { return active; }

 private:
  static inline thread_local bool active = false;
  const bool before_;
};

}  // namespace strom::base
