#!/usr/bin/env python3
"""pcap2arrow against tshark, tcpdump and a bare loop over libpcap.
Measures files, live captures over a virtual cable, replay from memory, and a query over captured packets against
PostgreSQL. Prints tables and writes JSON. Called by `./strom bench capture`; docs/dev/benchmark.md explains what is
measured and how."""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Optional, Tuple

sys.dont_write_bytecode = True
for folder in ("common", "ssb"):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / folder))

import figures  # noqa: E402
import hardware  # noqa: E402
import options  # noqa: E402
import postgres  # noqa: E402
from options import say  # noqa: E402
from rounds import Memory  # noqa: E402

TASKS = ("files", "replay", "live", "query")
KINDS = ("mixed", "small", "full")
BATCH_MB = 64  # size of pcap2arrow's record batches
REPLAY_MEMORY = 10**9
MOST_ROW = 1600  # bytes of a row for one packet
LINE_RATE = 4_500_000  # packets of 1400 bytes per second: 50 Gbit/s
HEADERS = "tcp4,udp4,icmp4,tcp6,udp6,icmp6"
# The fields of tshark that correspond to our columns for these headers.
FIELDS = """frame.time_epoch eth.dst eth.src eth.type ip.dsfield ip.len ip.id ip.flags ip.frag_offset ip.ttl ip.checksum ip.src
ip.dst ipv6.tclass ipv6.flow ipv6.hlim ipv6.src ipv6.dst ip.proto tcp.srcport tcp.dstport tcp.seq_raw tcp.ack_raw tcp.flags
tcp.window_size_value tcp.checksum tcp.urgent_pointer tcp.options udp.srcport udp.dstport udp.length udp.checksum icmp.type icmp.code
icmp.checksum data.data""".split()
QUERY = """SELECT dst_port, count(*) AS packets, sum(ip_length) AS bytes, min(ttl) AS ttl FROM {table}
WHERE protocol IN (6, 17) AND ip_length > 40 GROUP BY dst_port ORDER BY bytes DESC, dst_port LIMIT 20"""


def run(command: List[object], **more) -> dict:
    """Runs a command: its wall time and processor time in seconds, memory, and output."""
    begin = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    memory = Memory(process.pid, "RssAnon")  # mapped files count as cache
    reader = threading.Thread(target=lambda: setattr(process, "told", process.stderr.read()))
    reader.start()
    out = process.stdout.read()
    reader.join()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]}: {process.told.strip()}")
    return {"seconds": time.perf_counter() - begin, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": memory.peak_mb(),
            "out": out, "err": process.told}


