# shellcheck shell=bash
# ./strom gpu-check: one run over a machine with a GPU, and the bundle for machines that can install nothing. Sourced
# by ./strom. docs/dev/gpu-check.md.

BUNDLE_ARCHITECTURES=90  # H100, H200; another machine's by --architectures
BUNDLE_PYTHON=3.12       # of the machine that the bundle is for

# gpu_check [--pack FILE [--architectures LIST] [--python VERSION]] | [--bundle FILE] [--module FILE] [options of
# check.py]
gpu_check() {
  local pack="" bundle="" module="" out="" architectures=$BUNDLE_ARCHITECTURES python=$BUNDLE_PYTHON more=()
  take_options gpu-check "pack bundle module out architectures python" "$@"
  if [[ -n $pack ]]; then
    pack_bundle "$(realpath -m -- "$pack")" "$architectures" "$python"
  elif [[ -n $bundle ]]; then
    check_from_bundle "$(realpath -- "$bundle")" "$(check_output "$out")" "$module" "${more[@]}"
  else
    check_from_build "$(check_output "$out")" "$module" "${more[@]}"
  fi
}

check_output() { realpath -m -- "${1:-$STROM_ROOT/bench/results/gpu-$(date -u +%Y-%m-%d).json}"; }

# build_for_gpu ARCHITECTURES: everything, with the CUDA module and the test programs.
build_for_gpu() {
  GPU_ARCHITECTURES=$1 build --tests --cuda
  setup --peers
}

# device_architecture: of the GPUs that the driver shows, as nvcc counts: 90; or what GPU_ARCHITECTURES asks for.
device_architecture() {
  if [[ -n ${GPU_ARCHITECTURES:-} ]]; then
    printf '%s' "$GPU_ARCHITECTURES"
    return
  fi
  { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } | tr -d . | sort -u | paste -sd ';'
}

# check_from_build OUT MODULE OPTION…: on a machine where packages can be installed.
check_from_build() {
  local out=$1 module=$2 architecture
  shift 2
  architecture=$(device_architecture)
  [[ -n $architecture || -n $module ]] || die "no GPU: nvidia-smi shows none (with --module FILE another device is checked)"
  build_for_gpu "${architecture:-$BUNDLE_ARCHITECTURES}"
  run_check "$STROM_LOCAL/venv/bin/python3" "$STROM_ROOT/build" "$(private_pg bindir)" "$(server_user)" "$STROM_STATE/data/ssb" \
    "$out" "${module:-$STROM_ROOT/build/src/device/pg_strom_cuda.so}" "$@"
}

# run_check PYTHON BUILD BINDIR USER DATA OUT MODULE OPTION…
run_check() {
  local python=$1 build=$2 bindir=$3 user=$4 data=$5 out=$6 module=$7
  shift 7
  "$python" "$STROM_ROOT/bench/gpu/check.py" --build-dir "$build" --pg-bindir "$bindir" --server-user "$user" \
    --data-dir "$data" --out "$out" --module "$module" "$@"
}

# pack_bundle FILE ARCHITECTURES PYTHON: what check_from_bundle needs, all of it made here, in one compressed archive.
pack_bundle() {
  local file=$1 folder name
  build_for_gpu "$2"
  folder=$(mktemp -d)
  mkdir -p "$folder"/{pg,lib,python,build/test/unit,build/test/modules,build/bench/ssb}
  # The server without what no check uses: just-in-time compilation, translations, documentation, PostGIS, languages, the
  # tools, and the installed copy of the CUDA module, of which the bundle has its own.
  local unused=('*postgis*' '*address_standardizer*' '*/bitcode' '*/llvmjit*' '*/locale' '*/pgxs' '*/man' '*/doc'
    '*plpython3*' '*plperl*' '*pltcl*' '*/pg_strom_parquet.so' '*/pg_strom_cuda.so' '*/usr/local/bin')
  tar -C "$STROM_STATE/pg" "${unused[@]/#/--exclude=}" -cf - . | tar -C "$folder/pg" -xf -
  for name in device/device_test service/service_test engine/engine_test engine/pages_test; do
    install -D -s "$STROM_ROOT/build/test/unit/$name" "$folder/build/test/unit/$name"
  done
  install -s "$STROM_ROOT/build/test/modules/strom_host_device.so" "$folder/build/test/modules/"
  install -s "$STROM_ROOT/build/bench/ssb/ssbgen" "$folder/build/bench/ssb/"
  install -s "$STROM_ROOT/build/src/device/pg_strom_cuda.so" "$folder/"
  bundle_libraries "$folder"
  "$STROM_LOCAL/venv/bin/python3" -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
    --python-version "$3" --implementation cp --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    -d "$folder/wheels" psycopg psycopg-binary typing_extensions
  for name in "$folder"/wheels/*.whl; do
    "$STROM_LOCAL/venv/bin/python3" -m zipfile -e "$name" "$folder/python"
  done
  rm -rf "$folder/wheels"
  chmod 755 "$folder"
  mkdir -p "$(dirname "$file")"
  tar -C "$folder" -cf - . | xz -T0 -6 >"$file"
  rm -rf "$folder"
  say "$file: $(du -h "$file" | cut -f1), for $(uname -m), GPUs $2, Python $3"
}

# bundle_libraries FOLDER: the shared libraries that its programs need, without those of the compiler and the C library,
# which belong to the machine.
bundle_libraries() {
  local folder=$1
  # Scripts are among them, for which ldd fails.
  { find "$folder" -type f \( -perm -u+x -o -name '*.so' \) -exec ldd {} + 2>/dev/null || true; } |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE "^$folder|/(libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so" |
    xargs -r cp -Lt "$folder/lib"
}

# check_from_bundle FILE OUT MODULE OPTION…: nothing is installed, and nothing changes outside of a new folder.
check_from_bundle() {
  local file=$1 out=$2 module=$3 folder user=postgres
  shift 3
  folder=$(mktemp -d /var/tmp/strom-gpu-check-XXXXXX)
  say "unpacking $file to $folder"
  python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$file" "$folder"
  chmod 755 "$folder"
  if ! is_root; then
    user=$(id -un)
  elif ! getent passwd "$user" >/dev/null; then
    user=nobody
  fi
  export LD_LIBRARY_PATH=$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PYTHONPATH=$folder/python
  # Programs of the machine, Python among them, were built for the machine's own libraries: these take precedence.
  local library bindir rc=0
  for library in "$folder"/lib/*; do
    [[ $(ldconfig -p) != *"$(basename "$library") "* ]] || rm "$library"
  done
  bindir=$(dirname "$(find "$folder/pg" -name initdb -perm -u+x)")
  run_check python3 "$folder/build" "$bindir" "$user" "$folder/data" "$out" "${module:-$folder/pg_strom_cuda.so}" "$@" || rc=$?
  rm -rf "$folder"
  return "$rc"
}
