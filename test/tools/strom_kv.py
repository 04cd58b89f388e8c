#!/usr/bin/env python3
"""strom-kv and libstromkv against a live server: one-sided reads, changes by SQL, tokens, and regions that go away."""
import ctypes
import json
import os
import random
import socket
import struct
import subprocess
import threading
import time

import psycopg

from checks import BUILD_DIR, done, equal, folder, fresh_database, ok, query, raises, run
from kv_library import Key, Row, fields_of, library

OUT = folder("strom_kv")
os.chmod(OUT, 0o777)
DB = fresh_database("strom_kv")
NOT_FOUND, MOVED, DROPPED, SILENT, UNSTABLE, REFUSED = 1, 2, 3, 4, 5, 6


def int4(value):
    return struct.pack("<i", value)


def make_table(name, columns, **options):
    options = {"max_num_rows": 20000, "primary_key": "id", "kv_access": "true", "durability": "async", **options}
    rest = "".join(f", {key} '{value}'" for key, value in options.items())
    query(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER gstore_fdw "
          f"OPTIONS (base_file '{OUT}/{name}.base', redo_log_file '{OUT}/{name}.redo'{rest})", DB)


def kv(command, *arguments, wanted=0, **options):
    """Standard output of a command that ends with that status."""
    status, out, err = run("strom-kv", command, *arguments, "-d", DB, **options)
    ok(status == wanted, f"strom-kv {command} {arguments[:2]}", status, out, err)
    return out if status == 0 or wanted == 0 else (out, err)


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


# ---- The library.


class Client:
    """An attached table and a reader."""

    def __init__(self, table=None, grant=None):
        path, token = grant or tokens(table)
        self.table, self.reader = ctypes.c_void_p(), ctypes.c_void_p()
        error = ctypes.create_string_buffer(500)
        self.status = library.stromkv_attach(path.encode(), token.encode(), ctypes.byref(self.table), error, 500)
        self.error = error.value.decode()
        if self.status == 0:
            library.stromkv_reader_open(self.table, ctypes.byref(self.reader))

    def get(self, number):
        """(status, values of the row) of an int4 key."""
        row = Row()
        key = struct.pack("<i", number)
        status = library.stromkv_get(self.reader, Key(key, len(key)), ctypes.byref(row))
        columns = library.stromkv_column_count(self.table)
        return status, fields_of(library.stromkv_fields, self.reader, columns, row) if status == 0 else None

    def set_patience(self, milliseconds):
        library.stromkv_set_patience(self.table, ctypes.c_uint(milliseconds))

    def close(self):
        library.stromkv_reader_close(self.reader)
        library.stromkv_detach(self.table)


def tokens(table, session=None):
    statement = f"SELECT socket, token FROM pgstrom.kv_attach('{table}')"
    return session.execute(statement).fetchone() if session else query(statement, DB).split("|")