def touch_memory(folder: Path, size: int) -> None:
    """Touches as much memory as the next measurement may need. A virtual machine returns unused memory to its host and
    gets it back page by page. That takes 4 µs for each 4 kB, five times as long as writing the page."""
    path = folder / f"strom-bench-{os.getpid()}.memory"
    piece = bytes(1 << 20)
    with path.open("wb") as file:
        for _ in range(size // len(piece) + 1):
            file.write(piece)
    path.unlink()


class Cable:
    """Two network namespaces, connected by a virtual cable."""

    def __init__(self) -> None:
        self.spaces = [f"strom-bench-{os.getpid()}-{end}" for end in "ab"]
        for space in self.spaces:
            subprocess.run(["ip", "netns", "add", space], check=True)
        subprocess.run(["ip", "link", "add", "left", "netns", self.spaces[0], "type", "veth", "peer", "name", "right", "netns",
                        self.spaces[1]], check=True)
        for space, name in zip(self.spaces, ("left", "right")):
            self.inside(space, ["sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1"])
            self.inside(space, ["ip", "link", "set", name, "up"])

    @staticmethod
    def inside(space: str, command: List[object]) -> None:
        subprocess.run(["ip", "netns", "exec", space, *map(str, command)], check=True, capture_output=True)

    def sender(self, command: List[object]) -> subprocess.Popen:
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[0], *map(str, command)], stdout=subprocess.PIPE, text=True)

    def receiver(self, command: List[object]) -> subprocess.Popen:
        return subprocess.Popen(["ip", "netns", "exec", self.spaces[1], *map(str, command)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def close(self) -> None:
        for space in self.spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)


class Benchmark:
    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        self.build = arguments.build_dir.resolve()
        self.tool = self.build / "tools" / "pcap2arrow" / "pcap2arrow"
        self.bench = self.build / "bench" / "capture" / "capturebench"
        self.data = arguments.data_dir.resolve() / "capture"
        self.data.mkdir(parents=True, exist_ok=True)
        self.out = self.output_folder()

    def output_folder(self) -> Path:
        """A folder in memory if there is enough memory, else on disk."""
        shared = Path("/dev/shm")
        needed = 4 * self.arguments.bytes
        if shared.is_dir() and shutil.disk_usage(shared).free > needed:
            return shared
        return self.data

    def capture_file(self, kind: str, size: int) -> Tuple[Path, int]:
        """A file of packets, and the number of packets in it."""
        path = self.data / f"{kind}-{size}.pcap"
        told = path.with_suffix(".json")
        if not told.exists():
            say(f"making {path.name}")
            told.write_text(run([self.bench, "generate", kind, size, path])["out"])
        return path, json.loads(told.read_text())["packets"]

    # Files.

    def rate(self, measured: List[dict], packets: int, size: int) -> dict:
        seconds = statistics.median(m["seconds"] for m in measured)
        cpu = statistics.median(m["cpu_s"] for m in measured)
        return {"median_s": round(seconds, 3), "cpu_s": round(cpu, 3), "packets_per_s": round(packets / seconds),
                "packets_per_cpu_s": round(packets / cpu), "gb_per_s": round(size / seconds / 1e9, 3), "gb_per_cpu_s": round(size / cpu / 1e9, 3),
                "cpu_ns_per_packet": round(cpu / packets * 1e9, 1), "peak_mb": round(max(m["peak_mb"] for m in measured), 1)}

    def file_task(self, kind: str) -> dict:
        arguments = self.arguments
        path, packets = self.capture_file(kind, arguments.bytes)
        small, few = self.capture_file(kind, arguments.tshark_bytes)
        arrow, copy = self.out / f"strom-bench-{os.getpid()}.arrow", self.out / f"strom-bench-{os.getpid()}.pcap"
        stored = self.data / arrow.name
        ours = [self.tool, "-p", HEADERS, path, "-o", arrow, "-f", "--page-cache"]
        to_disk = [self.tool, "-p", HEADERS, path, "-o", stored, "-f", "-t", 1]
        fields = [word for field in FIELDS for word in ("-e", field)]
        contenders: Dict[str, Tuple[List[object], Path, int]] = {
            f"pcap2arrow -t {arguments.threads}": ([*ours, "-t", arguments.threads], path, packets),
            "pcap2arrow -t 1": ([*ours, "-t", 1], path, packets),
            "pcap2arrow -t 1 --no-payload": ([*ours, "-t", 1, "--no-payload"], path, packets),
            "pcap2arrow -t 1, to a disk": (to_disk, path, packets),
            "pcap2arrow -t 1 --no-payload, to a disk": ([*to_disk, "--no-payload"], path, packets),
            "tshark": (["tshark", "-n", "-r", small, "-T", "fields", *fields], small, few),
            "tcpdump -w": (["tcpdump", "-n", "-r", path, "-w", copy], path, packets),
            "libpcap loop": ([self.bench, "libpcap", path], path, packets),
        }
        runs: Dict[str, List[dict]] = {}
        say(f"files: {kind}")
        path.read_bytes()  # into the page cache
        for _ in range(arguments.runs):
            for name, (command, _, _) in contenders.items():
                if name in runs or self.is_there(command[0]):
                    touch_memory(self.out, 2 * path.stat().st_size)
                    runs.setdefault(name, []).append(run(command))
                for written in (arrow, stored, copy):
                    written.unlink(missing_ok=True)
        results = {name: self.rate(measured, contenders[name][2], contenders[name][1].stat().st_size) for name, measured in runs.items()}
        report = {"task": f"files, {kind}", "packets": packets, "bytes": path.stat().st_size, "results": results}
        best = results[f"pcap2arrow -t {arguments.threads}"]
        if "tshark" in results:
            report["times_tshark"] = round(best["packets_per_s"] / results["tshark"]["packets_per_s"], 1)
            report["times_tshark_per_cpu"] = round(results["pcap2arrow -t 1"]["packets_per_cpu_s"] / results["tshark"]["packets_per_cpu_s"], 1)
        return report

    @staticmethod
    def is_there(program: object) -> bool:
        return Path(str(program)).exists() or shutil.which(str(program)) is not None

    # Memory.

    def replay_task(self, kind: str) -> dict:
        arrow = self.data / f"strom-bench-{os.getpid()}.arrow"
        results = {}
        say(f"replay: {kind}")
        for name, target in (("to a file", arrow), ("to nowhere", "-")):
            measured = []
            for _ in range(self.arguments.runs):
                with open(os.devnull, "w") as nowhere:
                    touch_memory(self.out, REPLAY_MEMORY)
                    command = [str(self.bench), "replay", kind, str(self.arguments.replay), str(target)]
                    result = subprocess.run(command, check=True, text=True, stderr=subprocess.PIPE,
                                            stdout=nowhere if target == "-" else subprocess.PIPE)
                measured.append(json.loads(result.stderr if target == "-" else result.stdout))
                arrow.unlink(missing_ok=True)
            cpu = statistics.median(m["cpu_s"] / m["packets"] for m in measured)
            bits = measured[0]["bytes"] * 8 / measured[0]["packets"]
            results[name] = {"packets_per_s": round(statistics.median(m["packets"] / m["seconds"] for m in measured)),
                             "cpu_ns_per_packet": round(cpu * 1e9, 1), "gbit_per_s_and_cpu": round(bits / cpu / 1e9, 1)}
        return {"task": f"replay from memory, {kind}", "packets": self.arguments.replay, "results": results}

    # Live.

    def live_task(self, cable: Cable, kind: str, senders: int) -> dict:
        arguments = self.arguments
        arrow, copy = self.out / f"strom-bench-{os.getpid()}.arrow", self.out / f"strom-bench-{os.getpid()}.pcap"
        ours = [self.tool, "-i", "right", "-p", HEADERS, "-o", arrow, "-f", "-v", "--page-cache"]
        contenders = {"pcap2arrow -t 1": [*ours, "-t", 1], "pcap2arrow -t 2": [*ours, "-t", 2],
                      "tcpdump -w": ["tcpdump", "-n", "-i", "right", "-B", 65536, "-w", copy]}
        results = {}
        say(f"live: {kind}, {senders} senders")
        for name, command in contenders.items():
            if not self.is_there(command[0]):
                continue
            results[name] = self.captured(cable, command, kind, senders)
            arrow.unlink(missing_ok=True)
            copy.unlink(missing_ok=True)
        return {"task": f"live, {kind}, {senders} senders", "results": results}

    def captured(self, cable: Cable, command: List[object], kind: str, senders: int) -> dict:
        count = self.arguments.live // senders
        touch_memory(self.out, self.arguments.live * MOST_ROW)
        process = cable.receiver(command)
        time.sleep(1)
        sending = [cable.sender([self.bench, "send", "left", kind, count]) for _ in range(senders)]
        told = [json.loads(sender.communicate()[0]) for sender in sending]
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        text = process.stderr.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        numbers = [int(n) for n in re.findall(r"(\d+) packets? (?:captured|dropped)|(\d+) dropped", text) for n in n if n]
        cpu = usage.ru_utime + usage.ru_stime
        sent = sum(t["packets"] for t in told)
        return {"sent": sent, "sent_per_s": round(sent / max(t["seconds"] for t in told)), "captured": numbers[0], "dropped": numbers[1],
                "cpu_s": round(cpu, 3), "cpu_ns_per_packet": round(cpu / max(numbers[0], 1) * 1e9, 1)}

    def live_tasks(self) -> List[dict]:
        try:
            cable = Cable()
        except (subprocess.CalledProcessError, FileNotFoundError):
            say("live: no network namespaces here; root and iproute2 are needed")
            return []
        try:
            return [self.live_task(cable, kind, senders) for kind, senders in (("small", 1), ("small", 2), ("full", 1), ("full", 2))]
        finally:
            cable.close()

    # A query.

    def query_task(self) -> dict:
        arguments = self.arguments
        server = postgres.Server(arguments.pg_socket_dir, arguments.pg_port, arguments.pg_user, arguments.pg_db)
        path, packets = self.capture_file("mixed", arguments.query_bytes)
        arrow = self.data / "query.arrow"
        run([self.tool, "-p", HEADERS, path, "-o", arrow, "-f", "--stats"])
        arrow.chmod(0o644)
        say("query")
        times: Dict[str, List[float]] = {}
        with server.connect("public") as connection:
            connection.execute("set client_min_messages = warning")
            connection.execute("create extension if not exists pg_strom")
            connection.execute("drop schema if exists capture_bench cascade; create schema capture_bench")
            connection.execute(f"select pgstrom.arrow_fdw_import_file('packets', '{arrow}', 'capture_bench')")
            connection.execute("create table capture_bench.heap as select * from capture_bench.packets")
            connection.execute("vacuum (analyze) capture_bench.heap")
            answers = {}
            for _ in range(arguments.runs + 1):  # the first one warms up
                for name, table, enabled in (("pg_strom, Arrow file", "packets", "on"), ("PostgreSQL, table", "heap", "off")):
                    connection.execute(f"set pg_strom.enabled = {enabled}")
                    begin = time.perf_counter()
                    answers[name] = connection.execute(QUERY.format(table=f"capture_bench.{table}")).fetchall()
                    times.setdefault(name, []).append(time.perf_counter() - begin)
            connection.execute("drop schema capture_bench cascade")
        if len(set(map(str, answers.values()))) != 1:
            raise RuntimeError("the answers differ")
        results = {name: {"median_s": round(statistics.median(seconds[1:]), 4)} for name, seconds in times.items()}
        ours, theirs = (result["median_s"] for result in results.values())
        return {"task": "a query", "packets": packets, "results": results, "times_postgresql": round(theirs / ours, 1)}

    def run(self) -> dict:
        arguments = self.arguments
        load = [round(os.getloadavg()[0], 1)]
        tasks: List[dict] = []
        if "files" in arguments.tasks:
            tasks += [self.file_task(kind) for kind in KINDS]
        if "replay" in arguments.tasks:
            tasks += [self.replay_task(kind) for kind in KINDS]
        if "live" in arguments.tasks:
            tasks += self.live_tasks()
        if "query" in arguments.tasks:
            tasks.append(self.query_task())
        load.append(round(os.getloadavg()[1], 1))
        return {"benchmark": "capture", "load_average": load, "threads": arguments.threads, "runs": arguments.runs,
                "hardware": hardware.describe(), "tasks": tasks, "figures": figures.as_json(figures_of(tasks))}


def figures_of(tasks: List[dict]) -> List[figures.Figure]:
    """The figures that are wanted, for the tasks that ran."""
    found: List[figures.Figure] = []

    def add(name: str, value: float, wanted: float, unit: str = "x", at_most: bool = False) -> None:
        found.append(figures.Figure(name, value, wanted, unit, at_most))

    for task in tasks:
        name, results = task["task"], task["results"]
        ours = results.get("pcap2arrow -t 1", {})
        if name.startswith("files"):
            if "times_tshark_per_cpu" in task:
                add(f"{name}: one thread against tshark, by processors", task["times_tshark_per_cpu"], 80)
            stored, headers = results["pcap2arrow -t 1, to a disk"], results["pcap2arrow -t 1 --no-payload"]
            if name == "files, full":
                add(f"{name}: one thread", round(ours["gb_per_cpu_s"], 2), 3, "GB a processor second")
                add(f"{name}: one thread, to a disk", round(stored["gb_per_cpu_s"], 2), 3, "GB a processor second")
            else:
                add(f"{name}: one thread", round(ours["packets_per_cpu_s"] / 1e6, 2), 5, "M packets a processor second")
                add(f"{name}: one thread, header columns alone", round(headers["packets_per_cpu_s"] / 1e6, 2), 5, "M packets a processor second")
            add(f"{name}: peak memory of one thread", round(ours["peak_mb"] / BATCH_MB, 2), 3, "batches", True)
        elif name.startswith("replay"):
            nanoseconds = results["to a file"]["cpu_ns_per_packet"]
            add(f"{name}, to a file", round(nanoseconds), 250, "ns a packet", True)
            if name.endswith("full"):
                add(f"{name}, to a file: {LINE_RATE / 1e6} M packets a second", round(nanoseconds * LINE_RATE / 1e9, 2), 2, "processors", True)
        elif name.startswith("live"):
            all_ours = [result for key, result in results.items() if "pcap2arrow" in key]
            add(f"{name}: packets lost", max(result["dropped"] for result in all_ours), 0, "", True)
            if name.endswith("2 senders"):  # may be unable to send as many
                best = max(all_ours, key=lambda result: result["captured"] / result["sent"] * result["sent_per_s"])
                add(f"{name}: captured", round(best["captured"] / best["sent"] * best["sent_per_s"] / 1e3),
                    round(min(900, best["sent_per_s"] / 1e3)), "k packets a second")
                add(f"{name}: one thread", round(ours["cpu_ns_per_packet"]), 250, "ns a packet", True)
        elif "times_postgresql" in task:
            add(f"{name} against PostgreSQL", task["times_postgresql"], 20)
    return found


def show(report: dict) -> None:
    for task in report["tasks"]:
        remarks = "".join(f", {task[key]}x {name}" for key, name in (("times_tshark", "tshark"), ("times_postgresql", "PostgreSQL")) if key in task)
        print(f"\n{task['task']}{remarks}")
        for name, result in task["results"].items():
            cells = []
            if "packets_per_s" in result:
                cells.append(f"{result['packets_per_s'] / 1e6:8.3f} M packets/s")
            if "packets_per_cpu_s" in result:
                cells.append(f"{result['packets_per_cpu_s'] / 1e6:8.3f} M a processor second {result['gb_per_s']:7.3f} GB/s {result['peak_mb']:7.0f} MB")
            if "sent_per_s" in result:
                cells.append(f"{result['sent_per_s'] / 1e3:7.0f} k sent/s {result['captured']:9} captured {result['dropped']:8} dropped")
            if "cpu_ns_per_packet" in result:
                cells.append(f"{result['cpu_ns_per_packet']:8.0f} ns of a processor")
            if "median_s" in result and not cells:
                cells.append(f"{result['median_s']:8.4f} s")
            print(f"  {name:30} " + "  ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    options.add_out(parser)
    options.add_folders(parser)
    options.add_server(parser)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bytes", type=int, default=10**9, help="of the files")
    parser.add_argument("--tshark-bytes", type=int, default=5 * 10**7, help="of the files that tshark reads")
    parser.add_argument("--query-bytes", type=int, default=10**9, help="of the file that is queried")
    parser.add_argument("--replay", type=int, default=4_000_000, help="packets")
    parser.add_argument("--live", type=int, default=2_000_000, help="packets")
    options.add_tasks(parser, TASKS)
    arguments = parser.parse_args()
    report: Optional[dict] = Benchmark(arguments).run()
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    show(report)
    figures.show(figures_of(report["tasks"]))


if __name__ == "__main__":
    main()
