#!/usr/bin/env python3
"""fluent2arrow: clients that send a part of a message and nothing more, many of them; two receivers in one folder; a clock
that is set forward and back; files of so much time and of so many rows."""
import os
import pathlib
import re
import resource
import subprocess
import threading

import msgpack
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, run, wait_until
from forward_receiver import Receiver, acknowledged, is_closed

OUT = folder("fluent2arrow_faults")
MODULES = pathlib.Path(__file__).resolve().parent.parent / "modules"


class IntegerReceiver(Receiver):
    def __init__(self, pattern, *options, **limits):
        super().__init__(pattern, "--schema=n:int64", "--flush-interval=20", *options, **limits)

    def memory_kb(self):
        """The most that it has had so far."""
        return int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1))


def message(n, chunk, tag="t"):
    return msgpack.packb([tag, 1, {"n": n}, {"chunk": chunk}])


def numbers(*paths):
    return sorted(n for path in paths for n in ipc.open_file(str(path)).read_all().column("n").to_pylist())


# ---- A whole message and the half of one, from more clients than there are descriptors for ----
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
receiver = IntegerReceiver(str(OUT / "few.arrow"), descriptors=120)  # of which clients get 56
half = message(10**6, "half")[:-5]
links = []
for i in range(150):
    links.append(receiver.connect())
    links[-1].sendall(message(i, f"c{i}"))
    ok(acknowledged(links[-1], f"c{i}"), f"client {i} is served")
    links[-1].sendall(half)
ok(is_closed(links[0]), "who has been silent for the longest time is disconnected for others")
links[-1].sendall(message(10**6, "half")[-5:])
ok(acknowledged(links[-1], "half"), "the newest may go on with its message")
status, out, err = receiver.stop()
equal((status, err.count("56 clients are connected"), numbers(OUT / "few.arrow")), (0, 1, [*range(150), 10**6]), "whole messages are there, and the reason is told")
for link in links:
    link.close()

# ---- Many clients that send a little take little memory ----
receiver = IntegerReceiver(str(OUT / "many.arrow"))
with receiver.connect() as link:
    link.sendall(message(1, "first"))
    ok(acknowledged(link, "first"), "one client")
before = receiver.memory_kb()
count = 800 if hard == resource.RLIM_INFINITY or hard >= 2000 else 300
resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2000)) if hard != resource.RLIM_INFINITY else max(soft, 2000), hard))
links = [receiver.connect() for _ in range(count)]
for link in links:
    link.sendall(half)
for link in links:
    link.sendall(message(10**6, "half")[-5:])
for link in links:
    ok(acknowledged(link, "half"), "each may go on with its message")
    link.sendall(half)
grown = receiver.memory_kb() - before
ok(grown < count * 100, f"{count} clients with half a message take {grown} kB")
for link in links:
    link.close()
with receiver.connect() as link:
    link.sendall(message(2, "last"))
    ok(acknowledged(link, "last"), "another one")
    # The kernel asks a client that is silent whether it is there: timers of kind 2, in hundredths of a second.
    local = f"{receiver.port:04X}"

    def is_asked():
        lines = [line.split() for line in pathlib.Path(f"/proc/{receiver.process.pid}/net/tcp").read_text().splitlines()[1:]]
        timers = [line[5].split(":") for line in lines if line[1].endswith(f":{local}") and line[3] == "01"]
        return any(kind == "02" and int(left, 16) <= 6000 for kind, left in timers)

    ok(wait_until(is_asked), "after a minute")
status, out, err = receiver.stop()
equal((status, numbers(OUT / "many.arrow")), (0, [1, 2, 10**6]), "whole messages are there once")

# ---- Messages that are not whole take all memory ----
receiver = IntegerReceiver(str(OUT / "large.arrow"), "--memory=4m")
links = [receiver.connect() for _ in range(3)]
links[0].sendall(message(1, "small"))
ok(acknowledged(links[0], "small"), "a message before")
begin = b"\x94\xa1t" + b"\xdb" + (16 << 20).to_bytes(4, "big")  # the tag, and a text of 16 MB
for link in links:
    link.sendall(begin)
for link in links[:2]:
    link.settimeout(60)
    try:
        link.sendall(bytes(3 << 20))
    except ConnectionError:
        pass
ok(is_closed(links[0]), "who has been silent for the longest time is disconnected")
with receiver.connect() as link:
    link.sendall(message(2, "after"))
    ok(acknowledged(link, "after"), "others are served")
status, out, err = receiver.stop()
equal((status, "take all memory" in err, numbers(OUT / "large.arrow")), (0, True, [1, 2]), "whole messages are there")
for link in links:
    link.close()

