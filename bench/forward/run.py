#!/usr/bin/env python3
"""Writes events of the Forward protocol to files.
Compares fluent2arrow with Fluentd, both with out_file and with the plugin arrow_file. Prints a table and writes JSON.
Called by `./strom bench forward`; docs/dev/benchmark.md explains what is measured and how."""
from __future__ import annotations

import argparse
import functools
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional

import msgpack
import pyarrow.ipc as ipc

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("bench/common", "bench/ssb"):
    sys.path.insert(0, str(ROOT / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
from rounds import in_rounds  # noqa: E402

TYPES = "host:utf8,method:utf8,path:utf8,status:int16,bytes:int64,seconds:float64,agent:utf8,good:bool"
DEFINITIONS = "host=Utf8,method=Utf8,path=Utf8,status=Int16,bytes=Int64,seconds=Float64,agent=Utf8,good=Bool"
FLUENTD = """<source>
  @type forward
  port {port}
  bind 127.0.0.1
</source>
<match bench>
  {output}
  <buffer tag>
    @type memory
    flush_interval 1s
    chunk_limit_size 64m
    total_limit_size 4g
  </buffer>
</match>
"""
OUTPUTS = {
    "out_file": "@type file\n  path {folder}/${{tag}}\n  append true",
    "arrow_file": f"@type arrow_file\n  path {{folder}}/${{{{chunk_id}}}}.arrow\n  schema_defs \"{DEFINITIONS}\"",
}


def messages(events: int, each: int, acknowledged: bool) -> List[bytes]:
    """PackedForward messages with events of 8 fields."""
    rng = random.Random(1)
    parts = []
    for begin in range(0, events, each):
        entries = b"".join(msgpack.packb([1700000000 + i // 1000, {
            "host": f"web{i % 50}", "method": "GET" if i % 9 else "POST", "path": f"/shop/items/{rng.randrange(10**6)}", "status": 200 if i % 20 else 404,
            "bytes": rng.randrange(10**6), "seconds": rng.random(), "agent": "Mozilla/5.0 (X11; Linux x86_64)", "good": i % 20 != 0}])
            for i in range(begin, min(begin + each, events)))
        parts.append(msgpack.packb(["bench", entries, {"chunk": f"chunk {begin}"} if acknowledged else {}]))
    return parts


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processor_seconds(pid: int) -> float:
    """The value for a process and its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return own + sum(processor_seconds(int(child)) for child in children)


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.folder = arguments.data_dir / "forward"
        self.few = arguments.events // 10  # for Fluentd, whose rate does not depend on the number
        self.sent = {count: messages(count, arguments.each, acknowledged=True) for count in (arguments.events, self.few)}

    def emptied(self) -> Path:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        return self.folder

    def send(self, port: int, count: int) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", port), timeout=120)
        link.settimeout(300)
        link.setblocking(True)
        waiting = len(self.sent[count])
        unpacker = msgpack.Unpacker()
        for message in self.sent[count]:
            link.sendall(message)
        while waiting > 0:
            data = link.recv(1 << 16)
            if not data:
                raise RuntimeError("the connection was closed")
            unpacker.feed(data)
            waiting -= sum(1 for _ in unpacker)
        return link

    def ours(self) -> dict:
        """Measures from the first byte to the last acknowledgement, when everything is on disk."""
        folder = self.emptied()
        process = subprocess.Popen([str(self.arguments.build_dir / "tools" / "fluent2arrow" / "fluent2arrow"), "-L", "127.0.0.1:0", f"--schema={TYPES}",
                                    "-o", str(folder / "events.arrow")], stdout=subprocess.PIPE, text=True)
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            begin = time.perf_counter()
            link = self.send(port, self.arguments.events)
            seconds = time.perf_counter() - begin
            used = processor_seconds(process.pid)
            link.close()
        finally:
            process.terminate()
            process.wait(60)
        rows = sum(ipc.open_file(str(path)).read_all().num_rows for path in folder.glob("*.arrow"))
        if rows != self.arguments.events:
            raise RuntimeError(f"{rows} rows instead of {self.arguments.events}")
        return {"events_per_s": rows / seconds, "events_per_cpu_s": rows / used}

    def fluentd(self, output: str) -> dict:
        """Measures from the first byte until Fluentd, which was told to end, has written everything."""
        folder, port = self.emptied(), free_port()
        conf = folder.parent / "forward.conf"
        conf.write_text(FLUENTD.format(port=port, output=OUTPUTS[output].format(folder=folder)))
        home = self.arguments.fluentd
        process = subprocess.Popen(["ruby", f"{home}/bin/fluentd", "-q", "-p", str(ROOT / "ruby/lib/fluent/plugin"), "-c", str(conf), "--no-supervisor"],
                                   env={**os.environ, "RUBYLIB": f"{home}/lib:{ROOT}/ruby/lib"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            before = processor_seconds(process.pid)
            begin = time.perf_counter()
            self.send(port, self.few).close()
        finally:
            process.terminate()
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        seconds = time.perf_counter() - begin
        if output == "arrow_file":
            rows = sum(ipc.open_file(str(path)).read_all().num_rows for path in folder.glob("*.arrow"))
        else:
            rows = sum(path.read_bytes().count(b"\n") for path in folder.glob("*"))
        if rows != self.few:
            raise RuntimeError(f"{rows} rows instead of {self.few}")
        return {"events_per_s": rows / seconds, "events_per_cpu_s": rows / (usage.ru_utime + usage.ru_stime - before)}

    def delay(self) -> float:
        """The longest of ten times from sending one event until it is in its file, in seconds."""
        folder = self.emptied()
        path = folder / "events.arrow"
        process = subprocess.Popen([str(self.arguments.build_dir / "tools" / "fluent2arrow" / "fluent2arrow"), "-L", "127.0.0.1:0", "-o", str(path)],
                                   stdout=subprocess.PIPE, text=True)
        longest = 0.0
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            with socket.create_connection(("127.0.0.1", port)) as link:
                for number in range(10):
                    link.sendall(msgpack.packb(["bench", number, {"n": number}]))
                    begin = time.perf_counter()
                    while not path.exists() or ipc.open_file(str(path)).read_all().num_rows <= number:
                        time.sleep(0.005)
                    longest = max(longest, time.perf_counter() - begin)
        finally:
            process.terminate()
            process.wait(60)
        return longest

    def run(self) -> dict:
        contenders = {"fluent2arrow": self.ours}
        if self.arguments.fluentd:
            contenders.update({f"Fluentd, {output}": functools.partial(self.fluentd, output) for output in OUTPUTS})
        measured, failures = in_rounds(contenders, self.arguments.runs)
        results: Dict[str, dict] = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]} for name, runs in measured.items()}
        rate = {name: result["events_per_s"] for name, result in results.items()}
        ours, theirs = rate.get("fluent2arrow"), rate.get("Fluentd, out_file")
        self.figures = [figures.Figure("fluent2arrow", ours and round(ours / 1e6, 2), 1, "M events/s"),
                        figures.Figure("fluent2arrow against out_file", ours and theirs and round(ours / theirs, 1), 10),
                        figures.Figure("longest delay until an event is in its file", round(self.delay(), 2), 5, "s", True)]
        shutil.rmtree(self.folder)
        return {"machine": hardware.describe(), "events": self.arguments.events, "each": self.arguments.each, "results": results, "failures": failures,
                "figures": figures.as_json(self.figures)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options.add_out(parser)
    options.add_folders(parser)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--each", type=int, default=10_000, help="events of a message")
    parser.add_argument("--fluentd", type=Path, help="a folder with Fluentd 1.14 or 1.15, as its sources are")
    arguments = parser.parse_args()
    benchmark: Optional[Benchmark] = Benchmark(arguments)
    report = benchmark.run()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(hardware.summary(report["machine"]))
    for name, result in report["results"].items():
        print(f"  {name:24} {result['events_per_s'] / 1e3:9.0f} k events/s {result['events_per_cpu_s'] / 1e3:9.0f} k a processor second")
    for name, failure in report["failures"].items():
        print(f"  {name:24} {failure}")
    figures.show(benchmark.figures)


if __name__ == "__main__":
    main()
