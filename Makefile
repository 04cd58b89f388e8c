# The shape of a PostgreSQL extension's Makefile in front of CMake and Ninja:
#   make PG_CONFIG=/path/to/pg_config && make install && make installcheck
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

pg_config := $(shell command -v $(PG_CONFIG))
pg_regress = $(dir $(shell $(pg_config) --pgxs))../test/regress/pg_regress

all: configure
	$(CMAKE) --build $(BUILD)

configure: require-programs require-postgres
	$(CMAKE) -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=$(BUILD_TYPE) -DPG_CONFIG=$(pg_config) -DSTROM_TESTS=OFF \
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

install: all
	DESTDIR="$(DESTDIR)" $(CMAKE) --install $(BUILD)

uninstall:
	sed 's|^|$(DESTDIR)|' $(BUILD)/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f --

# Against a running server, found as psql finds it (PGHOST, PGPORT, PGUSER).
installcheck: require-postgres
	mkdir -p $(BUILD)/regress
	$(pg_regress) --inputdir=test --outputdir=$(BUILD)/regress --bindir="$$($(pg_config) --bindir)" \
	  --dbname=contrib_regression --load-extension=pg_strom --schedule=test/schedule

clean:
	rm -rf $(BUILD)

.PHONY: all configure require-programs require-postgres install uninstall installcheck clean
