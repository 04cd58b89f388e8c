# shellcheck shell=bash
# ./strom package. Sourced by ./strom.

# package python [--out FOLDER]: the Python package as a wheel, for any Python from 3.9 on.
package() {
  [[ ${1:-} == python ]] || die "usage: ./strom package python [--out FOLDER]"
  local out=$STROM_ROOT/dist more=()
  take_options package out "${@:2}"
  ((${#more[@]} == 0)) || die "usage: ./strom package python [--out FOLDER]"
  setup --peers
  # pip builds in the sources' folder, where nothing is to be left behind.
  local copy
  copy=$(mktemp -d)
  cp -r "$STROM_ROOT/python/." "$copy"
  "$STROM_LOCAL/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$out" "$copy" ||
    { rm -rf "$copy"; die "pip could not make the wheel"; }
  rm -rf "$copy"
  say "the wheel is in $out"
}