def commands():
    make_table("t", "id int, n bigint, x float8, note text, ts timestamp, d date, ok bool, u uuid, s smallint, b bytea")
    query("""INSERT INTO t SELECT i, i * 10000000000, i / 4.0, 'note "' || i || E'"\\n', timestamp '2020-02-29 12:34:56.5' + i * interval '1 day',
             date '1999-12-31' + i, i % 2 = 0, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', -i, decode('00ff', 'hex') FROM generate_series(1, 1000) i;
             INSERT INTO t (id) VALUES (5000)""", DB)
    wanted = [json.loads(line) for line in query("SELECT to_jsonb(t) FROM t ORDER BY id", DB).splitlines()]
    for row in wanted:
        row["ts"] = row["ts"] and row["ts"].replace("T", " ")
    equal(sorted(rows(kv("dump", "t")), key=lambda row: row["id"]), wanted, "dump has the rows of SQL")
    equal(rows(kv("get", "t", 17)), [wanted[16]], "get")
    equal(rows(kv("mget", "t", 3, 5000, 1)), [wanted[2], wanted[-1], wanted[0]], "mget")
    equal(rows(kv("mget", "t", *range(1, 501))), wanted[:500], "mget of many")
    equal(kv("get", "t", 7777, wanted=1)[0], "null\n", "a key without a row")
    equal(kv("put", "t", '{"id": 7777, "note": "new"}'), "inserted\n", "put of a new row")
    equal(kv("put", "t", '{"id": 7777, "note": "changed", "s": 5}'), "updated\n", "put of a row that is there")
    equal([(row["note"], row["s"]) for row in rows(kv("get", "t", 7777))], [("changed", 5)], "what was put is found")
    equal(kv("del", "t", 7777, 7778, wanted=1)[0], "deleted\nnot found\n", "del")
    equal(kv("get", "t", 7777, wanted=1)[0], "null\n", "what was deleted is gone")
    equal(kv("verify", "t"), "sound: 1001 rows\n", "verify")
    stat = json.loads(kv("stat", "t"))
    equal((stat["rows"], stat["columns"][0], stat["columns"][3]["type"]), (1001, {"name": "id", "type": "integer", "is_key": True}, "pg_catalog.text"), "stat")
    bench = json.loads(kv("bench", "t", "--seconds=1", "--threads=2", "--batch=8"))
    ok(bench["gets"] > 1000 and bench["missing"] == 0, "bench", bench)
    make_table("texts", "id text, n int")
    query("INSERT INTO texts VALUES ('', 0), ('ž', 1), ('a key of more than twelve bytes', 2)", DB)
    equal([row and row["n"] for row in rows(kv("mget", "texts", "ž", "", "a key of more than twelve bytes"))], [1, 0, 2], "keys of text")
    make_table("times", "id int, d date, ts timestamp, tz timestamptz")
    query("""INSERT INTO times VALUES (1, '0044-03-15 BC', '0044-03-15 12:00:00.25 BC', '4713-01-01 00:00:00+00 BC'),
             (2, '12345-06-07', '12345-06-07 08:09:10', '294240-01-01 00:00:00.000001+00'), (3, 'infinity', '-infinity', 'infinity')""", DB)
    wanted = query("SET TimeZone = 'UTC'; SELECT json_build_object('id', id, 'd', d::text, 'ts', ts::text, 'tz', tz::text) FROM times ORDER BY id", DB)
    equal(rows(kv("mget", "times", 1, 2, 3)), rows(wanted), "times as SQL has them")
    # Wrong use.
    for arguments, message in ((("get", "t"), "get takes a key"), (("fetch", "t"), "unknown command"), ((), "no command"), (("get",), "no table"),
                               (("put", "t", "{}", "--socket=x", "--token=y"), "needs a session")):
        status, _, err = run("strom-kv", *arguments)
        ok(status == 2 and message in err, f"usage: {arguments}", status, err)
    for arguments, message in ((("get", "t", "x"), 'no value of the key'), (("get", "nothing", 1), "does not exist"),
                               (("get", "pg_class", 1), "not a store table"), (("put", "t", "{"), "invalid input syntax for type json")):
        _, err = kv(*arguments, wanted=1)
        ok(message in err, f"fails: {arguments}", err)
    make_table("private", "id int", kv_access="false")
    ok("has no published region" in kv("get", "private", 1, wanted=1)[1], "a table without kv_access")


def permissions():
    query("CREATE ROLE strom_kv_user LOGIN; GRANT USAGE ON SCHEMA pgstrom TO strom_kv_user", DB)
    try:
        ok("permission denied" in kv("get", "t", 1, "-U", "strom_kv_user", wanted=1)[1], "a role without SELECT")
        query("GRANT SELECT (id) ON t TO strom_kv_user", DB)
        ok("permission denied" in kv("get", "t", 1, "-U", "strom_kv_user", wanted=1)[1], "a role with SELECT on a column")
        query("GRANT SELECT ON t TO strom_kv_user", DB)
        equal(rows(kv("get", "t", 1, "-U", "strom_kv_user"))[0]["id"], 1, "a role with SELECT")
        ok("must be owner" in run_as_user("SELECT pgstrom.kv_rotate('t')"), "kv_rotate is the owner's")
        rights_that_go()
        rights_that_go_with_roles()
        roles_that_change_beside_attaching()
        rights_that_go_with_owners()
    finally:
        query("DROP OWNED BY strom_kv_user; DROP ROLE strom_kv_user", DB)


