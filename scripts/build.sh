# shellcheck shell=bash
# ./strom build: CMake and Ninja, then an installation into the private PostgreSQL tree. Sourced by ./strom.

# build [--debug|--asan|--tsan] [--tests] [--cuda]
# Sanitizer builds hold the libraries and their unit tests alone: a server is not started under a sanitizer.
build() {
  local preset=release tests=OFF options=() targets=() needs=() architectures
  while (($#)); do
    case $1 in
      --debug) preset=debug ;;
      --asan | --tsan) preset=${1#--} tests=ON ;;
      --tests) tests=ON ;;
      --cuda) needs=(--cuda) options+=(-DSTROM_CUDA_EMULATION=ON) ;;
      *) die "build: unknown option $1" ;;
    esac
    shift
  done
  # The CUDA module where there is a GPU; tests see to it that it compiles, for one architecture.
  architectures=$(device_architecture)
  [[ -z $architectures ]] || needs=(--cuda)
  [[ ! $preset == @(asan|tsan) && -z ${STROM_SERVER:-} ]] || needs=()
  ((${#needs[@]} == 0)) || options+=(-DSTROM_CUDA=ON "-DSTROM_CUDA_ARCHITECTURES=${architectures:-$BUNDLE_ARCHITECTURES}"
    "-DSTROM_CUDA_ROOT=$STROM_LOCAL/cuda")
  setup "${needs[@]}"
  cd "$STROM_ROOT" || die "no $STROM_ROOT"
  [[ $preset == asan || $preset == tsan ]] || options+=(-DPG_CONFIG="$(command -v "$PG_CONFIG")" "-DSTROM_PYARROW=$(pyarrow_dir)"
    -DSTROM_PYARROW_RUNPATH=OFF)
  if [[ -n ${STROM_SERVER:-} ]]; then
    # What does not depend on PostgreSQL was built and tested once, for the system's.
    options+=(-B "$(build_dir "$preset")" -DSTROM_TOOLS=OFF)
    targets=(pg_strom pg_strom_sql stromkv)
    [[ $tests == OFF ]] || targets+=(boundary_test table_kind_test plan_spec_test strom_host_device strom_fake_cufile ssbgen
                                      arrow_append_loop)
  fi
  # `make install` installs what `make` has built.
  rm -f "$(build_dir "$preset")/made_by_make"
  local log=$STROM_LOCAL/configure-$preset.log cache from
  cache=$(build_dir "$preset")/CMakeCache.txt
  if [[ -f $cache ]]; then
    from=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
    [[ $from -ef $STROM_ROOT ]] || die "${cache%/*} was made in $from, of which this is a copy: run ./strom clean first"
  fi
  if ! cmake --preset "$preset" -DSTROM_TESTS="$tests" "${options[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    die "cmake failed"
  fi
  if [[ -n ${STROM_SERVER:-} ]]; then
    cmake --build "$(build_dir "$preset")" --target "${targets[@]}" || die "the build failed"
  else
    cmake --build --preset "$preset" || die "the build failed"
  fi
  case $preset in release | debug) install_private "$(build_dir "$preset")" ;; esac
}

# pyarrow_dir: the folder of pyarrow in the Python environment, which has libparquet; nothing where it is not installed.
pyarrow_dir() { compgen -G "$STROM_LOCAL/venv/lib/python3*/site-packages/pyarrow" | head -n 1 || true; }

build_dir() {
  local name=build
  [[ $1 == release ]] || name+=-$1
  printf '%s/%s%s' "$STROM_ROOT" "$name" "${STROM_SERVER:+-pg$STROM_SERVER}"
}

# copy_private_pg: the private tree follows the system's PostgreSQL. PostgreSQL finds its files relative to its
# program, so a copy works anywhere. Files that are installed into the copy leave the system's as it is.
copy_private_pg() {
  local tree=$STROM_STATE/pg home share listing
  home=$(dirname "$(system_pg bindir)")
  share=$(system_pg sharedir)
  listing=$(find "$home" "$share" -printf '%p %s %T@\n' | sort | sha256sum)
  [[ -f $tree/source.sha256 && $(<"$tree/source.sha256") == "$listing" ]] && return
  say "copying PostgreSQL ($("$PG_CONFIG" --version)) to $tree"
  cluster_stop main
  rm -rf "$tree"
  mkdir -p "$tree$(dirname "$home")" "$tree$(dirname "$share")"
  cp -a --no-preserve=ownership "$home" "$tree$(dirname "$home")/"
  [[ -d $tree$share ]] || cp -a --no-preserve=ownership "$share" "$tree$(dirname "$share")/"
  local found
  found=$("$(private_pg bindir)/pg_config" --pkglibdir)
  [[ $found -ef $(private_pg pkglibdir) ]] || die "the copied PostgreSQL still looks for its files in $found"
  printf '%s\n' "$listing" >"$tree/source.sha256"
}

# install_private BUILD: a cluster that runs on other files than the new ones is stopped; it starts again when used.
install_private() {
  copy_private_pg
  local before after
  before=$(installed_files)
  DESTDIR=$STROM_STATE/pg cmake --install "$1" >"$STROM_LOCAL/install.log" || die "the installation failed"
  # The Parquet module looks for its libraries beside itself. The server's user may not be able to enter the checkout.
  if [[ -n $(pyarrow_dir) && -f $(private_pg pkglibdir)/pg_strom_parquet.so ]]; then
    local put=(cp -u)
    [[ $STROM_STATE != "$STROM_LOCAL"* ]] || put=(ln -sfn)
    "${put[@]}" "$(pyarrow_dir)"/lib{arrow,parquet}.so.[0-9]* "$(private_pg pkglibdir)/"
  fi
  after=$(installed_files)
  if [[ $before != "$after" ]] && cluster_is_running main; then
    say "the extension changed: stopping the private cluster"
    cluster_stop main
  fi
}

installed_files() {
  find "$(private_pg pkglibdir)" "$(private_pg sharedir)/extension" -name '*strom*' -type f -exec sha256sum {} + | sort
}
