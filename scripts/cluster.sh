# shellcheck shell=bash
# Private PostgreSQL clusters: `main` for psql, demo and bench, `test` for the tests. Sourced by ./strom.
# They listen on a UNIX socket in a folder that only their owner enters, and on nothing else.

FIRST_PORT=55432

cluster_dir() {
  case $1 in
    main) printf '%s/cluster' "$(state_dir)" ;;
    test) printf '%s/test/cluster' "$(state_dir)" ;;
    *) die "no cluster is called $1" ;;
  esac
}

cluster_port() { cat "$(cluster_dir "$1").port"; }

cluster_is_running() {
  [[ -f $(cluster_dir "$1")/postmaster.pid ]] || return 1
  as_server "$(private_pg bindir)/pg_ctl" -D "$(cluster_dir "$1")" status >/dev/null 2>&1
}

# free_port: the first from FIRST_PORT on without a socket of ours and without a listener on this machine.
free_port() {
  local port=$FIRST_PORT
  while [[ -e $(socket_dir)/.s.PGSQL.$port ]] || (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    port=$((port + 1))
  done
  printf '%s' "$port"
}

# cluster_create NAME: initdb, when there is none yet.
cluster_create() {
  local dir
  dir=$(cluster_dir "$1")
  if [[ -f $dir/PG_VERSION ]]; then
    [[ $("$PG_CONFIG" --version) =~ ^PostgreSQL\ $(<"$dir/PG_VERSION")[^0-9] ]] ||
      die "$dir is of PostgreSQL $(<"$dir/PG_VERSION"); remove it with ./strom clean --all"
    return
  fi
  say "creating the cluster $dir"
  mkdir -p "$(dirname "$dir")"
  own_folder "$dir" 700 "$(server_user)"
  # As Debian makes clusters where no language is set.
  as_server "$(private_pg bindir)/initdb" -D "$dir" -U postgres -A trust -E UTF8 --locale=C.UTF-8 >"$dir.log" 2>&1 ||
    { tail -n 20 "$dir.log" >&2 && die "initdb failed"; }
  {
    printf '%s\n' "listen_addresses = ''" "unix_socket_permissions = 0700" "$(shared_memory_setting)"
    cluster_settings "$1"
  } | as_server tee -a "$dir/postgresql.conf" >/dev/null
}

# The tests' cluster keeps PostgreSQL's defaults for all that plans depend on, so that their expected output holds on
# any server (make installcheck). Autovacuum would analyze tables, or keep VACUUM from marking pages, at times of its
# own.
cluster_settings() {
  case $1 in
    main)
      # Preloaded, so that the first query on a heap table has the engine.
      printf '%s\n' "shared_buffers = 512MB" "work_mem = 64MB" "max_parallel_workers_per_gather = 2" \
        "max_wal_size = 4GB" "session_preload_libraries = 'pg_strom'"
      ;;
    test) printf '%s\n' "fsync = off" "autovacuum = off" ;;
  esac
}

# Containers often have a /dev/shm of 64 MB, which one parallel hash join fills.
shared_memory_setting() {
  local kilobytes
  kilobytes=$(df -k --output=size /dev/shm 2>/dev/null | tail -n 1) || kilobytes=0
  if ((kilobytes < 1048576)); then
    printf 'dynamic_shared_memory_type = sysv'
  else
    printf 'dynamic_shared_memory_type = posix'
  fi
}

# cluster_start NAME [OPTIONS OF postgres]: creates it if need be, and waits until it answers.
cluster_start() {
  require_pg_config
  prepare_state
  [[ -x $(private_pg bindir)/postgres ]] || copy_private_pg
  cluster_is_running "$1" && return
  cluster_create "$1"
  local dir port
  dir=$(cluster_dir "$1")
  # A server that was killed leaves its port in the file. The next server takes over its socket.
  [[ -f $dir.port ]] || free_port >"$dir.port"
  port=$(cluster_port "$1")
  # The server outlives us; a lock that a test run holds on descriptor 9 must not.
  if ! as_server "$(private_pg bindir)/pg_ctl" -D "$dir" -s -w -t 60 -l "$dir/server.log" \
    -o "-p $port -k '$(socket_dir)' ${2:-}" start </dev/null >/dev/null 9>&-; then
    as_server tail -n 20 "$dir/server.log" >&2
    die "the server did not start; its log is $dir/server.log"
  fi
  create_extension "$1"
}

# The extension is there from the first psql on, if it has been built. A cluster keeps the objects that it was created
# with, since dropping them would drop the foreign tables too.
create_extension() {
  local extensions created script
  extensions=$(private_pg sharedir)/extension
  created=$(cluster_dir "$1").extension
  [[ -f $extensions/pg_strom.control ]] || return 0
  script=$(cat "$extensions"/pg_strom--*.sql | sha256sum)
  [[ -f $created ]] || printf '%s\n' "$script" >"$created"
  [[ $(<"$created") == "$script" ]] ||
    warn "the extension's SQL has changed; for the new objects: DROP EXTENSION pg_strom CASCADE, rm $created, restart"
  cluster_client "$1" psql -qX -d postgres -v ON_ERROR_STOP=1 \
    -c "SET client_min_messages = warning" -c "CREATE EXTENSION IF NOT EXISTS pg_strom"
}

cluster_stop() {
  [[ -x $PG_CONFIG ]] || command -v "$PG_CONFIG" >/dev/null || return 0
  cluster_is_running "$1" || return 0
  local dir
  dir=$(cluster_dir "$1")
  as_server "$(private_pg bindir)/pg_ctl" -D "$dir" -s -w -t 60 -m fast stop ||
    as_server "$(private_pg bindir)/pg_ctl" -D "$dir" -s -w -t 60 -m immediate stop
  rm -f "$dir.port"
}

cluster_status() {
  require_pg_config
  if cluster_is_running "$1"; then
    say "running: socket folder $(socket_dir), port $(cluster_port "$1"), log $(cluster_dir "$1")/server.log"
  else
    say "not running"
  fi
}

# cluster_client NAME PROGRAM ARGUMENT…: a PostgreSQL client program of the private tree, connected to the cluster.
cluster_client() {
  local name=$1 program=$2
  shift 2
  PGHOST=$(socket_dir) PGPORT=$(cluster_port "$name") PGUSER=postgres "$(private_pg bindir)/$program" "$@"
}

cluster_psql() {
  cluster_start main
  PGDATABASE=postgres cluster_client main psql "$@"
}