def rights_that_go():
    """A client whose role loses the right to read loses the region, and others attach again."""
    query("CREATE ROLE strom_kv_other; CREATE SCHEMA kv_rights", DB)
    make_table("kv_rights.s", "id int, n int")
    query("INSERT INTO kv_rights.s VALUES (1, 1)", DB)
    grants = "GRANT USAGE ON SCHEMA kv_rights, pgstrom TO strom_kv_user; GRANT SELECT ON kv_rights.s TO strom_kv_user, strom_kv_other"
    ways = ("REVOKE SELECT ON kv_rights.s FROM strom_kv_user", "REVOKE ALL ON ALL TABLES IN SCHEMA kv_rights FROM strom_kv_user",
            "DROP OWNED BY strom_kv_user", "ALTER FOREIGN TABLE kv_rights.s OWNER TO CURRENT_USER",
            "BEGIN; SELECT * FROM kv_rights.s; REVOKE SELECT ON kv_rights.s FROM strom_kv_user; COMMIT")
    with psycopg.connect(dbname=DB, user="strom_kv_user", autocommit=True) as user:
        for way in ways:
            query(grants, DB)
            if "OWNER" in way:
                query("REVOKE SELECT ON kv_rights.s FROM strom_kv_user; GRANT CREATE ON SCHEMA kv_rights TO strom_kv_user; "
                      "ALTER FOREIGN TABLE kv_rights.s OWNER TO strom_kv_user", DB)
            client, other = Client(grant=tokens("kv_rights.s", user)), Client("kv_rights.s")
            unused = tokens("kv_rights.s", user)
            query("REVOKE SELECT ON kv_rights.s FROM strom_kv_other; REVOKE SELECT ON t FROM strom_kv_other; REVOKE USAGE ON SCHEMA public FROM strom_kv_other", DB)
            equal((client.get(1)[0], other.get(1)[0]), (0, 0), f"rights of others: {way}")
            query(way, DB)
            equal((client.get(1)[0], other.get(1)[0]), (MOVED, MOVED), f"the region goes: {way}")
            equal(Client(grant=unused).status, MOVED, f"so does a token that was not used: {way}")
            try:
                tokens("kv_rights.s", user)
                ok(False, f"attaching again: {way}")
            except psycopg.errors.InsufficientPrivilege:
                pass
            client.close()
            other.close()
            other = Client("kv_rights.s")
            equal(other.get(1)[0], 0, f"who still may attaches again: {way}")
            other.close()
            query(grants, DB)
        # A transaction that has changes of the table cannot make the region anew.
        client = Client(grant=tokens("kv_rights.s", user))
        with psycopg.connect(dbname=DB) as session:
            session.execute("UPDATE kv_rights.s SET n = 2")
            try:
                session.execute("REVOKE SELECT ON kv_rights.s FROM strom_kv_user")
                ok(False, "REVOKE beside changes")
            except psycopg.errors.ObjectInUse as error:
                ok("transaction of its own" in str(error), "REVOKE beside changes", str(error))
        equal(client.get(1)[0], 0, "nothing was revoked")
        client.close()
        attach_beside_revoke(user)
    query("DROP SCHEMA kv_rights CASCADE; DROP ROLE strom_kv_other", DB)


