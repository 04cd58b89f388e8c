#!/usr/bin/env python3
"""What an installation puts where, what is said when something for the build is missing, and the commands of README.md
and docs/user/install.md as they are written there."""
import os
import pathlib
import re
import shutil
import subprocess

from checks import BUILD_DIR, done, equal, folder, ok, query

ROOT = pathlib.Path(os.environ["STROM_ROOT"])
OUT = folder("install")
PROGRAMS = ("pg2arrow", "mysql2arrow", "tsv2arrow", "pcap2arrow", "vcf2arrow", "fluent2arrow", "arrow2csv", "arrow-info", "arrowstat", "strom-kv")


def shell(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT, **options)


def run_sql(script, database, **settings):
    """A script in one session, as CompletedProcess."""
    return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-d", database], input=script, capture_output=True, text=True,
                          env={**os.environ, **settings})


def block(page, after, language):
    """The first code block of a page behind a text."""
    text = (ROOT / page).read_text()
    return re.search(rf"```{language}\n(.*?)```", text[text.index(after):], re.S).group(1)


def run_paths(path):
    """Folders where a program or library looks for its libraries, besides the system's."""
    found = subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout
    return [part for entry in re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", found) for part in entry.split(":")]


def check_installation():
    for prefix in ("/usr/local", "/opt/strom"):
        root = OUT / prefix.replace("/", "_")
        result = shell("cmake", "--install", BUILD_DIR, "--prefix", prefix, env={**os.environ, "DESTDIR": str(root)})
        ok(result.returncode == 0, f"installation below {prefix}", result.stdout[-500:], result.stderr)
        place = root / prefix[1:]
        for name in PROGRAMS:
            found = shutil.which(name, path=str(place / "bin"))
            ok(found is not None, f"{name} is in {prefix}/bin")
            version = subprocess.run([found or name, "-V"], capture_output=True, text=True)
            ok(version.stdout.startswith(name), f"{name} runs from there", version)
            for path in (f"share/man/man1/{name}.1", f"share/bash-completion/completions/{name}",
                         f"share/zsh/site-functions/_{name}", f"share/fish/vendor_completions.d/{name}.fish"):
                ok((place / path).is_file(), f"{prefix}/{path}")
        if shutil.which("man"):
            found = shell("man", "-M", place / "share/man", "-w", "pg2arrow")
            equal(found.stdout.strip(), str(place / "share/man/man1/pg2arrow.1"), "man finds a page")
        places = {part for path in root.rglob("*") if path.is_file() for part in run_paths(path)}
        ok(all(part == "$ORIGIN" or part.startswith("/usr/") for part in places), "libraries come from the system's folders, or from beside", places)
        libraries = [path for path in root.rglob("pg_strom*.so")]
        ok(libraries and all(prefix not in str(path.relative_to(root)) for path in libraries), "the extension is where the server looks", libraries)


def check_makefile():
    """What `make` makes of its variables, by the scripts that CMake writes."""
    def places(*variables):
        build = OUT / "build"
        shutil.rmtree(build, ignore_errors=True)
        result = shell("make", "configure", f"BUILD={build}", f"PG_CONFIG={os.environ['STROM_PG_CONFIG']}", *variables)
        ok(result.returncode == 0, f"make configure {variables}", result.stdout[-1000:], result.stderr[-1000:])
        script = (build / "tools/pg2arrow/cmake_install.cmake").read_text()
        return set(re.findall(r'file\(INSTALL DESTINATION "([^"]*)"', script))

    zsh = "vendor-completions" if os.path.exists("/etc/debian_version") else "site-functions"
    found = places()
    ok({"/usr/local/bin", "/usr/local/share/man/man1"} <= found, "make install: /usr/local", found)
    found = places("PREFIX=/usr")
    ok({"/usr/bin", "/usr/share/man/man1"} <= found, "PREFIX=/usr: the distribution's folders", found)
    ok("${CMAKE_INSTALL_PREFIX}/share/zsh/" + zsh in found, "with its place for zsh", found)
    found = places("BINDIR=/srv/programs", "MANDIR=/srv/pages")
    ok({"/srv/programs", "/srv/pages/man1"} <= found, "BINDIR and MANDIR", found)


def check_make_install():
    """`make install` installs what `make` has built, and neither builds nor leaves files of its own in the folder. A CMake that
    only writes down how it was called."""
    build, log = OUT / "made", OUT / "cmake.log"
    cmake = OUT / "cmake"
    cmake.write_text(f"""#!/bin/sh
echo "$@" >>{log}
case $1 in
  --install) echo {OUT}/installed >"$2"/install_manifest.txt; : >{OUT}/installed ;;
esac
""")
    cmake.chmod(0o755)

    def make(*arguments):
        log.write_text("")
        result = shell("make", f"BUILD={build}", f"CMAKE={cmake}", *arguments)
        return result.returncode, result.stderr, log.read_text().splitlines()

    pg_config = f"PG_CONFIG={os.environ['STROM_PG_CONFIG']}"
    status, err, calls = make("install", pg_config)
    ok(status != 0 and "nothing is built" in err and 'run "make" first' in err and not calls and not build.exists(), "make install before make", err, calls)
    build.mkdir()
    if os.getuid() == 0:
        shutil.chown(build, os.environ["STROM_SERVER_USER"])
    status, err, calls = make(pg_config, "PREFIX=/opt/strom")
    ok(status == 0 and len(calls) == 2 and calls[1] == f"--build {build}", "make", err, calls)
    for again in ("first", "second"):
        status, err, calls = make("install", f"DESTDIR={OUT}/staging")
        equal((status, calls), (0, [f"--install {build}"]), f"the {again} make install: only that")
    equal({path.stat().st_uid for path in build.glob("install*")}, {build.stat().st_uid}, "the list of files belongs to who owns the folder")
    status, err, calls = make("install", pg_config, "PREFIX=/opt/strom")
    ok(status == 0, "the same variables again", err)
    for other in ("PREFIX=/usr", "PG_CONFIG=/bin/true"):
        status, err, calls = make("install", other)
        ok(status != 0 and f"make {other}" in err and not calls, f"{other} after a build for something else", err, calls)
    status, err, calls = make("uninstall")
    ok(status == 0 and not (OUT / "installed").exists(), "make uninstall", err)
    make("configure", pg_config)
    status, err, calls = make("install", pg_config)
    ok(status != 0 and "nothing is built" in err, "make install of a folder that was only configured since", err)


def check_copied_build():
    """A build folder that came with a copy of the checkout."""
    build = OUT / "copied"
    build.mkdir()
    (build / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere/pg_strom\n")
    result = shell("make", "configure", f"BUILD={build}", f"PG_CONFIG={os.environ['STROM_PG_CONFIG']}", "CMAKE=false")
    ok(result.returncode != 0 and "was made in /elsewhere/pg_strom" in result.stderr and 'run "make clean"' in result.stderr,
       "make with another checkout's build", result.stderr)
    (build / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n")
    result = shell("make", "configure", f"BUILD={build}", f"PG_CONFIG={os.environ['STROM_PG_CONFIG']}", "CMAKE=true")
    ok(result.returncode == 0, "make with its own", result.stderr)


def check_copied_strom():
    """`./strom build` in a copy of a checkout, with its build folder."""
    copy = OUT / "copied_checkout"
    copy.mkdir()
    shutil.copytree(ROOT / "scripts", copy / "scripts")
    shutil.copy(ROOT / "strom", copy / "strom")
    (copy / ".strom").mkdir()
    for name in ("venv", "venv.stamp"):
        if (ROOT / ".strom" / name).exists():
            (copy / ".strom" / name).symlink_to(ROOT / ".strom" / name)
    (copy / "build").mkdir()
    (copy / "build/CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere/pg_strom\n")
    result = shell(copy / "strom", "build")
    ok(result.returncode != 0 and "was made in /elsewhere/pg_strom" in result.stderr and "run ./strom clean first" in result.stderr,
       "./strom build with another checkout's build", result.stdout[-500:], result.stderr[-1500:])


def check_missing_packages():
    programs = OUT / "programs"
    programs.mkdir()
    for name in ("make", "sh", "dirname", "test", "cmake", "c++"):
        (programs / name).symlink_to(shutil.which(name))
    result = shell("make", "PG_CONFIG=/bin/true", env={"PATH": str(programs), "SHELL": "/bin/sh"})
    ok(result.returncode != 0 and "apt-get install ninja-build\n" in result.stderr, "make names a missing program", result.stderr)
    result = shell("make", "PG_CONFIG=no-such-pg_config")
    ok(result.returncode != 0 and "postgresql-server-dev-15" in result.stderr and "PG_CONFIG=" in result.stderr, "and pg_config", result.stderr)
    result = shell("cmake", "-S", ".", "-B", OUT / "missing", "-G", "Ninja", "-DCMAKE_IGNORE_PATH=/usr/include",
                   f"-DPG_CONFIG={os.environ['STROM_PG_CONFIG']}")
    line = re.search(r"apt-get install (.*)", result.stderr)
    wanted = {"libflatbuffers-dev", "libre2-dev", "libfmt-dev", "libcli11-dev"}
    ok(result.returncode != 0 and line and wanted <= set(line.group(1).split()), "all missing libraries are named at once", result.stderr)
    result = shell("cmake", "-S", ".", "-B", OUT / "no_server", "-G", "Ninja", "-DPG_CONFIG=/no/pg_config")
    ok(result.returncode != 0 and "/no/pg_config" in result.stderr and "postgresql-server-dev-15" in result.stderr, "so is PostgreSQL", result.stderr)


def check_first_steps():
    """README's "Use it" in a new database, on files in a folder of the test."""
    query("DROP DATABASE IF EXISTS strom_first_steps")
    query("CREATE DATABASE strom_first_steps")
    files = folder("first_steps")
    os.chmod(files, 0o777)
    script = block("README.md", "## Use it", "sql")
    ok("/tmp/" in script and "'/tmp'" in script, "README's files are in /tmp")
    result = run_sql("\\set ON_ERROR_STOP 1\n" + script.replace("'/tmp", f"'{files}"), "strom_first_steps")
    ok(result.returncode == 0, "README's statements run", result.stdout[-1000:], result.stderr)
    plans = result.stdout.split("EXPLAIN")[0]
    ok("Custom Scan (Cpu" in plans and "Foreign Scan on" in plans, "with the engine, and without", plans)
    ok("north" in result.stdout and "south" in result.stdout, "names of files become columns", result.stdout[-1000:])
    ok("NOTICE:  pg_strom takes part" in result.stderr and "session_preload_libraries = 'pg_strom'" in result.stderr,
       "CREATE EXTENSION says what other tables need", result.stderr)
    for name, arguments in (("arrow-info", ()), ("arrow2csv", ("--limit=5",))):
        shown = subprocess.run([BUILD_DIR / "tools" / name / name, *arguments, files / "sales.arrow"], capture_output=True, text=True)
        ok(shown.returncode == 0 and shown.stdout, f"{name} of README", shown.stderr)
    check_notice()
    check_role(files)


def check_notice():
    quiet = run_sql("SET client_min_messages = warning; DROP EXTENSION pg_strom CASCADE; CREATE EXTENSION pg_strom", "strom_first_steps")
    equal((quiet.returncode, quiet.stderr), (0, ""), "no notice for who wants none")
    preloaded = run_sql("DROP EXTENSION pg_strom; CREATE EXTENSION pg_strom", "strom_first_steps",
                        PGOPTIONS="-c session_preload_libraries=pg_strom")
    ok("takes part" not in preloaded.stderr, "and none where the library is preloaded", preloaded.stderr)
    rolled_back = run_sql("DROP EXTENSION pg_strom; BEGIN; CREATE EXTENSION pg_strom; ROLLBACK; BEGIN; COMMIT; CREATE EXTENSION pg_strom", "strom_first_steps")
    equal(rolled_back.stderr.count("takes part"), 1, "one for the transaction that brings the extension")


def check_role(files):
    """docs/user/install.md: what a role needs to make tables of files, and who is meant by "Permission denied"."""
    grants = block("docs/user/install.md", "Another role", "sql")
    rights = grants.strip().split("\n")
    make = f"SET ROLE analyst; IMPORT FOREIGN SCHEMA t FROM SERVER arrow_fdw INTO analysis OPTIONS (file '{files}/sales.arrow'); " \
           "SELECT count(*) > 0 FROM analysis.t; DROP FOREIGN TABLE analysis.t"
    query("DROP ROLE IF EXISTS analyst")
    query("CREATE ROLE analyst", "strom_first_steps")
    for missing in range(len(rights)):
        script = ";".join(["BEGIN", *(right for i, right in enumerate(rights) if i != missing), make, "ROLLBACK"])
        result = run_sql("\\set ON_ERROR_STOP 1\n" + script, "strom_first_steps")
        ok(result.returncode != 0, f"not without {rights[missing]}", result.stdout)
    result = run_sql("\\set ON_ERROR_STOP 1\n" + grants + make, "strom_first_steps")
    ok(result.returncode == 0, "a role with the rights of install.md makes a table", result.stderr)
    shutil.copy(files / "sales.arrow", files / "secret.arrow")
    os.chmod(files / "secret.arrow", 0)
    result = run_sql(f"IMPORT FOREIGN SCHEMA t FROM SERVER arrow_fdw INTO public OPTIONS (file '{files}/secret.arrow')", "strom_first_steps")
    ok("Permission denied" in result.stderr and f'user "{os.environ["STROM_SERVER_USER"]}"' in result.stderr,
       '"Permission denied" names the server\'s user', result.stderr)
    query("DROP DATABASE strom_first_steps")
    query("DROP ROLE analyst")


def check_removal():
    """docs/user/install.md: where the extension's objects are, and what goes with it."""
    database, page = "strom_removal", (ROOT / "docs/user/install.md").read_text()
    query(f"DROP DATABASE IF EXISTS {database}")
    query(f"CREATE DATABASE {database}")
    files = folder("removal")
    os.chmod(files, 0o777)
    query(f"""CREATE EXTENSION pg_strom;
        CREATE TABLE sizes (a int, b int1, c float2, d int1[], e int1); INSERT INTO sizes VALUES (1, 2, 3, '{{4}}', 5);
        SELECT pgstrom.arrow_export('SELECT 1 AS a', '{files}/a.arrow');
        IMPORT FOREIGN SCHEMA a FROM SERVER arrow_fdw INTO public OPTIONS (file '{files}/a.arrow')""", database)
    owned = "FROM pg_depend WHERE deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pg_strom')"
    elsewhere = int(query(f"SELECT count(*) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND oid IN (SELECT objid {owned})", database))
    elsewhere += int(query(f"SELECT count(*) FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oid IN (SELECT objid {owned})", database))
    elsewhere += int(query(f"SELECT count(*) FROM pg_opclass WHERE opcnamespace = 'pg_catalog'::regnamespace AND oid IN (SELECT objid {owned})", database))
    told = int(re.search(r"with some (\d+)\s+functions, operators and operator classes", page).group(1))
    ok(abs(elsewhere - told) <= 10, "objects in pg_catalog", elsewhere, told)
    servers = query(f"SELECT string_agg(srvname, ' and ' ORDER BY srvname) FROM pg_foreign_server WHERE oid IN (SELECT objid {owned})", database)
    ok(f"foreign servers are {' and '.join(f'`{name}`' for name in servers.split(' and '))}" in page, "foreign servers", servers)
    result = run_sql("DROP EXTENSION pg_strom", database)
    ok(all(f"column {name} of table sizes" in result.stderr for name in "bcde") and "foreign table a" in result.stderr,
       "without CASCADE it lists what would go", result.stderr)
    query("ALTER TABLE sizes ALTER COLUMN e TYPE smallint", database)
    result = run_sql("\\set ON_ERROR_STOP 1\n" + block("docs/user/install.md", "Take the library out", "sql") +
                     block("docs/user/install.md", "`CASCADE` drops", "sql"), database)
    ok(result.returncode == 0, "it can be removed", result.stderr)
    equal(query("SELECT * FROM sizes", database), "1|5", "columns of its types go with it, those of other types stay")
    ok((files / "a.arrow").exists(), "and so do the files")
    query(f"DROP DATABASE {database}")


check_installation()
check_makefile()
check_make_install()
check_copied_build()
check_copied_strom()
check_missing_packages()
check_first_steps()
check_removal()
done()
