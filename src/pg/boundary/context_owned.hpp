// A C++ object owned by a PostgreSQL memory context. It is destroyed when the context is reset or deleted, on success
// and on error alike. For the plain structs that PostgreSQL sees (scan states, callback arguments): they cannot hold
// objects with destructors.
#pragma once

#include <memory>
#include <utility>

#include "pg/boundary/boundary.hpp"

namespace strom::pg::boundary {

/// Plain handle to the object. T's destructor must not throw and must not call PostgreSQL.
template <class T>
class ContextOwned {
 public:
  T* get() const { return slot_ != nullptr ? slot_->object : nullptr; }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }

  /// Hands `object` to `context`. May throw.
  static ContextOwned adopt(MemoryContext context, std::unique_ptr<T> object) {
    Slot* slot = guard([context] { return static_cast<Slot*>(MemoryContextAllocZero(context, sizeof(Slot))); });
    slot->object = object.release();
    slot->callback.func = [](void* argument) { static_cast<Slot*>(argument)->destroy(); };
    slot->callback.arg = slot;
    MemoryContextRegisterResetCallback(context, &slot->callback);  // links a list node, cannot fail
    ContextOwned owned;
    owned.slot_ = slot;
    return owned;
  }

  /// Constructs a T in `context`'s care. May throw.
  template <class... Args>
  static ContextOwned make(MemoryContext context, Args&&... args) {
    return adopt(context, std::make_unique<T>(std::forward<Args>(args)...));
  }

  /// Destroys the object before its context is reset or deleted.
  void reset() {
    if (slot_ != nullptr) slot_->destroy();
    slot_ = nullptr;
  }

 private:
  struct Slot {
    MemoryContextCallback callback;
    T* object;
    void destroy() {
      T* doomed = object;
      object = nullptr;
      delete doomed;
    }
  };
  Slot* slot_ = nullptr;
};

}  // namespace strom::pg::boundary