def alters_that_are_taken_back():
    """What clients read has the columns' names and the options that SQL has, also after a ROLLBACK."""
    make_table("back", "id int, v int, w int")
    query("INSERT INTO back VALUES (1, 10, 20)", DB)
    alters = ("ALTER FOREIGN TABLE back RENAME v TO x; ALTER FOREIGN TABLE back RENAME w TO v", "ALTER FOREIGN TABLE back OPTIONS (SET kv_access 'false')")
    with psycopg.connect(dbname=DB, autocommit=True) as session:
        for alter in alters:
            for way in ("BEGIN; {}; INSERT INTO back VALUES (2, 3, 4); ROLLBACK", "BEGIN; SAVEPOINT a; {}; ROLLBACK TO a; UPDATE back SET v = 10; COMMIT"):
                session.execute(way.format(alter))
                ok(comes(lambda: can_attach("back"), 60), f"clients attach after {way.format(alter)}")
                equal(kv("get", "back", "1").strip(), '{"id": 1, "v": 10, "w": 20}', "and read what SQL has")
                equal(query("SELECT pgstrom.store_check('back')", DB), "1", "all of it is sound")


def can_attach(table):
    with psycopg.connect(dbname=DB, autocommit=True) as session:
        try:
            tokens(table, session)
            return True
        except psycopg.Error:
            return False


def rights_that_go_with_roles():
    """A role that could read because of another role, or of what it was, loses the region soon after that has changed."""
    query("CREATE ROLE strom_kv_group; CREATE ROLE strom_kv_member LOGIN; CREATE ROLE strom_kv_stays LOGIN; "
          "CREATE SCHEMA kv_roles; GRANT USAGE ON SCHEMA kv_roles, pgstrom TO strom_kv_group, strom_kv_member, strom_kv_stays", DB)
    make_table("kv_roles.s", "id int, n int")
    query("INSERT INTO kv_roles.s VALUES (1, 1); GRANT SELECT ON kv_roles.s TO strom_kv_group, strom_kv_stays", DB)
    ways = (("GRANT strom_kv_group TO strom_kv_member", "REVOKE strom_kv_group FROM strom_kv_member"),
            ("GRANT strom_kv_group TO strom_kv_member", "ALTER ROLE strom_kv_member NOINHERIT; GRANT strom_kv_group TO strom_kv_member WITH INHERIT FALSE"
             if query("SHOW server_version_num", DB) >= "160000" else "ALTER ROLE strom_kv_member NOINHERIT"),
            ("ALTER ROLE strom_kv_member INHERIT SUPERUSER", "ALTER ROLE strom_kv_member NOSUPERUSER"))
    for before, way in ways:
        query(f"REVOKE strom_kv_group FROM strom_kv_member; {before}", DB)
        with psycopg.connect(dbname=DB, user="strom_kv_member", autocommit=True) as user:
            client = Client(grant=tokens("kv_roles.s", user))
        equal(client.get(1)[0], 0, f"the role may read: {before}")
        query(way, DB)
        ok(comes(lambda: client.get(1)[0] == MOVED), f"the region goes soon: {way}")
        client.close()
    # The role cannot keep a region by a transaction that it leaves open.
    make_table("kv_roles.locked", "id int, n int")
    query("GRANT strom_kv_group TO strom_kv_member; GRANT SELECT ON kv_roles.locked TO strom_kv_group; ALTER ROLE strom_kv_member INHERIT", DB)
    with psycopg.connect(dbname=DB, user="strom_kv_member", autocommit=True) as user:
        clients = [Client(grant=tokens(table, user)) for table in ("kv_roles.s", "kv_roles.locked")]
        user.execute("BEGIN; SELECT FROM kv_roles.locked; SELECT FROM kv_roles.s LIMIT 0")
        user.execute("ROLLBACK; BEGIN; SELECT FROM kv_roles.locked")
        with psycopg.connect(dbname=DB, user="strom_kv_stays") as other:
            other.execute("SELECT FROM kv_roles.s")
            query("REVOKE strom_kv_group FROM strom_kv_member", DB)
            ok(comes(lambda: clients[1].get(1)[0] == MOVED), "the region of a table that the role has locked goes")
            equal(clients[0].get(1)[0], 0, "that of a table that another role has locked waits for it")
            equal(other.execute("SELECT n FROM kv_roles.s").fetchall(), [(1,)], "which goes on")
        ok(comes(lambda: clients[0].get(1)[0] == MOVED, 30), "and goes when it is free")
        raises(lambda: user.execute("SELECT 1"), psycopg.Error, "", "the role's session has ended")
    for client in clients:
        client.close()
    # Other changes of roles take nothing from anybody.
    with psycopg.connect(dbname=DB, user="strom_kv_stays", autocommit=True) as user:
        client = Client(grant=tokens("kv_roles.s", user))
    query("ALTER ROLE strom_kv_member CONNECTION LIMIT 7; GRANT strom_kv_group TO strom_kv_member", DB)
    looked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'pg_strom rights%'"
    time.sleep(3)
    ok(comes(lambda: query(looked, DB) == "0"), "nobody looks at rights for long")
    equal(client.get(1)[0], 0, "a role that still may read keeps the region")
    client.close()
    query("DROP SCHEMA kv_roles CASCADE; DROP OWNED BY strom_kv_group, strom_kv_member, strom_kv_stays; "
          "DROP ROLE strom_kv_group, strom_kv_member, strom_kv_stays", DB)


