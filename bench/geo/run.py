#!/usr/bin/env python3
"""Points in polygons: the engine against PostGIS, shapely, geopandas and SedonaDB.
The polygons resemble municipalities. Prints a table and writes JSON. All answers are compared; the exit status is 1
when one differs. Called by `./strom bench geo`; docs/dev/benchmark.md explains it."""
from __future__ import annotations

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, Dict, List, Optional

import numpy as np
import psycopg
import pyarrow as pa
import shapely

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "common", HERE.parent / "ssb"):
    sys.path.insert(0, str(folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import map_of_counts  # noqa: E402
import municipalities  # noqa: E402
import options  # noqa: E402
from options import say  # noqa: E402

ONE_PREFECTURE = "p13"
# As the article of the seeds has it, and one of few points.
CONSTANT = "polygon ((124 26, 128 27, 130 30, 126 33, 124 26))"
NEIGHBOURS = 10  # of each point, on average, in the join by distance
TASKS = ("join", "prefecture", "constant", "near")
ENGINES = ("pg_strom", "postgis", "shapely", "geopandas", "sedonadb")
MANY = {("join", "sedonadb"): 8}  # for the size with the most polygons
# The limits for making indexes in milliseconds, by size: for cells, and for the tree.
INDEX_WANTED = {"6000": {"cells_ms": 150}, "120000": {"cells_ms": 500, "tree_ms": 30}}
INDEX_NAMES = {"cells_ms": "index of cells", "tree_ms": "tree of boxes"}
MOST_INDEX_BYTES = 3  # times the bytes of the polygons
POINTS_A_SECOND = 200e6  # for the constant polygon
WANTED = {("join", "sedonadb"): 10, ("join", "postgis"): 130, ("join", "shapely"): 20, ("prefecture", "sedonadb"): 5,
          ("prefecture", "postgis"): 700, ("constant", "postgis"): 40, ("near", "postgis"): 20, ("near", "sedonadb"): 3}

Counts = Dict[int, int]


def parse_arguments(given: List[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--sizes", default="6000,120000", help="of %s, separated by commas" % ", ".join(municipalities.SIZES))
    add("--points", type=float, default=10e6)
    add("--work-memory", default="1GB", help="pg_strom.work_memory; the other engines have no limit")
    add("--near", type=float, default=1e6, help="points on each side of the join by distance; 0 leaves it out")
    add("--tasks", default=",".join(TASKS), help="only these, separated by commas")
    add("--runs", type=int, default=3, help="measured runs of each; slow rivals run once")
    add("--engines", default=",".join(ENGINES), help="only these, separated by commas")
    add("--threads", type=int, default=2, help="threads or workers of every engine")
    add("--index-times", type=Path, help="the program that makes indexes alone; none: they are not measured")
    add("--map", type=Path, help="an SVG of the engine's answer to the first task, by polygons of the first size")
    options.add_out(parser)
    options.add_server(parser)
    return parser.parse_args(given)


class Data:
    def __init__(self, size: municipalities.Size, count: int, near: int):
        self.size = size
        say(f"polygons of {size.name}")
        self.polygons = municipalities.polygons(size)
        self.prefectures = [municipalities.prefecture(i, size) for i in range(len(self.polygons))]
        self.points = municipalities.points(count, size)
        self.near = [municipalities.points(near, size, seed) for seed in (21, 22)]
        extent = municipalities.EXTENT**2 * min(size.columns, size.rows) / max(size.columns, size.rows)
        self.distance = float(np.sqrt(NEIGHBOURS * extent / (np.pi * max(near, 1))))

    def chosen(self, task: str) -> List[int]:
        everything = range(len(self.polygons))
        return [i for i in everything if task != "prefecture" or self.prefectures[i] == ONE_PREFECTURE]


class Contender:
    """task(name) returns the number of points for each polygon; {0: count} for the constant polygon and the join by
    distance."""

    runs: Optional[int] = None  # for slow contenders

    def task(self, name: str) -> Optional[Counts]:
        raise NotImplementedError


class Server(Contender):
    def __init__(self, arguments: argparse.Namespace, data: Data):
        self.arguments = arguments
        self.connection = psycopg.connect(
            host=arguments.pg_socket_dir, port=arguments.pg_port, user=arguments.pg_user, dbname=arguments.pg_db,
            autocommit=True,
        )
        self.connection.prepare_threshold = None
        self.run("set client_min_messages = warning")
        self.run("create extension if not exists postgis; create extension if not exists pg_strom")
        self.load(data)

    def run(self, statement: str):
        return self.connection.execute(statement)

    def load(self, data: Data) -> None:
        label = f"{data.size.name} {len(data.points)} {len(data.near[0])}"
        self.distance = data.distance
        known = self.run("select obj_description(to_regnamespace('bench_geo'), 'pg_namespace')").fetchone()[0]
        self.run("set search_path = bench_geo, public")
        if known == label:
            return
        say("loading the tables")
        self.run("drop schema if exists bench_geo cascade; create schema bench_geo")
        self.run("create table areas (gid int, pref text, geom geometry); create table points (x float8, y float8)")
        self.run("create table shops (x float8, y float8); create table stops (x float8, y float8)")
        with self.connection.cursor().copy("copy areas from stdin") as writer:
            for gid, (area, name) in enumerate(zip(data.polygons, data.prefectures)):
                writer.write_row((gid, name, shapely.to_wkb(area, hex=True)))
        self.copy("points", data.points)
        for name, points in zip(("shops", "stops"), data.near):
            self.copy(name, points)
            self.run(f"alter table {name} add geom geometry(point); update {name} set geom = st_makepoint(x, y)")
            self.run(f"vacuum full {name}")
            self.run(f"create index on {name} using gist (geom)")
            self.run(f"vacuum (analyze) {name}")
        self.run("create index on areas using gist (geom)")
        self.run("vacuum (analyze) areas")
        self.run("vacuum (analyze) points")
        self.run(f"comment on schema bench_geo is '{label}'")

    def copy(self, table: str, points: np.ndarray) -> None:
        with self.connection.cursor().copy(f"copy {table} from stdin (format binary)") as writer:
            writer.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for part in np.array_split(points, max(1, len(points) // 1_000_000)):
                rows = np.zeros(len(part), dtype=[("n", ">i2"), ("l1", ">i4"), ("x", ">f8"), ("l2", ">i4"), ("y", ">f8")])
                rows["n"], rows["l1"], rows["l2"], rows["x"], rows["y"] = 2, 8, 8, part[:, 0], part[:, 1]
                writer.write(rows.tobytes())
            writer.write(b"\xff\xff")

    def statement(self, name: str) -> str:
        if name == "near":
            return f"select 0, count(*) from shops a, stops b where st_dwithin(a.geom, b.geom, {self.distance!r})"
        if name == "constant":
            return f"select 0, count(*) from points where st_contains('{CONSTANT}', st_makepoint(x, y))"
        where = f"and pref = '{ONE_PREFECTURE}'" if name == "prefecture" else ""
        return (f"select gid, count(*) from areas, points where st_contains(geom, st_makepoint(x, y)) {where} "
                "group by gid")

    def settings(self) -> Dict[str, str]:
        raise NotImplementedError

    def task(self, name: str) -> Optional[Counts]:
        for setting, value in self.settings().items():
            self.run(f"set {setting} = {value}")
        return dict(self.run(self.statement(name)).fetchall())

    def plan(self, name: str) -> str:
        self.task(name)
        return "\n".join(row[0] for row in self.run("explain (analyze, costs off) " + self.statement(name)).fetchall())


class Strom(Server):
    def settings(self) -> Dict[str, str]:
        return {"pg_strom.enabled": "on", "pg_strom.cpu_threads": str(self.arguments.threads),
                "pg_strom.work_memory": f"'{self.arguments.work_memory}'"}


class Postgis(Server):
    runs = 1

    def settings(self) -> Dict[str, str]:
        return {"pg_strom.enabled": "off", "max_parallel_workers_per_gather": str(self.arguments.threads), "jit": "off",
                "work_mem": "'256MB'"}


class Shapely(Contender):
    runs = 1

    def __init__(self, arguments: argparse.Namespace, data: Data):
        self.data, self.threads = data, arguments.threads
        self.made = shapely.points(data.points)

    def task(self, name: str) -> Optional[Counts]:
        if name == "near":
            return None
        chosen = self.data.chosen(name)
        areas = [shapely.from_wkt(CONSTANT.upper())] if name == "constant" else [self.data.polygons[i] for i in chosen]
        tree = shapely.STRtree(areas)
        shapely.prepare(areas)
        with ThreadPoolExecutor(self.threads) as pool:
            parts = pool.map(lambda part: tree.query(part, predicate="within")[1], np.array_split(self.made, 16))
            found = np.bincount(np.concatenate(list(parts)), minlength=len(areas))
        names = [0] if name == "constant" else chosen
        return {gid: int(count) for gid, count in zip(names, found) if count or name == "constant"}


class Geopandas(Contender):
    runs = 1

    def __init__(self, arguments: argparse.Namespace, data: Data):
        import geopandas

        self.geopandas, self.data = geopandas, data
        self.points = geopandas.GeoDataFrame(geometry=shapely.points(data.points))

    def task(self, name: str) -> Optional[Counts]:
        if name in ("constant", "near"):
            return None
        chosen = self.data.chosen(name)
        areas = self.geopandas.GeoDataFrame({"gid": chosen}, geometry=[self.data.polygons[i] for i in chosen])
        joined = self.points.sjoin(areas, predicate="within")
        return {int(gid): int(count) for gid, count in joined["gid"].value_counts().items()}


class Sedona(Contender):
    def __init__(self, arguments: argparse.Namespace, data: Data):
        import sedonadb

        self.session = sedonadb.connect()
        self.session.sql(f"set datafusion.execution.target_partitions = {arguments.threads}").execute()
        areas = pa.table({
            "gid": pa.array(range(len(data.polygons)), pa.int32()),
            "pref": pa.array(data.prefectures),
            "wkb": pa.array([bytes(w) for w in shapely.to_wkb(np.array(data.polygons))], pa.binary()),
        })
        self.session.create_data_frame(areas).to_view("raw")
        self.session.create_data_frame(pa.table({"x": data.points[:, 0], "y": data.points[:, 1]})).to_view("points")
        self.session.sql("select gid, pref, st_geomfromwkb(wkb) geom from raw").to_memtable().to_view("areas")
        self.distance = data.distance
        for view, points in zip(("shops", "stops"), data.near):
            self.session.create_data_frame(pa.table({"x": points[:, 0], "y": points[:, 1]})).to_view(view + "_raw")
            self.session.sql(f"select st_point(x, y) geom from {view}_raw").to_memtable().to_view(view)

    def task(self, name: str) -> Optional[Counts]:
        if name == "near":
            statement = f"select 0 gid, count(*) n from shops a join stops b on st_dwithin(a.geom, b.geom, {self.distance!r})"
        elif name == "constant":
            statement = f"select 0 gid, count(*) n from points where st_contains(st_geomfromtext('{CONSTANT}'), st_point(x, y))"
        else:
            where = f"where pref = '{ONE_PREFECTURE}'" if name == "prefecture" else ""
            statement = ("select gid, count(*) n from areas join points on st_contains(areas.geom, st_point(x, y)) "
                         f"{where} group by gid")
        found = self.session.sql(statement).to_pandas()
        return {int(gid): int(count) for gid, count in zip(found["gid"], found["n"])}


CONTENDERS: Dict[str, Callable] = {
    "pg_strom": Strom, "postgis": Postgis, "shapely": Shapely, "geopandas": Geopandas, "sedonadb": Sedona,
}


def measure(contender: Contender, task: str, runs: int) -> Dict[str, object]:
    """The first run is a warming run if there are several."""
    runs = min(runs, contender.runs or runs)
    samples, counts = [], None
    for _ in range(runs + (runs > 1)):
        start = time.perf_counter()
        counts = contender.task(task)
        samples.append(time.perf_counter() - start)
    if counts is None:
        return {}
    samples = samples[-runs:]
    return {"median_ms": statistics.median(samples) * 1e3, "min_ms": min(samples) * 1e3, "max_ms": max(samples) * 1e3,
            "counts": counts}


def index_times(arguments: argparse.Namespace, data: Data) -> Dict[str, float]:
    """Times and bytes of the indexes over the polygons, from index_times.cpp."""
    with tempfile.NamedTemporaryFile() as file:
        for polygon in data.polygons:
            binary = shapely.to_wkb(polygon)
            file.write(struct.pack("<I", len(binary)) + binary)
        file.flush()
        command = [arguments.index_times, file.name, str(arguments.threads), str(arguments.runs)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def run_size(arguments: argparse.Namespace, name: str, results: List[Dict[str, object]], indexes: Dict[str, Dict[str, float]]) -> bool:
    data = Data(municipalities.SIZES[name], int(arguments.points), int(arguments.near))
    if arguments.index_times is not None:
        indexes[name] = index_times(arguments, data)
        say(f"{name:>7} indexes {indexes[name]}")
    right = True
    reference: Dict[str, Counts] = {}
    for engine in arguments.engines.split(","):
        try:
            contender = CONTENDERS[engine](arguments, data)
        except ImportError as error:
            say(f"{engine}: {error}")
            continue
        for task in arguments.tasks.split(","):
            if task == "near" and arguments.near < 1:
                continue
            found = measure(contender, task, arguments.runs)
            if not found:
                continue
            counts = found.pop("counts")
            expected = reference.setdefault(task, counts)
            equal = counts == expected
            right = right and equal
            results.append({"size": name, "task": task, "engine": engine, "equal": equal, "matches": sum(counts.values()),
                            **found})
            if isinstance(contender, Strom) and arguments.map is not None:
                map_of_counts.write(arguments.map, data.polygons, counts)
                arguments.map = None
            if isinstance(contender, Strom):
                results[-1]["plan"] = contender.plan(task)
            say(f"{name:>7} {task:<11} {engine:<10} {found['median_ms']:10.1f} ms{'' if equal else '  DIFFERENT'}")
    return right


def times_ours(results: List[Dict[str, object]], result: Dict[str, object]) -> Optional[float]:
    """A rival's time divided by ours, for the same task."""
    for ours in results:
        if (ours["size"], ours["task"], ours["engine"]) == (result["size"], result["task"], "pg_strom"):
            return None if result is ours else result["median_ms"] / ours["median_ms"]
    return None


def figures_of(results: List[Dict[str, object]], indexes: Dict[str, Dict[str, float]], points: int) -> List[figures.Figure]:
    found = []
    for size, measured in indexes.items():
        for key, wanted in INDEX_WANTED.get(size, {}).items():
            found.append(figures.Figure(f"{size} polygons: {INDEX_NAMES[key]} is made", measured[key], wanted, "ms", True))
        bytes_ratio = round(measured["cells_bytes"] / measured["polygon_bytes"], 2)
        found.append(figures.Figure(f"{size} polygons: index of cells / polygons", bytes_ratio, MOST_INDEX_BYTES, "x", True))
    for result in results:
        if (result["task"], result["engine"]) == ("constant", "pg_strom"):
            rate = points / result["median_ms"] / 1e3
            found.append(figures.Figure("constant polygon: points a second", round(rate), POINTS_A_SECOND / 1e6, "M/s"))
    for result in results:
        key = (result["task"], result["engine"])
        ratio, wanted = times_ours(results, result), (MANY if result["size"] == "120000" else WANTED).get(key)
        if ratio is not None and wanted is not None:
            name = f"{result['size']} polygons, {result['task']}: {result['engine']}'s time / ours"
            found.append(figures.Figure(name, round(ratio, 2), wanted))
    return found


def main() -> int:
    arguments = parse_arguments(sys.argv[1:])
    results: List[Dict[str, object]] = []
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    load = os.getloadavg()[0]
    right = True
    indexes: Dict[str, Dict[str, float]] = {}
    for name in arguments.sizes.split(","):
        right = run_size(arguments, name, results, indexes) and right
    wanted = figures_of(results, indexes, int(arguments.points))
    report = {"hardware": hardware.describe(), "started": started, "load_average": load, "points": int(arguments.points), "near": int(arguments.near),
              "work_memory": arguments.work_memory,
              "threads": arguments.threads, "runs": arguments.runs, "results": results, "indexes": indexes, "figures": figures.as_json(wanted)}
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print("| polygons | task | engine | ms | times pg_strom |\n|---|---|---|---|---|")
    for r in results:
        ratio = times_ours(results, r)
        print(f"| {r['size']} | {r['task']} | {r['engine']} | {r['median_ms']:.1f} | {'' if ratio is None else f'{ratio:.1f}'} |")
    figures.show(wanted)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
