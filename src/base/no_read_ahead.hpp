// Whether a reader of files is to read ahead what it hands out. Used by src/format/arrow, and by who reads it
// otherwise.
#pragma once

namespace strom::base {

/// While it lives, readers do not read ahead what they hand out to this thread and nobody looks at before it decides
/// how to read it: columns of fixed width in mapped files.
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