def roles_that_change_beside_attaching():
    """Who attaches at the moment when his role leaves another one is refused, or loses the region soon."""
    query("CREATE ROLE strom_kv_group; CREATE ROLE strom_kv_member LOGIN; CREATE SCHEMA kv_beside; "
          "GRANT USAGE ON SCHEMA kv_beside, pgstrom TO strom_kv_group, strom_kv_member", DB)
    make_table("kv_beside.s", "id int, n int")
    query("INSERT INTO kv_beside.s VALUES (1, 1); GRANT SELECT ON kv_beside.s TO strom_kv_group", DB)
    attached = 0
    for round_ in range(6):
        query("GRANT strom_kv_group TO strom_kv_member", DB)
        clients, errors = [], []

        def attach_until_refused():
            own = []
            with psycopg.connect(dbname=DB, user="strom_kv_member", autocommit=True) as user:
                try:
                    while True:
                        own.append(Client(grant=tokens("kv_beside.s", user)))
                        if len(own) > 2:
                            own.pop(0).close()
                except psycopg.Error as error:
                    errors.append(error.sqlstate)
            clients.extend(own)

        threads = [threading.Thread(target=attach_until_refused) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.1 + 0.02 * round_)
        query("REVOKE strom_kv_group FROM strom_kv_member", DB)
        for thread in threads:
            thread.join()
        attached += sum(client.status == 0 for client in clients)
        equal(errors, ["42501"] * len(threads), f"attaching is refused, round {round_}")
        ok(comes(lambda: all(client.status != 0 or client.get(1)[0] == MOVED for client in clients)), f"and those that got in lose the region, round {round_}")
        for client in clients:
            client.close()
    ok(attached > 0, "some got in", attached)
    query("DROP SCHEMA kv_beside CASCADE; DROP OWNED BY strom_kv_group, strom_kv_member; DROP ROLE strom_kv_group, strom_kv_member", DB)


