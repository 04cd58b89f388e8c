# shellcheck shell=bash
# ./strom test: runs every part of test/ that is there, prints each runner's own lines, and adds the counts up.
# Sourced by ./strom. What a part must look like is in docs/dev/building.md.

show_test_help() {
  cat <<'HELP'
usage: ./strom test [OPTIONS]

  --filter X     only tests whose name contains X
  --part NAME    only this part: style, unit, regress, tap, diff, tools, seeds (may be repeated)
  --tidy-all     the part style with clang-tidy over every file, not only over those that changed last
  --seconds N    length of the random differential test (default 120)
  --seed S       of the random differential test, or `clock`; a fixed one by default, so that every run asks the same
  --long         the random differential test for two hours, with a seed by the clock
  --asan         also the unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
  --tsan         also the unit tests under ThreadSanitizer
  --pg N         on PostgreSQL 16, 17 or 18, which is fetched first: the parts regress and tap
  --pg-regress   PostgreSQL's own regression suite with the engine's plans forced, instead of all else
  --postgis-regress  PostGIS's own regression queries, with the engine's plans forced and without, instead of all else
  --sqlsmith N   sqlsmith's random statements for N seconds, instead of all else
  --mysql        mysql2arrow on a real MySQL server, which is fetched first, instead of all else; as root
  --rdma         reads of store tables by RDMA, in a virtual machine that has a device, instead of all else; as root
  --kills N      fluent2arrow and the plugin of Fluentd killed N times each, instead of all else
  --crashes N    N crashes of a server while sessions change a store table, instead of all else
  --power-cuts N Arrow files on file systems that go down under writers N times, instead of all else; as root
  --fuzz N       also each libFuzzer target for N seconds
HELP
}

TEST_PARTS=(style unit regress tap diff tools seeds)
STYLE_PACKAGES=(clang-format-19 clang-tidy-19 shellcheck)
# What the part tools needs besides. The MariaDB server is the tests' own; the package's is not started.
TOOLS_PACKAGES=(iproute2 mariadb-server openssl postgresql-15-postgis-3 postgresql-plpython3-15 python3-numpy bcftools tabix ruby)
EXTRA_PARTS=(pg_regress postgis_regress sqlsmith mysql rdma)
style_options=()
tests_passed=0
tests_failed=0

