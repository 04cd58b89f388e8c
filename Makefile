# The shape of a PostgreSQL extension's Makefile in front of CMake and Ninja:
#   make PG_CONFIG=/path/to/pg_config && sudo make install && make installcheck
# PGXS itself is not used: it compiles C++ a second time to LLVM bitcode without the language standard we need.

PG_CONFIG ?= pg_config
BUILD ?= build
BUILD_TYPE ?= Release
CMAKE ?= cmake
DESTDIR ?=
# Where the programs and their manual pages go; the extension goes where PG_CONFIG says. BINDIR and MANDIR need not be below PREFIX.
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man

# A pyarrow whose libraries pg_strom_parquet.so uses, where there are no packages of them: see docs/user/install.md.
STROM_PYARROW ?=

# What was built, for `install`, which builds nothing: so that no file in BUILD becomes root's. ./strom build, which
# builds for its private PostgreSQL, removes it.
made := $(BUILD)/made_by_make
remembered := PG_CONFIG BUILD_TYPE PREFIX BINDIR MANDIR STROM_PYARROW
value_of = $(if $(filter PG_CONFIG,$(1)),$(pg_config),$($(1)))
# Those that were given, on the command line or in the environment.
given = $(foreach name,$(remembered),$(if $(filter-out file undefined,$(origin $(name))),$(name)))

pg_config := $(shell command -v $(PG_CONFIG))

all: configure
	$(CMAKE) --build $(BUILD)
	@printf '%s\n' $(foreach name,$(remembered),'$(name)=$(call value_of,$(name))') >$(made)

configure: require-programs require-postgres require-own-build
	@rm -f $(made)
	$(CMAKE) -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DPG_CONFIG=$(pg_config) -DSTROM_TESTS=OFF \
	  -DSTROM_PYARROW=$(STROM_PYARROW) -DSTROM_PYARROW_RUNPATH=ON \
	  -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DCMAKE_INSTALL_BINDIR=$(BINDIR) -DCMAKE_INSTALL_MANDIR=$(MANDIR)

# What CMake itself needs; it tells what else is missing.
require-programs:
	@missing=; for item in $(CMAKE):cmake ninja:ninja-build c++:g++; do \
	  command -v "$${item%:*}" >/dev/null || missing="$$missing $${item##*:}"; \
	done; \
	test -z "$$missing" || { echo "make: missing programs; on Debian: apt-get install$$missing" >&2; exit 1; }

require-postgres:
	@test -n "$(pg_config)" || { \
	  echo "make: no $(PG_CONFIG); on Debian: apt-get install postgresql-15 postgresql-server-dev-15" >&2; \
	  echo "make: if it is elsewhere: make PG_CONFIG=/path/to/pg_config" >&2; exit 1; }

# The folder may have been copied with what was built in it, whose paths are those of the place that it comes from.
require-own-build:
	@test ! -f $(BUILD)/CMakeCache.txt || { \
	  from=$$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $(BUILD)/CMakeCache.txt); test "$$from" -ef . || { \
	    echo "make: $(BUILD) was made in $$from, of which this is a copy: run \"make clean\" first" >&2; exit 1; }; }

require-made:
	@test -f $(made) || { \
	  echo "make: nothing is built in $(BUILD): run \"make\" first, as the user that the folder belongs to" >&2; exit 1; }
	@$(foreach name,$(given),grep -qxF '$(name)=$(call value_of,$(name))' $(made) || { \
	  echo "make: $(BUILD) is built for $$(grep '^$(name)=' $(made)): run \"make $(name)=$($(name))\" first" >&2; exit 1; };) true

# CMake writes the list of what it has installed into BUILD.
install: require-made
	@rm -f $(BUILD)/install_manifest.txt
	DESTDIR="$(DESTDIR)" $(CMAKE) --install $(BUILD)
	@test "$$(id -u)" != 0 || chown --reference=$(BUILD) $(BUILD)/install_manifest.txt

uninstall:
	@test -f $(BUILD)/install_manifest.txt || { echo "make: nothing was installed from $(BUILD)" >&2; exit 1; }
	sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f --

# Against a running server, found as psql finds it (PGHOST, PGPORT, PGUSER).
installcheck: require-postgres
	@EXTRA_REGRESS_OPTS="$(EXTRA_REGRESS_OPTS)" REGRESS="$(REGRESS)" test/installcheck "$(pg_config)" $(BUILD)/regress

clean:
	rm -rf $(BUILD)

.PHONY: all configure require-programs require-postgres require-own-build require-made install uninstall installcheck clean