def rights_that_go_with_owners():
    """A role that could read because it owned the table or the database. Nobody is told of REASSIGN OWNED."""
    query("CREATE ROLE strom_kv_owner LOGIN; CREATE ROLE strom_kv_next; CREATE SCHEMA kv_owners; "
          "GRANT USAGE, CREATE ON SCHEMA kv_owners TO strom_kv_owner, strom_kv_next; GRANT USAGE ON SCHEMA pgstrom TO strom_kv_owner", DB)
    make_table("kv_owners.s", "id int, n int")
    query("INSERT INTO kv_owners.s VALUES (1, 1); GRANT SELECT ON kv_owners.s TO pg_database_owner", DB)
    ways = (("ALTER FOREIGN TABLE kv_owners.s OWNER TO strom_kv_owner", "REASSIGN OWNED BY strom_kv_owner TO strom_kv_next"),
            (f"ALTER DATABASE {DB} OWNER TO strom_kv_owner", f"ALTER DATABASE {DB} OWNER TO strom_kv_next"))
    for before, way in ways:
        query(before, DB)
        with psycopg.connect(dbname=DB, user="strom_kv_owner", autocommit=True) as user:
            client = Client(grant=tokens("kv_owners.s", user))
            equal(client.get(1)[0], 0, f"the role may read: {before}")
            query(way, DB)
            ok(comes(lambda: client.get(1)[0] == MOVED, 60), f"the region goes: {way}")
            ok(not_allowed(lambda: tokens("kv_owners.s", user)), f"and does not come back: {way}")
        client.close()
    query(f"ALTER DATABASE {DB} OWNER TO CURRENT_USER; DROP SCHEMA kv_owners CASCADE; DROP OWNED BY strom_kv_owner, strom_kv_next; "
          "DROP ROLE strom_kv_owner, strom_kv_next", DB)


def not_allowed(call):
    try:
        call()
        return False
    except psycopg.errors.InsufficientPrivilege:
        return True