run_tests() {
  local filter="" seconds=120 seed=1 parts=() fuzz=0 sanitizers=() server=""
  while (($#)); do
    case $1 in
      --filter) filter=${2:?--filter needs a value} && shift ;;
      --part) parts+=("${2:?--part needs a value}") && shift ;;
      --seconds) seconds=${2:?--seconds needs a value} && shift ;;
      --fuzz) fuzz=${2:?--fuzz needs a value} && shift ;;
      --tidy-all) style_options+=(--tidy-all) ;;
      --pg-regress) parts=(pg_regress) ;;
      --postgis-regress) parts=(postgis_regress) ;;
      --sqlsmith) seconds=${2:?--sqlsmith needs a value} parts=(sqlsmith) && shift ;;
      --mysql) parts=(mysql) ;;
      --rdma) parts=(rdma) ;;
      --kills) export STROM_KILLS=${2:?--kills needs a value} && parts=(tools) filter=fluent_kills && shift ;;
      --crashes) export STROM_STORE_ROUNDS=${2:?--crashes needs a value} && parts=(tap) filter=store_crash && shift ;;
      --power-cuts) export STROM_POWER_CUTS=${2:?--power-cuts needs a value} && parts=(tap) filter=arrow_power_cuts && shift ;;
      --pg) server=${2:?--pg needs a value} && shift ;;
      --seed) seed=${2:?--seed needs a value} && shift ;;
      --long) seconds=7200 seed=clock ;;
      --asan | --tsan) sanitizers+=("${1#--}") ;;
      -h | --help) show_test_help && return ;;
      *) show_test_help >&2 && die "test: unknown option $1" ;;
    esac
    shift
  done
  if [[ -n $server ]]; then
    # pg_upgrade, which test/tap/upgrade.py tries, comes from the system's version.
    if [[ test/tap/upgrade.py == *"$filter"* ]]; then
      "$STROM_ROOT/strom" build || die "the build for $PG_CONFIG failed"
      export STROM_OLD_PG_BINDIR
      STROM_OLD_PG_BINDIR=$(private_pg bindir)
    fi
    unset STROM_STATE
    use_server "$server"
    ((${#parts[@]})) || parts=(regress tap)
  fi
  ((${#parts[@]})) || parts=("${TEST_PARTS[@]}")
  local name
  for name in "${parts[@]}"; do
    [[ " ${TEST_PARTS[*]} ${EXTRA_PARTS[*]} " == *" $name "* ]] || die "test: no part $name; there are ${TEST_PARTS[*]}"
  done
  cd "$STROM_ROOT" || die "no $STROM_ROOT"
  # Programs for tests are built only when a part of this run needs them, the CUDA kernels for the system's server alone.
  local tests=() cuda=()
  [[ " ${parts[*]} " =~ \ (unit|tap|diff|tools|mysql|rdma|seeds)\  ]] && tests=(--tests)
  [[ -n $server || " ${parts[*]} " =~ ^\ (regress|tap|pg_regress|postgis_regress|sqlsmith|rdma|style)\ $ ]] || cuda=(--cuda)
  setup "${cuda[@]}" --peers
  [[ ! " ${parts[*]} " =~ \ (regress|postgis_regress|diff|tools|mysql|seeds)\  ]] || require_packages "${TOOLS_PACKAGES[@]}"
  [[ " ${parts[*]} " != *" style "* ]] || require_packages "${STYLE_PACKAGES[@]}"
  prepare_test_folder
  trap test_cleanup EXIT
  # In a process of its own, because a build that fails must not end the run. The style is checked of what is built.
  [[ ${parts[*]} == style && -f build/compile_commands.json ]] ||
    "$STROM_ROOT/strom" build "${tests[@]}" "${cuda[@]}" || count_one "build" 1
  for name in "${parts[@]}"; do
    timed "$name" "test_$name" "$filter" "$seconds" "$seed"
  done
  for name in "${sanitizers[@]}"; do
    timed "$name" test_sanitized "$name" "$filter"
  done
  ((fuzz == 0)) || timed fuzz test_fuzz "$fuzz" "$filter"
  printf '\n%d passed, %d failed\n' "$tests_passed" "$tests_failed"
  ((tests_passed + tests_failed > 0)) || die "no test matches"
  ((tests_failed == 0))
}

timed() {
  local begin=$SECONDS
  printf '\n== %s\n' "$1"
  "${@:2}"
  printf '== %s: %d s\n' "$1" $((SECONDS - begin))
}

count() {
  tests_passed=$((tests_passed + $1))
  tests_failed=$((tests_failed + $2))
}

# count_one NAME STATUS: a test that is known by its exit status alone.
count_one() {
  if (($2 == 0)); then
    printf 'ok      %s\n' "$1"
    count 1 0
  else
    printf 'FAILED  %s (status %d)\n' "$1" "$2"
    count 0 1
  fi
}

prepare_test_folder() {
  prepare_state
  exec 9>"$STROM_LOCAL/test.lock"
  flock -n 9 || die "another ./strom test is running in this checkout"
  TEST_DIR=$STROM_STATE/test
  cluster_stop test
  rm -rf "$TEST_DIR"
  mkdir -p "$TEST_DIR"
}

test_cleanup() {
  cluster_stop test
  mysql_stop
  ((tests_failed > 0)) || rm -rf "$TEST_DIR"
}

# test_server: the tests' cluster is up and answers; called before each part, since a test may have crashed it.
test_server() {
  cluster_is_running test || (cluster_start test) || return 1
  export PGHOST PGPORT PGUSER=postgres PGDATABASE=postgres
  PGHOST=$(socket_dir)
  PGPORT=$(cluster_port test)
  # What the parts may rely on besides: see docs/dev/building.md.
  export STROM_BUILD_DIR STROM_TEST_DIR=$TEST_DIR/tmp STROM_PG_BINDIR STROM_DATA_DIR
  export STROM_SERVER_USER STROM_PG_CONFIG=$PG_CONFIG STROM_PRIVATE_PG=$STROM_STATE/pg
  STROM_BUILD_DIR=$(build_dir release)
  STROM_PG_BINDIR=$(private_pg bindir)
  STROM_DATA_DIR=$(cluster_dir test)
  STROM_SERVER_USER=$(server_user)
  mkdir -p "$STROM_TEST_DIR"
}

# with_test_environment COMMAND…: the private programs and the Python environment come first in PATH.
with_test_environment() {
  PATH=$STROM_PG_BINDIR:$STROM_LOCAL/venv/bin:$PATH "$@"
}

# logged FILE COMMAND…: shows the output and keeps it; returns the command's status.
logged() {
  local log=$1
  shift
  "$@" </dev/null 2>&1 | tee "$log"
  return "${PIPESTATUS[0]}"
}

# Rules of the source that a program can check. clang-tidy needs the build's compile commands and generated headers.
test_style() {
  local options=("${style_options[@]}")
  [[ -z $1 ]] || options+=(--filter "$1")
  local rc=0
  PATH=$STROM_LOCAL/venv/bin:$PATH logged "$TEST_DIR/style.log" "$STROM_ROOT/test/style/run" "${options[@]}" || rc=$?
  count_last_line style "$TEST_DIR/style.log" "$rc"
}

test_unit() { run_ctest "$STROM_ROOT/build" "$1"; }

# run_ctest BUILD FILTER
run_ctest() {
  local log=$TEST_DIR/ctest.log rc=0 options=(--no-tests=error)
  [[ -z $2 ]] || options=(--no-tests=ignore -R "$2")
  logged "$log" ctest --test-dir "$1" --output-on-failure --timeout 600 -j "$(nproc)" "${options[@]}" || rc=$?
  if [[ $(tail -n 200 "$log") =~ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
    count $((BASH_REMATCH[2] - BASH_REMATCH[1])) "${BASH_REMATCH[1]}"
  elif ((rc != 0)) || [[ -z $2 ]]; then
    count_one ctest $((rc == 0 ? 1 : rc))
  fi
  # Kernels that are in the tree but were not built would go untested in silence.
  if [[ -z $2 && $1 == "$STROM_ROOT/build" && -n $(find "$STROM_ROOT/src" -name '*.cu' -print -quit) ]] &&
    ! ctest --test-dir "$1" -N -L cuda | grep -qE 'Total Tests: [1-9]'; then
    count_one "CUDA kernels have a test with the label cuda" 1
  fi
}

test_regress() {
  local sources=$STROM_ROOT/test rc=0
  compgen -G "$sources/sql/*.sql" >/dev/null || return 0
  check_schedule
  local names=()
  mapfile -t names < <(scheduled_tests | grep -F -- "$1")
  ((${#names[@]})) || return 0
  test_server || { count_one "regress: server" 1 && return; }
  # The server's user runs pg_regress, on copies that it can read whatever the checkout's permissions are.
  local input=$TEST_DIR/regress/input output=$TEST_DIR/regress/output log=$TEST_DIR/regress.log part
  mkdir -p "$input" "$output"
  for part in sql expected data; do
    [[ ! -d $sources/$part ]] || cp -RL "$sources/$part" "$input/"
  done
  ! is_root || chown -R "$(server_user):" "$TEST_DIR/regress"
  local tests=("${names[@]}")
  [[ -n $1 ]] || tests=(--schedule="$input/schedule")
  cp "$sources/schedule" "$input/"
  local runner
  runner=$(dirname "$(private_pg pgxs)")/../../src/test/regress/pg_regress
  # Later versions sort for DISTINCT in an aggregate, which is another plan than the expected one.
  local settings=""
  [[ -z ${STROM_SERVER:-} ]] || settings="-c enable_presorted_aggregate=off"
  PGOPTIONS=$settings logged "$log" as_server "$runner" --inputdir="$input" --outputdir="$output" --bindir="$STROM_PG_BINDIR" \
    --host="$PGHOST" --port="$PGPORT" --user=postgres --dbname=contrib_regression --load-extension=pg_strom \
    "${tests[@]}" || rc=$?
  if [[ -n ${STROM_SERVER:-} ]]; then
    run_counted "test/versions.py" "$sources/versions.py" "$input/expected" "$output/results" "${names[@]}"
    return
  fi
  count_regress "$log" "$rc"
  [[ ! -s $output/regression.diffs ]] || head -n 300 "$output/regression.diffs"
}

# count_regress LOG STATUS
count_regress() {
  if grep -qE 'All [0-9]+ tests passed' "$1"; then
    count "$(sed -nE 's/.*All ([0-9]+) tests passed.*/\1/p' "$1")" 0
  elif grep -qE '[0-9]+ of [0-9]+ tests failed' "$1"; then
    local failed all
    read -r failed all < <(sed -nE 's/.*[^0-9]([0-9]+) of ([0-9]+) tests failed.*/\1 \2/p' "$1")
    count $((all - failed)) "$failed"
  else
    count_one pg_regress $(($2 == 0 ? 1 : $2))
  fi
}

scheduled_tests() { sed -nE 's/^test:[[:space:]]*//p' "$STROM_ROOT/test/schedule" | tr -s ' ' '\n'; }

# A file that the schedule does not name would never run.
check_schedule() {
  local file name
  for file in "$STROM_ROOT"/test/sql/*.sql; do
    name=$(basename "$file" .sql)
    scheduled_tests | grep -qxF "$name" || count_one "test/schedule names $name" 1
  done
}

test_tap() {
  local files=() log=$TEST_DIR/prove.log rc=0 file
  for file in test/tap/*; do  # would never run
    if [[ -f $file && ! -x $file && $(head -c 2 "$file") == '#!' ]]; then count_one "$file is executable" 1; fi
  done
  mapfile -t files < <(find test/tap -maxdepth 1 \( -name '*.sh' -o -name '*.py' \) -executable 2>/dev/null |
    grep -F -- "$1" | sort)
  ((${#files[@]})) || return 0
  test_server || { count_one "tap: server" 1 && return; }
  logged "$log" with_test_environment prove --timer "${files[@]}" || rc=$?
  count_prove "$log" "$rc"
}

# count_prove LOG STATUS: a file that died or broke its plan counts as one failure even if each line it printed is ok.
count_prove() {
  local all failed
  all=$(sed -nE 's/^Files=[0-9]+, Tests=([0-9]+),.*/\1/p' "$1")
  if [[ -z $all ]]; then
    count_one prove $(($2 == 0 ? 1 : $2))
    return
  fi
  failed=$(sed -nE 's/.*\(Wstat: .* Tests: [0-9]+ Failed: ([0-9]+)\).*/\1/p' "$1" |
    awk '{lines += $1; broken += $1 == 0} END {print lines + 0, broken + 0}')
  local lines=${failed% *} broken=${failed#* }
  (($2 == 0 || lines + broken > 0)) || broken=1
  count $((all - lines)) $((lines + broken))
}

test_diff() {
  local runner=$STROM_ROOT/test/diff/run
  [[ -e $runner && diff == *"$1"* ]] || return 0
  test_server || { count_one "diff: server" 1 && return; }
  local seed=()
  [[ $3 == clock ]] || seed=(--seed "$3")
  run_counted test/diff/run "$runner" --seconds "$2" "${seed[@]}"
  run_counted test/diff/geometry "$STROM_ROOT/test/diff/geometry" --seconds $(($2 / 4)) "${seed[@]}" \
    --conninfo "host=$PGHOST port=$PGPORT user=postgres dbname=postgres"
  # The same through the GPU service: on a device that is as fast as the CPU, and on the CUDA module over interpreted
  # kernels. Copied to where the server's user can read them.
  local module
  for module in test/modules/strom_host_device.so test/unit/device/strom_device_emulated.so; do
    install -m 0755 "$STROM_BUILD_DIR/$module" "$STROM_TEST_DIR/" ||
      { count_one "diff: $module is not built" 1 && continue; }
    local size=()
    [[ $module != *emulated* ]] || size=(--small)
    run_counted "test/diff/run, $(basename "$module")" "$runner" --seconds $(($2 / 3)) "${seed[@]}" --no-rows "${size[@]}" \
      --device-module "$STROM_TEST_DIR/$(basename "$module")"
  done
}

# test_pg_regress FILTER: names of tests, separated by commas.
test_pg_regress() {
  local home=$STROM_LOCAL/servers/source-15
  [[ -f $home/source/src/test/regress/parallel_schedule ]] ||
    { mkdir -p "$home" && debian_source "$home" postgresql-15 bookworm bookworm-security; }
  test_server || { count_one "pg_regress: server" 1 && return; }
  run_counted "test/pg_regress/run" "$STROM_ROOT/test/pg_regress/run" --source "$home/source" --tests "$1"
}

# test_postgis_regress FILTER
test_postgis_regress() {
  local home=$STROM_LOCAL/servers/source-postgis
  [[ -d $home/source/regress/core ]] ||
    { mkdir -p "$home" && debian_source "$home" postgis bookworm bookworm-security; }
  test_server || { count_one "postgis_regress: server" 1 && return; }
  run_counted "test/postgis_regress/run" "$STROM_ROOT/test/postgis_regress/run" --source "$home/source" --filter "$1"
}

# test_sqlsmith FILTER SECONDS SEED
test_sqlsmith() {
  require_packages sqlsmith
  test_server || { count_one "sqlsmith: server" 1 && return; }
  local seed=()
  [[ $3 == clock ]] || seed=(--seed "$3")
  run_counted "test/sqlsmith/run" "$STROM_ROOT/test/sqlsmith/run" --seconds "$2" "${seed[@]}"
}

test_tools() {
  local file
  for file in "$STROM_ROOT"/test/tools/*.py; do
    [[ -x $file && $(basename "$file") == *"$1"* ]] || continue
    test_server || { count_one "tools: server" 1 && continue; }
    run_counted "test/tools/$(basename "$file")" "$file"
  done
}

# The statements and command lines of the articles that the project grew from.
test_seeds() {
  [[ seeds == *"$1"* ]] || return 0
  test_server || { count_one "seeds: server" 1 && return; }
  run_counted "test/seeds/run" "$STROM_ROOT/test/seeds/run"
}

# A MySQL server of Debian's unstable suite, in a folder of its own.
test_mysql() {
  mysql_start || { count_one "mysql: server" 1 && return; }
  STROM_MYSQL_SOCKET=$(mysql_home)/srv/s.sock STROM_MYSQL_PORT=$MYSQL_PORT test_tools mysql2arrow
  mysql_stop
}

# Debian's kernel and the software RDMA device in a virtual machine.
test_rdma() {
  kernel_fetch
  STROM_PG_BINDIR=$(private_pg bindir) STROM_BUILD_DIR=$STROM_ROOT/build \
    run_counted "test/rdma/machine" "$STROM_ROOT/test/rdma/machine" "$(kernel_home)"
}

# run_counted NAME COMMAND…: counts by a last line "N passed, N failed" if there is one, else by the status.
run_counted() {
  local name=$1 log=$TEST_DIR/counted.log rc=0
  shift
  logged "$log" with_test_environment "$@" || rc=$?
  count_last_line "$name" "$log" "$rc"
}

# count_last_line NAME LOG STATUS
count_last_line() {
  if [[ $(tail -n 1 "$2") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    count "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    (($3 == 0 || BASH_REMATCH[2] > 0)) || count_one "$1" "$3"
  else
    count_one "$1" "$3"
  fi
}

# test_sanitized asan|tsan FILTER
test_sanitized() {
  if "$STROM_ROOT/strom" build "--$1"; then
    run_ctest "$(build_dir "$1")" "$2"
  else
    count_one "build --$1" 1
  fi
}

# test_fuzz SECONDS FILTER: each program X_fuzz in build-fuzz/test/fuzz, from the inputs in X_seeds beside it. What it
# finds is kept in build-fuzz/corpus, so that the next run goes on from there.
test_fuzz() {
  local dir=$STROM_ROOT/build-fuzz target name rc
  require_packages clang-19 libclang-rt-19-dev
  if ! { cmake --preset fuzz "-DSTROM_PYARROW=$(pyarrow_dir)" >"$TEST_DIR/fuzz.log" && cmake --build --preset fuzz; }; then
    count_one "build for fuzzing" 1
    return
  fi
  while read -r target; do
    name=$(basename "$target")
    [[ $name == *"$2"* ]] || continue
    mkdir -p "$dir/corpus/$name"
    local inputs=("$dir/corpus/$name") seeds=${target%_fuzz}_seeds
    [[ ! -d $seeds ]] || inputs+=("$seeds")
    rc=0
    (cd "$dir" && "$target" -max_total_time="$1" -print_final_stats=1 "${inputs[@]}" 2>&1 | tail -n 30) || rc=$?
    count_one "fuzz/$name" "$rc"
  done < <(find "$dir/test/fuzz" -maxdepth 1 -type f -executable -name '*_fuzz')
}
