#!/usr/bin/env python3
"""Clients of store tables in databases that are not in UTF-8: they find and print the text that SQL sees."""
import json
import os
import pathlib
import sys

import psycopg

from checks import BUILD_DIR, done, equal, folder, ok, query, raises, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
os.environ["STROMKV_LIBRARY"] = str(BUILD_DIR / "src/kv/libstromkv.so")

import strom_kv  # noqa: E402

OUT = folder("strom_kv_encodings")
os.chmod(OUT, 0o777)
ENCODINGS = {"LATIN1": "café ñ", "LATIN9": "café €", "EUC_JP": "日本語 カナ", "WIN1251": "Привет", "KOI8R": "Привет", "EUC_KR": "한국어", "SQL_ASCII": "café 日"}


def kv(database, command, *arguments, wanted=0):
    status, out, err = run("strom-kv", command, "words", *arguments, "-d", database)
    ok(status == wanted, f"{database}: strom-kv {command} {arguments}", status, out, err)
    return out if wanted == 0 else err


def as_row(encoding, word):
    length = len(word.encode()) if encoding == "SQL_ASCII" else len(word)
    return {"k": word, word[:2]: word * 2, "c": word + " " * (20 - length), "n": word, "j": {"x": word}, "id": 7}


def words(encoding, word):
    database = "strom_kv_" + encoding.lower()
    query(f"DROP DATABASE IF EXISTS {database}")
    query(f"CREATE DATABASE {database} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    name = word[:2]
    with psycopg.connect(dbname=database, autocommit=True, client_encoding="UTF8") as session:
        session.execute("CREATE EXTENSION pg_strom")
        session.execute(f"""CREATE FOREIGN TABLE words (k text, "{name}" varchar(40), c char(20), n name, j json, id int) SERVER gstore_fdw OPTIONS
            (base_file '{OUT}/{database}.base', redo_log_file '{OUT}/{database}.redo', max_num_rows '1000', primary_key 'k', kv_access 'true')""")
        statement = "INSERT INTO words VALUES (%s, %s, %s, %s, %s, 7)"
        row = as_row(encoding, word)
        session.execute(statement, (word, word * 2, row["c"], word, json.dumps(row["j"], ensure_ascii=False)))
        for ways in ((), ("--messages",)):
            equal(json.loads(kv(database, "get", word, *ways)), row, f"{encoding}: get {ways}")
            kv(database, "get", word + "x", *ways, wanted=1)
            new = {**row, "k": word + str(len(ways))}
            equal(kv(database, "put", json.dumps(new, ensure_ascii=False), *ways).strip(), "inserted", f"{encoding}: put {ways}")
            equal(json.loads(kv(database, "get", new["k"], *ways)), new, f"{encoding}: what was put {ways}")
        equal(len(kv(database, "dump").splitlines()), 3, f"{encoding}: dump")
        ok(name in json.loads(kv(database, "stat"))["columns"][1]["name"], f"{encoding}: names of columns")
        with strom_kv.attach(f"dbname={database}", "words") as table, strom_kv.session(f"dbname={database}", "words") as messages:
            own = {**row, "j": json.dumps(row["j"], ensure_ascii=False)}
            equal([table.get(word), messages.get(word)], [own, own], f"{encoding}: Python")
            equal(sorted(each["k"] for each in table.scan()), sorted((word, word + "0", word + "1")), f"{encoding}: Python's scan")
            equal(messages.put({**own, "k": word + "p"}), True, f"{encoding}: Python's put")
            equal(table.mget([word + "p", "none"], form="arrow").column(name).to_pylist(), [word * 2, None], f"{encoding}: Arrow")
            if encoding not in ("SQL_ASCII", "EUC_JP", "EUC_KR", "WIN1251", "KOI8R"):
                raises(lambda: messages.put({**own, "k": "日本"}), strom_kv.BadValue, "", f"{encoding}: a character that it lacks")
                ok("lacks" in kv(database, "get", "日本", wanted=1), f"{encoding}: as a key")
        if encoding != "SQL_ASCII":
            equal(session.execute("SELECT count(DISTINCT k), min(length(k)), min(length(n)), pgstrom.store_check('words') FROM words").fetchone(),
                  (4, len(word), len(word), 4), f"{encoding}: as SQL sees them")
    query(f"DROP DATABASE {database} (FORCE)")


for each in ENCODINGS.items():
    words(*each)
done()