def comes(happens, seconds=20):
    """True as soon as happens() is; False if it is not within the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happens():
            return True
        time.sleep(0.05)
    return False


def attach_beside_revoke(user):
    """Who attaches while a REVOKE is not committed waits for it, and is refused."""
    answers = []

    def attach():
        try:
            answers.append(tokens("kv_rights.s", user))
        except psycopg.Error as error:
            answers.append(error.sqlstate)

    with psycopg.connect(dbname=DB) as session:
        session.execute("REVOKE SELECT ON kv_rights.s FROM strom_kv_user")
        attaching = threading.Thread(target=attach)
        attaching.start()
        pid = user.info.backend_pid
        while not answers and query(f"SELECT wait_event_type FROM pg_stat_activity WHERE pid = {pid}", DB) != "Lock":
            time.sleep(0.01)
        session.commit()
    attaching.join()
    equal(answers, ["42501"], "attaching waits for a REVOKE that runs")


def run_as_user(statement):
    with psycopg.connect(dbname=DB, autocommit=True) as session:
        session.execute("SET ROLE strom_kv_user")
        try:
            session.execute(statement)
        except psycopg.Error as error:
            return str(error)
    return ""


def token_rules():
    grant = tokens("t")
    client = Client(grant=grant)
    equal((client.status, client.get(3)[0]), (0, 0), "a token is good")
    client.close()
    equal(Client(grant=grant).status, REFUSED, "once")
    equal(Client(grant=(grant[0], "0" * 32)).status, REFUSED, "a token that nobody made")
    equal(Client(grant=(grant[0], "xyz")).status, REFUSED, "no token at all")
    equal(Client(grant=(str(OUT / "nothing"), "0" * 32)).status, 9, "a socket that is not there")
    equal(rows(run("strom-kv", "get", "t", "9", f"--socket={grant[0]}", f"--token={tokens('t')[1]}")[1])[0]["id"], 9, "strom-kv with somebody else's token")
    grant = tokens("t")
    query("SELECT pgstrom.kv_rotate('t')", DB)
    equal(Client(grant=grant).status, MOVED, "a token of a region that has gone since")
    # Garbage, and clients that say nothing.
    silent = []
    for size in (0, 1, 31, 32, 4096):
        client = socket.socket(socket.AF_UNIX)
        client.connect(grant[0])
        client.sendall(random.Random(size).randbytes(size))
        silent.append(client)
    many = [socket.socket(socket.AF_UNIX) for _ in range(300)]
    for client in many:
        client.connect(grant[0])
    good = Client("t")
    equal((good.status, good.get(5)[0]), (0, 0), "garbage and silence keep nobody away")
    good.close()
    equal(silent[3].recv(100)[8:12], struct.pack("<I", 3), "garbage is answered")
    for client in silent + many:
        client.close()
    clients = [Client("t") for _ in range(200)]
    equal({(client.status, client.get(7)[0]) for client in clients}, {(0, 0)}, "200 clients")
    for client in clients:
        client.close()


def committed_only():
    """Readers see what is committed, from the moment that the writer knows of it, and nothing else."""
    make_table("c", "id int, n int")
    client = Client("c")
    equal(client.get(1)[0], NOT_FOUND, "no row")
    with psycopg.connect(dbname=DB) as session:
        session.execute("INSERT INTO c VALUES (1, 1)")
        equal(client.get(1)[0], NOT_FOUND, "a row that is not committed")
        session.commit()
        equal(client.get(1), (0, [int4(1), int4(1)]), "a row that is")
        session.execute("UPDATE c SET n = 2; DELETE FROM c; INSERT INTO c VALUES (1, 3)")
        equal(client.get(1)[1], [int4(1), int4(1)], "changes that are not committed")
        session.rollback()
        for i in range(2000):
            session.execute("UPDATE c SET n = %s WHERE id = 1", (i,))
            session.commit()
            if client.get(1)[1] != [int4(1), int4(i)]:
                ok(False, "a commit is seen at once", i)
                break
        session.execute("DELETE FROM c")
        session.commit()
        equal(client.get(1)[0], NOT_FOUND, "a deleted row")
    client.close()


def torn_reads():
    """Rows whose values belong together, read while they are changed, moved, deleted and made anew."""
    make_table("w", "id int, a int, pad text, b int")
    query("INSERT INTO w SELECT i, 0, repeat('x', 100), 0 FROM generate_series(0, 199) i", DB)
    stop = threading.Event()
    errors = []

    def write(seed):
        numbers = random.Random(seed)
        with psycopg.connect(dbname=DB, autocommit=True) as session:
            while not stop.is_set():
                n, key = numbers.randrange(1 << 30), numbers.randrange(200)
                if numbers.random() < 0.2:
                    with session.transaction():
                        session.execute("DELETE FROM w WHERE id = %s", (key,))
                        session.execute("INSERT INTO w VALUES (%s, %s, repeat('y', %s), %s) ON CONFLICT DO NOTHING", (key, n, numbers.randrange(3000), n))
                else:
                    session.execute("UPDATE w SET a = %s, b = %s, pad = repeat('z', %s) WHERE id = %s", (n, n, numbers.randrange(300), key))

    writers = [threading.Thread(target=write, args=(i,)) for i in range(3)]
    for writer in writers:
        writer.start()
    client = Client("w")
    reads, end = 0, time.monotonic() + 4
    while time.monotonic() < end:
        status, row = client.get(reads % 200)
        reads += 1
        if status != 0:
            errors.append((reads, status))
        elif row[0] != int4((reads - 1) % 200) or row[1] != row[3] or len(set(row[2])) > 1:
            errors.append((reads, row))
    stop.set()
    for writer in writers:
        writer.join()
    client.close()
    # A key that one transaction deletes and makes again is never missing.
    equal(errors[:3], [], f"{reads} reads beside writers are whole")
    equal(query("SELECT pgstrom.store_check('w') = count(*) FROM w", DB), "t", "what is published is what is committed")


def regions_that_go():
    make_table("gone", "id int, n int")
    query("INSERT INTO gone VALUES (1, 1)", DB)
    client = Client("gone")
    equal(client.get(1)[0], 0, "a row")
    query("SELECT pgstrom.kv_rotate('gone')", DB)
    equal(client.get(1)[0], MOVED, "a region that was rotated")
    client.close()
    client = Client("gone")
    equal(client.get(1)[0], 0, "and the next one")
    query("ALTER FOREIGN TABLE gone OPTIONS (SET kv_access 'false')", DB)
    equal(client.get(1)[0], DROPPED, "without the option")
    client.close()
    query("ALTER FOREIGN TABLE gone OPTIONS (SET kv_access 'true')", DB)
    client = Client("gone")
    equal(client.get(1)[0], 0, "with it again")
    query("ALTER FOREIGN TABLE gone OPTIONS (ADD checksum 'xxh3')", DB)
    equal(client.get(1)[0], MOVED, "another checksum takes another region")
    client.close()
    client = Client("gone")
    query("UPDATE gone SET n = 2", DB)
    equal((rows(kv("get", "gone", 1)), kv("verify", "gone")), ([{"id": 1, "n": 2}], "sound: 1 rows\n"), "rows with XXH3")
    query("DROP FOREIGN TABLE gone", DB)
    equal((client.get(1)[0], client.get(2)[0]), (DROPPED, DROPPED), "a table that was dropped")
    client.close()
    # The mapping is read-only, whatever the client tries.
    path, token = tokens("t")
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(path)
        raw.sendall(b"SROMATCH" + struct.pack("<II", 1, 0) + bytes.fromhex(token))
        _, descriptors, _, _ = socket.recv_fds(raw, 100, 1)
    try:
        os.pwrite(descriptors[0], b"x", 0)
        ok(False, "the descriptor is read-only")
    except OSError:
        pass
    os.close(descriptors[0])


def installed():
    """A program in C that is made with what is installed."""
    root = OUT / "root"
    result = subprocess.run(["cmake", "--install", BUILD_DIR, "--prefix", str(root)], capture_output=True, text=True, env={**os.environ, "DESTDIR": str(OUT / "pg")})
    ok(result.returncode == 0, "installation", result.stderr)
    root = OUT / "pg" / str(root)[1:]
    pc = next(root.rglob("stromkv.pc"))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "stromkv"], capture_output=True, text=True, env={**os.environ, "PKG_CONFIG_PATH": str(pc.parent)})
    equal(flags.returncode, 0, "pkg-config finds the library")
    (OUT / "use.c").write_text("""
