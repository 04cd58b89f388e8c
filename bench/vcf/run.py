#!/usr/bin/env python3
"""vcf2arrow against bcftools, polars-bio, oxbow and cyvcf2.
Measures many variants without samples, variants of 2500 samples, BCF, regions, and a join of variants with annotations
against PostgreSQL. Prints tables and writes JSON. Called by `./strom bench vcf`; docs/dev/benchmark.md explains what is
measured and how."""
from __future__ import annotations

import argparse
import functools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional

import psycopg

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("bench/common", "bench/ssb"):
    sys.path.insert(0, str(ROOT / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
from options import say  # noqa: E402
from rounds import in_rounds  # noqa: E402

SAMPLES = 2500
# The least ratio of a rival's time to ours.
WANTED = {"bcftools": 8, "polars-bio": 10, "oxbow": 10}
RIVALS = {
    "polars-bio": "import polars_bio as pb; pb.scan_vcf(sys.argv[1], info_fields=['AC', 'AF', 'DP']).sink_ipc('/dev/null')",
    "oxbow": "import oxbow, pyarrow as pa; [None for batch in oxbow.from_vcf(sys.argv[1]).batches()]",
    "cyvcf2": "import cyvcf2; n = 0\nfor v in cyvcf2.VCF(sys.argv[1]):\n    n += v.POS",
}
# One tenth of the variants has an annotation.
ANNOTATIONS = """create table vcf_bench.annotations as select chrom, pos, alt, (array['benign', 'likely benign', 'uncertain', 'pathogenic'])[1 + pos / 500 % 4] as significance from vcf_bench.heap where pos % 500 = 0"""
QUERY = """select a.significance, count(*), sum(v."info__AC"), max(v."info__AF") from {table} v
join vcf_bench.annotations a on a.chrom = v.chrom and a.pos = v.pos and a.alt = v.alt where v."info__DP" >= 1000 group by a.significance order by 1"""


def write_variants(path: Path, count: int, samples: int) -> None:
    """Makes a file compressed by bgzip, with its index, and the same data as BCF. Equal arguments give equal files."""
    rng = random.Random(1)
    header = ["##fileformat=VCFv4.2", *(f"##contig=<ID=chr{i}>" for i in range(1, 5)), '##FILTER=<ID=PASS,Description="">',
              '##INFO=<ID=AC,Number=A,Type=Integer,Description="">', '##INFO=<ID=AF,Number=A,Type=Float,Description="">',
              '##INFO=<ID=DP,Number=1,Type=Integer,Description="">', '##FORMAT=<ID=GT,Number=1,Type=String,Description="">']
    names = "".join(f"\tS{i}" for i in range(samples))
    genotypes = ["\t".join(rng.choices(("0|0", "0|1", "1|0", "1|1", ".|."), (80, 8, 8, 3, 1), k=samples)) for _ in range(200)] if samples else []
    chromosome = -(-count // 4)
    part = path.with_suffix(".part")
    with part.open("wb") as out:
        packer = subprocess.Popen(["bgzip", "-c"], stdin=subprocess.PIPE, stdout=out, text=True)
        packer.stdin.write("\n".join(header) + "\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO" + ("\tFORMAT" + names if samples else "") + "\n")
        for i in range(count):
            alt = rng.choice(("A", "C", "T", "G,A", "GTT"))
            each = ",".join(f"{rng.random():.6f}" for _ in alt.split(","))
            counts = ",".join(str(rng.randrange(5000)) for _ in alt.split(","))
            cells = f"\tGT\t{genotypes[i % len(genotypes)]}" if samples else ""
            packer.stdin.write(f"chr{1 + i // chromosome}\t{1000 + i % chromosome * 50}\trs{i}\tN\t{alt}\t{rng.randrange(9000) / 100}\tPASS\t"
                               f"AC={counts};AF={each};DP={rng.randrange(90000)}{cells}\n")
        packer.stdin.close()
        if packer.wait() != 0:
            raise RuntimeError("bgzip failed")
    part.rename(path)
    subprocess.run(["bcftools", "index", "-f", "-t", path], check=True)
    subprocess.run(["bcftools", "view", "-Ob", "-o", path.with_suffix(".bcf"), path], check=True)


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.folder = arguments.data_dir / "vcf"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tool = arguments.build_dir / "tools" / "vcf2arrow" / "vcf2arrow"
        self.figures: List[figures.Figure] = []

    def file(self, count: int, samples: int) -> Path:
        path = self.folder / f"{count}x{samples}.vcf.gz"
        if not path.with_suffix(".bcf").exists():
            say(f"writing {path.name}")
            write_variants(path, count, samples)
        return path

    def seconds(self, command: List[object]) -> dict:
        begin = time.perf_counter()
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - begin
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            said = errors.read().strip().splitlines()
        if process.returncode != 0:
            raise RuntimeError(said[-1] if said else f"status {process.returncode}")
        return {"seconds": seconds, "processor": usage.ru_utime + usage.ru_stime}

    def ours(self, path: Path, *options: object) -> Callable[[], dict]:
        """Writes to a new file, because freeing the blocks of an old file would be part of the time."""
        out = self.folder / "out.arrow"

        def measured() -> dict:
            out.unlink(missing_ok=True)
            os.sync()
            return self.seconds([self.tool, "-n", self.arguments.threads, "-o", out, *options, path])
        return measured

    def rival(self, name: str, path: Path) -> Callable[[], dict]:
        return functools.partial(self.seconds, [sys.executable, "-c", "import sys\n" + RIVALS[name], path])

    def task(self, name: str, contenders: Dict[str, Callable[[], dict]], wanted: Dict[str, float]) -> dict:
        say(name)
        measured, failures = in_rounds(contenders, self.arguments.runs)
        medians = {contender: statistics.median(run["seconds"] for run in runs) for contender, runs in measured.items()}
        for rival, least in wanted.items():
            self.figures.append(figures.ratio(f"{name}: vcf2arrow against {rival}", medians.get(rival), medians.get("vcf2arrow"), least))
        processor = {contender: statistics.median(run["processor"] for run in runs) for contender, runs in measured.items()}
        return {"task": name, "median_s": medians, "processor_s": processor, "failures": failures}

    def queried(self, connection: psycopg.Connection, table: str, enabled: str, answers: Dict[str, list]) -> dict:
        connection.execute(f"set pg_strom.enabled = {enabled}")
        begin = time.perf_counter()
        answers[table] = connection.execute(QUERY.format(table=f"vcf_bench.{table}")).fetchall()
        return {"seconds": time.perf_counter() - begin, "processor": 0.0}

    def query_task(self, sites: Path) -> dict:
        """A join of the file's variants with annotations, against PostgreSQL over a table with the same rows."""
        arrow = self.folder / "sites.arrow"
        self.seconds([self.tool, "-n", self.arguments.threads, "-f", "-o", arrow, sites])
        arrow.chmod(0o644)
        answers: Dict[str, list] = {}
        arguments = self.arguments
        with psycopg.connect(host=arguments.pg_socket_dir, port=arguments.pg_port, user=arguments.pg_user, dbname=arguments.pg_db, autocommit=True) as connection:
            for command in ("set client_min_messages = warning", "create extension if not exists pg_strom", "drop schema if exists vcf_bench cascade",
                            "create schema vcf_bench", f"select pgstrom.arrow_fdw_import_file('variants', '{arrow}', 'vcf_bench')",
                            "create table vcf_bench.heap as select * from vcf_bench.variants", ANNOTATIONS, "set pg_strom.enabled = off",
                            "vacuum (analyze) vcf_bench.heap, vcf_bench.annotations"):
                connection.execute(command)
            both = {name: functools.partial(self.queried, connection, table, enabled, answers)
                    for name, table, enabled in (("pg_strom, Arrow file", "variants", "on"), ("PostgreSQL, table", "heap", "off"))}
            task = self.task("a join with annotations", both, {})
            connection.execute("drop schema vcf_bench cascade")
        if not task["failures"] and (answers["variants"] != answers["heap"] or not answers["heap"]):
            raise RuntimeError("the answers differ")
        medians = task["median_s"]
        self.figures.append(figures.ratio("a join with annotations: pg_strom against PostgreSQL", medians.get("PostgreSQL, table"), medians.get("pg_strom, Arrow file"), 20))
        return task

    def run(self) -> dict:
        sites, genotypes = self.file(self.arguments.variants, 0), self.file(self.arguments.with_samples, SAMPLES)
        query = "%CHROM\\t%POS\\t%ID\\t%REF\\t%ALT\\t%QUAL\\t%FILTER\\t%AC\\t%AF\\t%DP"
        tasks = [
            self.task("sites", {"vcf2arrow": self.ours(sites), "bcftools": functools.partial(self.seconds, ["bcftools", "query", "-f", query + "\\n", sites]),
                                **{name: self.rival(name, sites) for name in RIVALS}}, WANTED),
            self.task("genotypes", {"vcf2arrow": self.ours(genotypes),
                                    "bcftools": functools.partial(self.seconds, ["bcftools", "query", "-f", query + "[\\t%GT]\\n", genotypes]),
                                    "polars-bio": self.rival("polars-bio", genotypes)}, {name: WANTED[name] for name in ("bcftools", "polars-bio")}),
            self.task("BCF", {"vcf2arrow": self.ours(genotypes), "vcf2arrow of BCF": self.ours(genotypes.with_suffix(".bcf"))}, {}),
            self.task("genotypes as numbers", {"vcf2arrow, dosage": self.ours(genotypes, "--genotypes=dosage"), "vcf2arrow": self.ours(genotypes, "--genotypes=lists"),
                                               "bcftools": functools.partial(self.seconds, ["bcftools", "query", "-f", query + "[\\t%GT]\\n", genotypes])}, {"bcftools": WANTED["bcftools"]}),
        ]
        end = 1000 + self.arguments.variants // 100 * 50
        tasks.append(self.task("a region of 1 %", {"vcf2arrow": self.ours(sites), "region": self.ours(sites, "-r", f"chr2:1000-{end}")}, {}))
        bcf, region = tasks[2]["median_s"], tasks[4]["median_s"]
        self.figures.append(figures.Figure("BCF: time of that of VCF", round(bcf["vcf2arrow of BCF"] / bcf["vcf2arrow"], 2), 1, "", True))
        self.figures.append(figures.Figure("a region of 1 %: time of that of all", round(region["region"] / region["vcf2arrow"], 3), 0.02, "", True))
        tasks.append(self.query_task(sites))
        return {"machine": hardware.describe(), "variants": self.arguments.variants, "with_samples": self.arguments.with_samples,
                "threads": self.arguments.threads, "tasks": tasks, "figures": figures.as_json(self.figures)}


def show(report: dict) -> None:
    print(hardware.summary(report["machine"]))
    for task in report["tasks"]:
        print(f"\n{task['task']}")
        for name, seconds in sorted(task["median_s"].items(), key=lambda item: item[1]):
            processor = task["processor_s"][name]
            print(f"  {name:20} {seconds:9.3f} s" + (f" {processor:9.3f} s of a processor" if processor else ""))
        for name, failure in task["failures"].items():
            print(f"  {name:20} {failure[:90]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--variants", type=int, default=2_000_000)
    parser.add_argument("--with-samples", type=int, default=20_000)
    arguments = parser.parse_args()
    benchmark: Optional[Benchmark] = Benchmark(arguments)
    report = benchmark.run()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    show(report)
    figures.show(benchmark.figures)


if __name__ == "__main__":
    main()
