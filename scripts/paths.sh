# shellcheck shell=bash
# Where things are and who runs the server: every other script asks here. Sourced by ./strom.
#
# STROM_SERVER, set by use_server, is the major version of a PostgreSQL beside the system's: its builds and its state are
# in folders of their own.
#
#   .strom/            what only the caller uses: Python environment, CUDA compiler, stamps
#   $(state_dir)/      what the server uses too: private PostgreSQL tree, clusters, benchmark data
#
# Both are the same folder, unless root works in a folder that the server's user cannot enter.

STROM_LOCAL=$STROM_ROOT/.strom
PG_CONFIG=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}
SERVER_USER_OF_ROOT=postgres

# A caller's settings must not redirect the private cluster's clients.
unset PGHOST PGHOSTADDR PGPORT PGDATABASE PGUSER PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS PGDATA
unset PGSSLMODE PGCLIENTENCODING PGTZ PGDATESTYLE
# The server's user reads what root installs and generates.
umask 022

say() { printf '%s\n' "strom: $*"; }
warn() { printf '%s\n' "strom: $*" >&2; }
die() {
  warn "$@"
  exit 1
}

is_root() { [[ $(id -u) == 0 ]]; }

server_user() {
  if is_root; then printf '%s' "$SERVER_USER_OF_ROOT"; else id -un; fi
}

# as_server COMMAND…: runs it as the user that owns the clusters; never as root. The programs look up their current
# folder, which that user may not be able to enter.
as_server() {
  if ! is_root; then
    "$@"
    return
  fi
  getent passwd "$SERVER_USER_OF_ROOT" >/dev/null ||
    die "there is no user $SERVER_USER_OF_ROOT to run the server as: run ./strom setup first"
  (cd / && setpriv --reuid="$SERVER_USER_OF_ROOT" --regid="$SERVER_USER_OF_ROOT" --clear-groups \
    env HOME="$(state_dir)" "$@")
}

checkout_hash() { printf '%s' "$STROM_ROOT" | sha256sum | cut -c1-12; }

# state_dir: prints the folder; decides once for this run.
state_dir() {
  if [[ -z ${STROM_STATE:-} ]]; then
    STROM_STATE=$STROM_LOCAL
    if is_root && getent passwd "$SERVER_USER_OF_ROOT" >/dev/null &&
      ! setpriv --reuid="$SERVER_USER_OF_ROOT" --regid="$SERVER_USER_OF_ROOT" --clear-groups \
        test -x "$STROM_ROOT" -a -r "$STROM_ROOT"; then
      STROM_STATE=/var/tmp/pg_strom-$(checkout_hash)
    fi
    STROM_STATE+=${STROM_SERVER:+/postgresql-$STROM_SERVER}
    export STROM_STATE
  fi
  printf '%s' "$STROM_STATE"
}

# own_folder PATH MODE [OWNER]: makes it, or checks that nobody else made it first (for places all users can write to).
own_folder() {
  local path=$1 mode=$2 owner=${3:-$(id -un)}
  if [[ ! -e $path && ! -L $path ]]; then
    mkdir -p "$(dirname "$path")"
    mkdir -m 700 "$path"
  fi
  [[ ! -L $path && -d $path ]] || die "$path is in the way: not a folder"
  local holder
  holder=$(stat -c %U "$path")
  [[ $holder == "$owner" || $holder == "$(id -un)" ]] || die "$path belongs to $holder: remove it or move the checkout"
  chmod "$mode" "$path"
  [[ $holder == "$owner" ]] || chown "$owner:" "$path"
}

# prepare_state: the folders that everything else is put into.
prepare_state() {
  mkdir -p "$STROM_LOCAL"
  STROM_STATE=$(state_dir)
  export STROM_STATE
  if [[ $STROM_STATE != "$STROM_LOCAL"* && ! -d $STROM_STATE ]]; then
    say "user $SERVER_USER_OF_ROOT cannot enter $STROM_ROOT: the private PostgreSQL goes to $STROM_STATE"
  fi
  own_folder "$STROM_STATE" 755
  own_folder "$(socket_dir)" 700 "$(server_user)"
}

# socket_dir: a socket's path holds 107 bytes at most, so a deep checkout has its sockets under /tmp.
socket_dir() {
  local dir
  dir=$(state_dir)/run
  if ((${#dir} + ${#longest_socket_name} > 107)); then
    dir=/tmp/pg_strom-$(checkout_hash)-$(id -u)
  fi
  printf '%s' "$dir"
}
longest_socket_name=/.s.PGSQL.55432.lock

# Folders of the PostgreSQL we build for, and of its private copy.
system_pg() { "$PG_CONFIG" "--$1"; }
private_pg() { printf '%s%s' "$(state_dir)/pg" "$(system_pg "$1")"; }
require_pg_config() {
  [[ -x $(command -v "$PG_CONFIG") ]] || die "no $PG_CONFIG: run ./strom setup, or set PG_CONFIG"
}