# ---- Two receivers in one folder ----
shared = OUT / "shared"
both = [IntegerReceiver(str(shared / "{tag}.arrow"), "--limit=64k") for _ in range(2)]
wanted = []


def send(number):
    with both[number].connect() as link:
        for i in range(60):
            for tag in ("a", f"new{i}"):
                link.sendall(message(2 * i + number, f"{number} {i} {tag}", tag))
                acknowledged(link, f"{number} {i} {tag}")


threads = [threading.Thread(target=send, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ended = [receiver.stop() for receiver in both]
equal([(status, err) for status, _, err in ended], [(0, ""), (0, "")], "both end well, and nothing fails")
equal(numbers(*shared.glob("a*.arrow")), list(range(120)), "all events of a file of both are there once")
equal(numbers(*shared.glob("new*.arrow")), list(range(120)), "and those of files that both wanted to make")
equal([path.name for path in shared.iterdir() if path.suffix != ".arrow"], [], "nothing else is left")
receiver = IntegerReceiver(str(shared / "{tag}.arrow"))
with receiver.connect() as link:
    for number in range(2):
        link.sendall(message(7, f"{number} 59 a", "a"))
        ok(acknowledged(link, f"{number} 59 a"), "chunks of both are known after a restart")
status, out, err = receiver.stop()
ok(status == 0 and "2 messages came twice" in out, "as those that came twice", out, err)

# ---- The clock jumps ----
library = OUT / "standing_clock.so"
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, MODULES / "standing_clock.c", "-ldl"], check=True)
clock = OUT / "clock"


def set_clock(hour, minute):
    other = OUT / "clock.new"
    other.write_text(str(1_700_000_000 // 86400 * 86400 + hour * 3600 + minute * 60))
    other.rename(clock)


set_clock(12, 0)
environment = {"LD_PRELOAD": str(library), "STROM_CLOCK": str(clock), "TZ": "UTC", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
receiver = IntegerReceiver(str(OUT / "clock_%H%M.arrow"), environment=environment)
times = [(12, 0), (18, 30), (12, 0), (3, 15), (18, 30), (12, 1)]
with receiver.connect() as link:
    for i, at in enumerate(times):
        set_clock(*at)
        link.sendall(message(i, f"j{i}"))
        ok(acknowledged(link, f"j{i}"), f"acknowledged at {at}")
status, out, err = receiver.stop()
equal((status, err), (0, ""), "a clock that jumps is no error")
files = {path.name: numbers(path) for path in OUT.glob("clock_*.arrow")}
equal(files, {"clock_1200.arrow": [0, 2], "clock_1830.arrow": [1, 4], "clock_0315.arrow": [3], "clock_1201.arrow": [5]}, "each file is gone on with when its time comes again")

# ---- Files of so much time, and of so many rows ----
receiver = IntegerReceiver(str(OUT / "span_%d_%H%M.arrow"), "--limit-time=15m", environment=environment)
with receiver.connect() as link:
    for i, at in enumerate([(12, 0), (12, 14), (12, 15), (12, 29), (13, 59), (12, 1)]):
        set_clock(*at)
        link.sendall(message(i, f"s{i}"))
        ok(acknowledged(link, f"s{i}"), f"acknowledged at {at}")
equal(receiver.stop()[0], 0, "the end")
files = {path.name: numbers(path) for path in OUT.glob("span_*.arrow")}
equal(files, {"span_14_1200.arrow": [0, 1, 5], "span_14_1215.arrow": [2, 3], "span_14_1345.arrow": [4]}, "names tell when a span of time begins")
for pattern, time in (("x.arrow", "1d"), ("%Y%m%d.arrow", "1h"), ("%H.arrow", "15m"), ("%H%M.arrow", "1d")):
    status, out, err = run("fluent2arrow", "-o", OUT / pattern, f"--limit-time={time}")
    ok(status == 2 and "--limit-time" in err, f"{pattern} does not tell times {time} apart", err)
for begin in (0, 300):
    receiver = IntegerReceiver(str(OUT / "rows.arrow"), "--limit-rows=100")
    with receiver.connect() as link:
        for i in range(begin, begin + 300, 30):
            link.sendall(msgpack.packb(["t", [[1, {"n": n}] for n in range(i, i + 30)], {"chunk": f"r{i}"}]))
            ok(acknowledged(link, f"r{i}"), "acknowledged")
    equal(receiver.stop()[0], 0, "the end")
files = [numbers(OUT / name) for name in ("rows.arrow", *(f"rows-{i}.arrow" for i in range(1, 5)))]
equal([len(file) for file in files], [120] * 5, "files of so many rows, and what is written at once is not divided")
equal(sorted(n for file in files for n in file), list(range(600)), "all rows are there once")
equal(len(list(OUT.glob("rows*.arrow"))), 5, "there are no others")
done()
