# shellcheck shell=bash
# ./strom bench and ./strom demo. Sourced by ./strom.

# bench ssb [--scale N] [--runs N] [--peers LIST] [--out FILE] [further options of bench/ssb/run.py]
bench() {
  [[ ${1:-} == ssb ]] || die "usage: ./strom bench ssb [--scale N] [--runs N] [--peers LIST] [--out FILE]"
  shift
  local scale=1 runs=5 peers=postgres,duckdb,polars,datafusion,clickhouse out="" more=()
  while (($#)); do
    case $1 in
      --scale | --runs | --peers | --out)
        (($# > 1)) || die "bench: $1 needs a value"
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
      *) more+=("$1") ;;
    esac
    shift
  done
  out=$(realpath -m -- "${out:-$STROM_ROOT/results/ssb-$scale.json}")
  setup --peers
  build
  cluster_start main
  local data=$STROM_STATE/data/ssb
  mkdir -p "$data" "$(dirname "$out")"
  "$STROM_LOCAL/venv/bin/python3" "$STROM_ROOT/bench/ssb/run.py" --scale "$scale" --runs "$runs" --peers "$peers" \
    --out "$out" --data-dir "$data" --pg-socket-dir "$(socket_dir)" --pg-port "$(cluster_port main)" \
    --pg-user postgres --build-dir "$STROM_ROOT/build" "${more[@]}"
}

demo() {
  local scale=1 runs=3
  while (($#)); do
    case $1 in
      --scale | --runs)
        (($# > 1)) || die "demo: $1 needs a value"
        printf -v "${1#--}" '%s' "$2"
        shift
        ;;
      *) die "usage: ./strom demo [--scale N] [--runs N]" ;;
    esac
    shift
  done
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
