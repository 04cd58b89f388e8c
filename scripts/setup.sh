# shellcheck shell=bash
# ./strom setup: Debian packages, the Python environment of the compared engines, the CUDA compiler. Sourced by ./strom.
# Every step looks first and does nothing when all is there.

BUILD_PACKAGES=(g++ cmake ninja-build ccache pkgconf libflatbuffers-dev flatbuffers-compiler libfmt-dev libcli11-dev
  libzstd-dev liblz4-dev libxxhash-dev zlib1g-dev libpq-dev libmariadb-dev libpcap-dev librdmacm-dev libibverbs-dev libre2-dev liburing-dev libhts-dev libdeflate-dev libssl-dev libgtest-dev libbenchmark-dev python3-venv perl)
POSTGRES_PACKAGES=(postgresql-15 postgresql-server-dev-15)

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]; }

# require_packages NAME…: installs those that are missing.
require_packages() {
  local missing=() name
  for name in "$@"; do
    is_installed "$name" || missing+=("$name")
  done
  ((${#missing[@]})) || return 0
  local become=()
  if ! is_root; then
    command -v sudo >/dev/null ||
      die "missing packages; have an administrator run: apt-get install --no-install-recommends ${missing[*]}"
    become=(sudo)
  fi
  command -v apt-get >/dev/null || die "this is no Debian; install by hand what corresponds to: ${missing[*]}"
  say "installing ${missing[*]}"
  local apt=("${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update >"$STROM_LOCAL/apt.log" 2>&1 || apt_failed
  suppress_main_cluster "${become[@]}"
  local rc=0
  "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$STROM_LOCAL/apt.log" 2>&1 </dev/null || rc=$?
  restore_main_cluster "${become[@]}"
  ((rc == 0)) || apt_failed
}

apt_failed() {
  tail -n 20 "$STROM_LOCAL/apt.log" >&2
  die "apt-get failed; its whole output is in $STROM_LOCAL/apt.log"
}

# Debian's server package makes and starts a cluster on port 5432 when it is first installed. A snippet that is there
# during our installation alone keeps it from that; an installation that exists is not affected.
NO_CLUSTER_DIR=/etc/postgresql-common/createcluster.d
NO_CLUSTER_SNIPPET=$NO_CLUSTER_DIR/pg_strom-setup.conf
suppress_main_cluster() {
  "$@" mkdir -p "$NO_CLUSTER_DIR"
  printf 'create_main_cluster = false\n' | "$@" tee "$NO_CLUSTER_SNIPPET" >/dev/null
}
restore_main_cluster() {
  "$@" rm -f "$NO_CLUSTER_SNIPPET"
  "$@" rmdir --ignore-fail-on-non-empty "$NO_CLUSTER_DIR"
}

# python_env: .strom/venv without packages; what needs pip needs this.
python_env() {
  [[ -x $STROM_LOCAL/venv/bin/python3 ]] && "$STROM_LOCAL/venv/bin/python3" -c '' 2>/dev/null && return
  rm -rf "$STROM_LOCAL/venv" "$STROM_LOCAL/venv.stamp"
  /usr/bin/python3 -m venv "$STROM_LOCAL/venv"
}

setup_peers() {
  python_env
  local wanted=$STROM_ROOT/bench/requirements.txt stamp=$STROM_LOCAL/venv.stamp
  cmp -s "$wanted" "$stamp" && return
  say "installing the Python packages of bench/requirements.txt into .strom/venv"
  "$STROM_LOCAL/venv/bin/python3" -m pip install -q --disable-pip-version-check -r "$wanted"
  cp "$wanted" "$stamp"
}

setup_cuda() {
  python_env
  PYTHON=$STROM_LOCAL/venv/bin/python3 "$STROM_ROOT/scripts/cuda_toolkit.sh" "$STROM_LOCAL"
}

has_nvidia_driver() { [[ -e /proc/driver/nvidia/version ]] || /sbin/ldconfig -p | grep -q 'libcuda\.so\.1 '; }

setup() {
  local cuda=no peers=no
  while (($#)); do
    case $1 in
      --cuda) cuda=yes ;;
      --peers) peers=yes ;;
      *) die "setup: unknown option $1" ;;
    esac
    shift
  done
  mkdir -p "$STROM_LOCAL"
  local packages=("${BUILD_PACKAGES[@]}")
  [[ $PG_CONFIG != /usr/lib/postgresql/15/* ]] || packages+=("${POSTGRES_PACKAGES[@]}")
  require_packages "${packages[@]}"
  require_pg_config
  prepare_state
  if [[ $peers == yes ]]; then setup_peers; fi
  if [[ $cuda == yes ]] || has_nvidia_driver; then setup_cuda; fi
}
