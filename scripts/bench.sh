# shellcheck shell=bash
# ./strom bench and ./strom demo. Sourced by ./strom.

bench() {
  local bench_python=$STROM_LOCAL/venv/bin/python3
  case ${1:-} in
    ssb) bench_ssb "${@:2}" ;;
    tpch) bench_tpch "${@:2}" ;;
    files) bench_files "${@:2}" ;;
    never-slower) bench_never_slower "${@:2}" ;;
    tools) bench_tools "${@:2}" ;;
    capture) bench_capture "${@:2}" ;;
    python) bench_python "${@:2}" ;;
    geo) bench_geo "${@:2}" ;;
    vcf) bench_vcf "${@:2}" ;;
    forward) bench_forward "${@:2}" ;;
    store) bench_store "${@:2}" ;;
    builds) bench_builds "${@:2}" ;;
    *) die "usage: ./strom bench ssb|tpch|files|tools|capture|vcf|forward|python|geo|store|never-slower|builds [OPTIONS]; the options are in docs/dev/benchmark.md" ;;
  esac
}

# take_options COMMAND NAMES ARGUMENTS…: the caller's variables of these names take the values of options called like them;
# everything else is added to the caller's array `more`.
take_options() {
  local command=$1 names=" $2 "
  shift 2
  while (($#)); do
    if [[ $1 == --* && $names == *" ${1#--} "* ]]; then
      (($# > 1)) || die "$command: $1 needs a value"
      printf -v "${1#--}" '%s' "$2"
      shift
    else
      more+=("$1")
    fi
    shift
  done
}

# bench_ssb [--scale N] [--runs N] [--peers LIST] [--out FILE] [further options of bench/ssb/run.py]
bench_ssb() {
  local scale=1 runs=5 peers=postgres,duckdb,polars,datafusion,clickhouse out="" more=()
  take_options bench "scale runs peers out" "$@"
  local name=ssb
  [[ " ${more[*]} " != *" --source heap "* ]] || name=ssb-heap
  prepare_bench
  [[ $name == ssb ]] || widen_shared_buffers "$(awk "BEGIN { print int($scale * 1200 + 512) }")"
  out=${out:-$STROM_ROOT/results/$name-$scale.json}
  run_bench ssb/run.py "$out" --scale "$scale" --runs "$runs" \
    --peers "$peers" --data-dir "$STROM_STATE/data/ssb" --build-dir "$STROM_ROOT/build" "${more[@]}" || return
  [[ $name == ssb-heap ]] || return 0
  start_untouched main
  local status=0
  run_bench ssb/untouched.py "$out" || status=$?
  cluster_stop main
  return "$status"
}

# start_untouched CLUSTER: the server with PostgreSQL's default of each setting that may change how fast it is.
start_untouched() {
  local defaults
  cluster_start "$1"
  defaults=$(cluster_client "$1" psql -qXAt -d postgres -c "
    SELECT string_agg(format('-c %s=''%s''', name, boot_val), ' ') FROM pg_settings
    WHERE sourcefile IS NOT NULL AND boot_val IS NOT NULL AND name NOT IN ('port', 'dynamic_shared_memory_type')
      AND category !~ 'Connection|Client|Reporting|File Locations'")
  cluster_stop "$1"
  cluster_start "$1" "$defaults"
}

# bench_tpch [--scale N] [--out FILE] [further options of bench/tpch/run.py]
bench_tpch() {
  local scale=1 out="" more=()
  take_options bench "scale out" "$@"
  prepare_bench
  widen_shared_buffers "$(awk "BEGIN { print int($scale * 2000 + 512) }")"
  run_bench tpch/run.py "${out:-$STROM_ROOT/results/tpch-$scale.json}" --scale "$scale" \
    --data-dir "$STROM_STATE/data/tpch" "${more[@]}"
}

# bench_files [--scale N] [--out FILE] [further options of bench/files/run.py]
bench_files() {
  local scale=1 out="" more=()
  take_options bench "scale out" "$@"
  prepare_bench
  # Half of it is the column cache's, which has to hold the columns that the queries use, decompressed.
  widen_shared_buffers "$(awk "BEGIN { print int($scale * 800 + 512) }")"
  run_bench files/run.py "${out:-$STROM_ROOT/results/files-$scale.json}" --scale "$scale" \
    --data-dir "$STROM_STATE/data/ssb" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_never_slower [--out FILE] [further options of bench/never_slower/run.py]
bench_never_slower() {
  local out=$STROM_ROOT/results/never-slower.json more=()
  take_options bench "out" "$@"
  prepare_bench
  run_bench never_slower/run.py "$out" "${more[@]}"
}

# bench_tools [--scale N] [--out FILE] [further options of bench/tools/run.py]
bench_tools() {
  local scale=1 out="" more=()
  take_options bench "scale out" "$@"
  require_packages mariadb-server
  prepare_bench
  widen_shared_buffers "$(awk "BEGIN { print int($scale * 1200 + 1024) }")"
  run_bench tools/run.py "${out:-$STROM_ROOT/results/tools-$scale.json}" --scale "$scale" \
    --data-dir "$STROM_STATE/data/ssb" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_capture [--out FILE] [further options of bench/capture/run.py]
bench_capture() {
  local out=$STROM_ROOT/results/capture.json more=()
  take_options bench "out" "$@"
  require_packages tshark tcpdump iproute2 procps
  prepare_bench
  run_bench capture/run.py "$out" --data-dir "$STROM_STATE/data" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_python [--scale N] [--out FILE] [further options of bench/python/run.py]
bench_python() {
  local scale=1.7 out="" more=()
  take_options bench "scale out" "$@"
  prepare_bench
  widen_shared_buffers "$(awk "BEGIN { print int($scale * 1200 + 1024) }")"
  run_bench python/run.py "${out:-$STROM_ROOT/results/python-$scale.json}" --scale "$scale" \
    --data-dir "$STROM_STATE/data/ssb" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_geo [--out FILE] [further options of bench/geo/run.py]: the rivals are in an environment of their own.
bench_geo() {
  local out=$STROM_ROOT/results/geo.json more=()
  take_options bench "out" "$@"
  require_packages postgresql-15-postgis-3
  prepare_bench
  bench_environment geo
  widen_shared_buffers 2048
  run_bench geo/run.py "$out" --index-times "$STROM_ROOT/build/bench/geo/index_times" "${more[@]}"
}

# bench_vcf [--out FILE] [further options of bench/vcf/run.py]
bench_vcf() {
  local out=$STROM_ROOT/results/vcf.json more=()
  take_options bench "out" "$@"
  require_packages bcftools tabix
  prepare_bench
  bench_environment vcf
  widen_shared_buffers 2048
  run_bench vcf/run.py "$out" --data-dir "$STROM_STATE/data" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_forward [--out FILE] [further options of bench/forward/run.py]
bench_forward() {
  local out=$STROM_ROOT/results/forward.json more=()
  take_options bench "out" "$@"
  setup --peers
  build
  run_bench_program forward/run.py "$out" --data-dir "$STROM_STATE/data" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_environment NAME: an environment of Python with what bench/NAME/requirements.txt has, for run_bench_program.
bench_environment() {
  bench_python=$STROM_LOCAL/venv-$1/bin/python3
  local venv=$STROM_LOCAL/venv-$1 wanted=$STROM_ROOT/bench/$1/requirements.txt
  cmp -s "$wanted" "$venv/requirements.txt" ||
    { python3 -m venv "$venv" && "$venv/bin/pip" -q install -r "$wanted" && cp "$wanted" "$venv/requirements.txt"; } ||
    die "the programs that bench $1 compares with cannot be installed"
}

# bench_store [--out FILE] [further options of bench/store/run.py]
bench_store() {
  local out=$STROM_ROOT/results/store.json more=()
  take_options bench "out" "$@"
  require_packages redis-server memcached liblmdb-dev
  prepare_bench
  widen_shared_buffers 2048
  run_bench store/run.py "$out" --data-dir "$STROM_STATE/data" --build-dir "$STROM_ROOT/build" "${more[@]}"
}

# bench_builds --before CHECKOUT [--scale N] [--out FILE] [further options of bench/builds/run.py]
bench_builds() {
  local before="" scale=5 out="" more=() server=()
  take_options bench "before scale out" "$@"
  [[ -x $before/strom ]] || die "bench builds: --before names a checkout of another commit, such as one of git worktree"
  before=$(realpath "$before")
  prepare_bench
  widen_shared_buffers "$(awk "BEGIN { print int($scale * 1200 + 512) }")"
  local buffers
  buffers=$(cluster_client main psql -qXAt -d postgres -c "SHOW shared_buffers")
  in_checkout "$before" build
  in_checkout "$before" psql -qX -d postgres -c "ALTER SYSTEM SET shared_buffers = '$buffers'"
  in_checkout "$before" stop
  in_checkout "$before" start
  mapfile -t server < <(in_checkout "$before" psql -qXAt -d postgres -c "SHOW unix_socket_directories" -c "SHOW port")
  run_bench builds/run.py "${out:-$STROM_ROOT/results/builds.json}" --scale "$scale" --data-dir "$STROM_STATE/data" \
    --build-dir "$STROM_ROOT/build" --before-socket-dir "${server[0]}" --before-port "${server[1]}" \
    --before-checkout "$before" "${more[@]}"
}

# in_checkout CHECKOUT COMMAND…: its own ./strom, with a state of its own.
in_checkout() { env -u STROM_STATE -u STROM_SERVER -u PG_CONFIG "$1/strom" "${@:2}"; }

prepare_bench() {
  setup --peers
  build
  cluster_start main
  mkdir -p "$STROM_STATE/data/ssb"
}

# widen_shared_buffers MEGABYTES: so that the tables stay in the buffer pool; half of the memory at most.
widen_shared_buffers() {
  local wanted=$1 most have
  most=$(awk '/^MemTotal/ { print int($2 / 2048) }' /proc/meminfo)
  ((wanted <= most)) || wanted=$most
  have=$(cluster_client main psql -qXAt -d postgres -c "SELECT setting::int / 128 FROM pg_settings WHERE name = 'shared_buffers'")
  ((have < wanted)) || return 0
  cluster_client main psql -qX -d postgres -c "ALTER SYSTEM SET shared_buffers = '${wanted}MB'"
  cluster_stop main
  cluster_start main
}

# run_bench SCRIPT OUT OPTION…: on the private cluster.
run_bench() {
  run_bench_program "$1" "$2" --pg-socket-dir "$(socket_dir)" --pg-port "$(cluster_port main)" --pg-user postgres "${@:3}"
}

# run_bench_program SCRIPT OUT OPTION…
run_bench_program() {
  local out
  out=$(realpath -m -- "$2")
  mkdir -p "$(dirname "$out")"
  "$bench_python" "$STROM_ROOT/bench/$1" --out "$out" "${@:3}"
}

demo() {
  local scale=1 runs=3 more=()
  take_options demo "scale runs" "$@"
  ((${#more[@]} == 0)) || die "usage: ./strom demo [--scale N] [--runs N]"
  cat <<TEXT
The Star Schema Benchmark at scale $scale: 13 queries that filter, join and sum a table of orders. PostgreSQL answers
them from its own tables, pg_strom from Apache Arrow files inside the same PostgreSQL, and DuckDB from the same files.
All answers are compared with PostgreSQL's.

The first run installs what is missing, compiles, and generates the data; later runs go straight to the queries.
Everything is kept in this folder: a private PostgreSQL that listens on a UNIX socket, and the data.

TEXT
  bench ssb --scale "$scale" --runs "$runs" --peers postgres,duckdb
  cat <<'TEXT'

To look around:          ./strom psql
To run all engines:      ./strom bench ssb --scale 5 --peers postgres,duckdb,polars,datafusion,clickhouse
To stop the server:      ./strom stop
To remove everything:    ./strom clean --all
TEXT
}
