// The forms of Datums in columns and on pages: one for each row of registry/datum_forms.def.
#pragma once

#include "columnar/heap_page.hpp"
#include "columnar/layout.hpp"
#include "registry/types.hpp"

namespace strom::columnar {

/// The layout in which values of SQL types of this form are collected.
constexpr Layout layout_of(registry::DatumForm form) {
  constexpr Layout kLayouts[] = {
#define STROM_DATUM_FORM(name, length, phys, layout, storage) Layout::layout,
#include "registry/datum_forms.def"
#undef STROM_DATUM_FORM
  };
  return kLayouts[static_cast<int>(form)];
}

/// How values of SQL types of this form become registers when they are read from pages.
constexpr heap::Storage storage_of(registry::DatumForm form) {
  constexpr heap::Storage kStorages[] = {
#define STROM_DATUM_FORM(name, length, phys, layout, storage) heap::Storage::storage,
#include "registry/datum_forms.def"
#undef STROM_DATUM_FORM
  };
  return kStorages[static_cast<int>(form)];
}

}  // namespace strom::columnar
