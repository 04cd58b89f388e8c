"""TPC-H's tables (specification revision 3, clause 1.4) with its types and keys. tpchgen-cli makes their rows as dbgen
does. Called by run.py."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Dict

from postgres import Server

COLUMNS = {
    "region": "r_regionkey integer, r_name char(25), r_comment varchar(152)",
    "nation": "n_nationkey integer, n_name char(25), n_regionkey integer, n_comment varchar(152)",
    "supplier": "s_suppkey integer, s_name char(25), s_address varchar(40), s_nationkey integer, s_phone char(15), "
                "s_acctbal numeric(15,2), s_comment varchar(101)",
    "part": "p_partkey integer, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25), p_size integer, "
            "p_container char(10), p_retailprice numeric(15,2), p_comment varchar(23)",
    "partsupp": "ps_partkey integer, ps_suppkey integer, ps_availqty integer, ps_supplycost numeric(15,2), ps_comment varchar(199)",
    "customer": "c_custkey integer, c_name varchar(25), c_address varchar(40), c_nationkey integer, c_phone char(15), "
                "c_acctbal numeric(15,2), c_mktsegment char(10), c_comment varchar(117)",
    "orders": "o_orderkey bigint, o_custkey integer, o_orderstatus char(1), o_totalprice numeric(15,2), o_orderdate date, "
              "o_orderpriority char(15), o_clerk char(15), o_shippriority integer, o_comment varchar(79)",
    "lineitem": "l_orderkey bigint, l_partkey integer, l_suppkey integer, l_linenumber integer, l_quantity numeric(15,2), "
                "l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2), l_returnflag char(1), "
                "l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), "
                "l_shipmode char(10), l_comment varchar(44)",
}  # fmt: skip
KEYS = {"region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "part": "p_partkey",
        "partsupp": "ps_partkey, ps_suppkey", "customer": "c_custkey", "orders": "o_orderkey",
        "lineitem": "l_orderkey, l_linenumber"}  # fmt: skip
REFERENCES = (("nation", "n_regionkey", "region"), ("supplier", "s_nationkey", "nation"), ("customer", "c_nationkey", "nation"),
              ("partsupp", "ps_partkey", "part"), ("partsupp", "ps_suppkey", "supplier"), ("orders", "o_custkey", "customer"),
              ("lineitem", "l_orderkey", "orders"), ("lineitem", "l_partkey, l_suppkey", "partsupp"))  # fmt: skip
SCHEMA = "tpch"
QUERIES = Path(__file__).resolve().parent / "queries"
DATA_VERSION = 3  # versions 1 and 2 had other rows than dbgen's


def declaration(table: str) -> str:
    """The table's columns in SQL. None of them can be NULL."""
    return COLUMNS[table].replace(", ", " not null, ") + " not null"


def statements(scale: float) -> Dict[str, str]:
    """The queries by name, in order."""
    paths = sorted(QUERIES.glob("Q*.sql"))
    return {path.stem: path.read_text().strip().rstrip(";").replace(":scale", f"{scale:g}") for path in paths}


def label_of(scale: float) -> str:
    return f"TPC-H scale {scale:g}, data version {DATA_VERSION}"


def generate(data_dir: Path, scale: float) -> Dict[str, Path]:
    """Makes CSV files with a header, one for each table, unless they exist already. Raises CalledProcessError."""
    folder = data_dir / f"scale-{scale:g}"
    files = {table: folder / f"{table}.csv" for table in COLUMNS}
    done = folder / "done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        program = Path(sys.executable).parent / "tpchgen-cli"
        subprocess.run([program, "csv", "--scale-factor", f"{scale:g}", "--output-dir", folder, "--overwrite", "--quiet"], check=True)
        done.touch()
    return files


def load(server: Server, files: Dict[str, Path], label: str) -> None:
    """Makes heap tables with the specification's primary and foreign keys, unless they exist already."""
    with server.connect("public") as connection:
        comment = "select obj_description(to_regnamespace(%s), 'pg_namespace')"
        if connection.execute(comment, (SCHEMA,)).fetchone()[0] == label:
            return
        connection.execute("set client_min_messages = warning")
        connection.execute(f"drop schema if exists {SCHEMA} cascade; create schema {SCHEMA}; set search_path = {SCHEMA}")
        for name, file in files.items():
            connection.execute(f"create table {name} ({declaration(name)})")
            with file.open("rb") as rows, connection.cursor().copy(f"copy {name} from stdin (format csv, header)") as copy:
                while piece := rows.read(1 << 20):
                    copy.write(piece)
            connection.execute(f"alter table {name} add primary key ({KEYS[name]})")
            connection.execute(f"vacuum (analyze) {name}")
        for name, columns, other in REFERENCES:
            connection.execute(f"alter table {name} add foreign key ({columns}) references {other}")
        connection.execute("create index on orders (o_custkey); create index on lineitem (l_partkey, l_suppkey)")
        connection.execute(f"comment on schema {SCHEMA} is '{label}'")