#include <stdio.h>
#include <stromkv.h>
int main(int count, char **arguments) {
  stromkv *table;
  stromkv_reader *reader;
  stromkv_row row;
  stromkv_field fields[2];
  int key = 17;
  stromkv_key wanted = {&key, sizeof(key)};
  if (count != 3 || stromkv_attach(arguments[1], arguments[2], &table, NULL, 0) != STROMKV_OK) return 1;
  if (stromkv_reader_open(table, &reader) != STROMKV_OK || stromkv_get(reader, wanted, &row) != STROMKV_OK) return 2;
  if (stromkv_column_count(table) != 2 || stromkv_fields(reader, &row, fields) != STROMKV_OK) return 3;
  printf("%s %d\\n", stromkv_column_at(table, 1)->name, *(const int *)fields[1].data);
  stromkv_reader_close(reader);
  stromkv_detach(table);
  return 0;
}
""")
    made = subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-pedantic", OUT / "use.c", *flags.stdout.split(), "-o", OUT / "use"], capture_output=True, text=True)
    ok(made.returncode == 0, "a program in C", made.stderr)
    make_table("pairs", "id int, n int")
    query("INSERT INTO pairs SELECT i, i * i FROM generate_series(1, 100) i", DB)
    used = subprocess.run([OUT / "use", *tokens("pairs")], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(pc.parent.parent)})
    equal((used.returncode, used.stdout), (0, "n 289\n"), "reads")


def expired_token(grant, made):
    """Tokens are good for 30 seconds, of which the other tests have taken a part."""
    time.sleep(max(0, made + 31 - time.monotonic()))
    equal(Client(grant=grant).status, REFUSED, "a token that nobody used in time")


commands()
early, early_time = tokens("t"), time.monotonic()
permissions()
alters_that_are_taken_back()
token_rules()
committed_only()
torn_reads()
regions_that_go()
installed()
expired_token(early, early_time)
query(f"DROP DATABASE {DB}")
done()
