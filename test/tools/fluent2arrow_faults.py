#!/usr/bin/env python3
"""fluent2arrow: clients that send a part of a message and nothing more, many of them; two receivers in one folder; a clock
that is set forward and back; files of so much time and of so many rows; files that cannot be written, a full disk, folders that cannot be
synced; clients that hang up; ten thousand tags."""
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import threading
import time

import msgpack
import pyarrow.ipc as ipc

from checks import done, equal, fill, folder, ok, program, run, small_disk, wait_until
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
for pattern, span in (("x.arrow", "1d"), ("%Y%m%d.arrow", "1h"), ("%H.arrow", "15m"), ("%H%M.arrow", "1d")):
    status, out, err = run("fluent2arrow", "-o", OUT / pattern, f"--limit-time={span}")
    ok(status == 2 and "--limit-time" in err, f"{pattern} does not tell times {span} apart", err)
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


def waits(link, pause=1.5):
    """Nothing comes for so long."""
    link.settimeout(pause)
    try:
        link.recv(1)
        return False
    except TimeoutError:
        return True
    finally:
        link.settimeout(60)


# ---- A file that cannot be written keeps no other one from being written ----
mixed = OUT / "mixed"
mixed.mkdir()
(mixed / "t1.arrow").write_text("not an Arrow file")
(mixed / "t2.arrow").mkdir()
receiver = IntegerReceiver(str(mixed / "{tag}.arrow"))
with receiver.connect() as link:
    for i in range(4):
        link.sendall(message(i, f"t{i}", f"t{i}"))
        ok(acknowledged(link, f"t{i}"), f"t{i} is acknowledged")
equal(receiver.stop()[0::2], (0, ""), "what is no Arrow file is left alone")
equal([numbers(mixed / f"t{name}.arrow") for name in ("0", "1-1", "2-1", "3")], [[0], [1], [2], [3]], "as are files of others")
equal((mixed / "t1.arrow").read_text(), "not an Arrow file", "and is as it was")
blocked = OUT / "blocked"
blocked.mkdir()
(blocked / "t1").write_text("a file where a folder should be")
receiver = IntegerReceiver(str(blocked / "{tag}" / "x.arrow"))
with receiver.connect() as link, receiver.connect() as other:
    other.sendall(message(1, "first 1", "t1"))
    link.sendall(b"".join(message(i, f"first {i}", f"t{i}") for i in (0, 2, 3)))
    for i in range(5):
        link.sendall(message(10 + i, f"later {i}", "t3"))
    ok(waits(other), "who waits for a file that cannot be written has no answer")
    other.sendall(message(1, "first 1", "t1"))
    ok(waits(other), "nor when it asks again")
    equal(numbers(*blocked.glob("*/x.arrow")), [0, 2, 3, *range(10, 15)], "others' events are in files meanwhile")
    found = msgpack.Unpacker()
    found.feed(link.recv(65536))
    ok({"ack": "later 4"} in list(found), "and acknowledged")
    (blocked / "t1").unlink()
    ok(acknowledged(other, "first 1"), "and it has one when the file can be written")
status, out, err = receiver.stop()
equal((status, err.count("events wait"), err.count("written again"), numbers(blocked / "t1" / "x.arrow")), (0, 1, 1, [1]), "both are told once, and the event is there once")
shutil.rmtree(blocked / "t1")
(blocked / "t1").write_text("a file where a folder should be")
for interval in (20, 3600000):
    receiver = IntegerReceiver(str(blocked / "{tag}" / f"end{interval}.arrow"), f"--flush-interval={interval}")
    with receiver.connect() as link:
        link.sendall(b"".join(message(i, f"end {i}", f"t{i}") for i in (1, 2)))
        time.sleep(0.5)
        link.sendall(b"".join(message(i, f"end {i}", f"t{i}") for i in (0, 3)))
        time.sleep(0.1)
        status, out, err = receiver.stop()
    ok(status == 1 and "t1" in err, "a signal: what could not be written is an error", status, err)
    equal(numbers(*blocked.glob(f"*/end{interval}.arrow")), [0, 2, 3], "and all else is written")

# ---- Names are as long as file systems take them ----
receiver = IntegerReceiver(str(OUT / "long" / "{tag}-{tag}" / "%Y%%{tag}-{tag}.arrow"))
with receiver.connect() as link:
    for tag in ("x" * 199, "y" * 5000, "z"):
        for i in range(2):
            link.sendall(message(i, f"{tag} {i}", tag))
            ok(acknowledged(link, f"{tag} {i}"), f"a tag of {len(tag)} characters")
equal(receiver.stop()[0::2], (0, ""), "long names are cut")
files = list((OUT / "long").glob("*/*"))
equal((len(files), numbers(*files)), (3, [0, 0, 0, 1, 1, 1]), "and the files are gone on with")
receiver = IntegerReceiver(str(OUT / "long" / "{tag}-{tag}" / "%Y%%{tag}-{tag}.arrow"))
with receiver.connect() as link:
    link.sendall(message(7, f"{'x' * 199} 1", "x" * 199))
    ok(acknowledged(link, f"{'x' * 199} 1"), "chunks of such files")
ok("1 messages came twice" in receiver.stop()[1], "are known")

# ---- Ids of chunks that are bytes ----
for again in range(2):
    receiver = IntegerReceiver(str(OUT / "bytes.arrow"))
    with receiver.connect() as link:
        for _ in range(2):
            link.sendall(message(1, b"\x01\xff\0"))
            ok(acknowledged(link, b"\x01\xff\0"), "an id of bytes is answered as it came")
    ok(f"{1 + again} messages came twice" in receiver.stop()[1], "and is known")
equal(numbers(OUT / "bytes.arrow"), [1], "the event is there once")

# ---- Folders are on the disk before the events are acknowledged ----
subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", OUT / "folder_sync.so", MODULES / "folder_sync.c", "-ldl"], check=True)
failing, log = OUT / "sync_fails", OUT / "sync_log"
log.write_text("")
receiver = IntegerReceiver(str(OUT / "sync" / "in" / "{tag}.arrow"), environment={"LD_PRELOAD": str(OUT / "folder_sync.so"), "STROM_SYNC_FAILS": str(failing), "STROM_SYNC_LOG": str(log),
                                                                              "ASAN_OPTIONS": environment["ASAN_OPTIONS"]})
with receiver.connect() as link:
    failing.write_text(str(OUT / "sync"))
    link.sendall(message(1, "one", "one"))
    ok(waits(link), "a folder that cannot be synced")
    failing.unlink()
    ok(acknowledged(link, "one"), "until it can")
    equal([str(OUT), str(OUT / "sync"), str(OUT / "sync" / "in")], list(dict.fromkeys(log.read_text().splitlines())), "folders that are made are synced")
    failing.write_text(str(OUT / "sync" / "in"))
    link.sendall(message(2, "two", "two"))
    ok(waits(link), "a file whose name cannot be synced")
    failing.unlink()
    ok(acknowledged(link, "two"), "is made again")
status, out, err = receiver.stop()
equal((status, numbers(OUT / "sync" / "in" / "two.arrow"), len(list((OUT / "sync" / "in").iterdir()))), (0, [2], 2), "and has its events once")

# ---- Clients that hang up ----
receiver = IntegerReceiver(str(OUT / "hung.arrow"), "--flush-interval=300")
with receiver.connect() as link:
    link.sendall(message(1, "half"))
    link.shutdown(socket.SHUT_WR)
    ok(acknowledged(link, "half"), "who has said that nothing more comes has its answer")
    equal(link.recv(1), b"", "and then the connection ends")
equal((receiver.stop()[0], numbers(OUT / "hung.arrow")), (0, [1]), "the event is there")
(OUT / "full").write_text("a file where a folder should be")
process = subprocess.Popen([program("fluent2arrow"), "-L", str(OUT / "s.sock"), "-o", str(OUT / "full" / "x.arrow"), "--schema=n:int64", "--memory=1m", "--flush-interval=20"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
process.stdout.readline()


def ticks():
    return sum(int(part) for part in pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])


with socket.socket(socket.AF_UNIX) as link:
    link.connect(str(OUT / "s.sock"))
    link.setblocking(False)
    begin = time.monotonic()
    left = msgpack.packb(["t", [[1, {"n": 1}]] * 20000]) * 50
    while left and time.monotonic() < begin + 3:
        try:
            left = left[link.send(left):]
        except BlockingIOError:
            time.sleep(0.05)
    ok(left, "nothing more is read when memory is full")
before = ticks()
time.sleep(2)
ok(ticks() - before < 5, "a client that hung up then costs no time", ticks() - before)
(OUT / "full").unlink()
process.terminate()
process.communicate(timeout=60)
ok(process.returncode == 0 and set(numbers(OUT / "full" / "x.arrow")) == {1}, "and what it sent is there", process.returncode)

# ---- A full disk ----
if os.geteuid() == 0:
    with small_disk(OUT / "small", "2m") as small:
        receiver = IntegerReceiver(str(small / "{tag}.arrow"))
        with receiver.connect() as link:
            def many(tag, chunk, first):
                link.sendall(msgpack.packb([tag, [[1, {"n": n}] for n in range(first, first + 10000)], {"chunk": chunk}]))

            many("a", "before", 0)
            ok(acknowledged(link, "before"), "while there is room")
            fill(small / "filler")
            many("a", "a", 10000)
            many("b", "b", 20000)
            ok(waits(link), "nothing is acknowledged")
            equal((numbers(small / "a.arrow"), (small / "b.arrow").exists()), (list(range(10000)), False), "files are as they were")
            (small / "filler").unlink()
            ok(acknowledged(link, "a"), "when there is room again, all is written")
        status, out, err = receiver.stop()
        equal((status, err.count("No space left"), numbers(small / "a.arrow"), numbers(small / "b.arrow")), (0, 1, list(range(20000)), list(range(20000, 30000))), "once")
        equal(sorted(path.name for path in small.iterdir()), ["a.arrow", "b.arrow"], "and nothing else is left")

# ---- Ten thousand tags at once ----
with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
    receiver = IntegerReceiver(memory + "/{tag}.arrow")
    with receiver.connect() as link:
        threading.Thread(target=link.sendall, args=(b"".join(message(n, f"c{n}", f"tag{n}") for n in range(10000)),)).start()
        unpacker, found = msgpack.Unpacker(), set()
        while len(found) < 10000 and (data := link.recv(65536)):
            unpacker.feed(data)
            found |= {answer["ack"] for answer in unpacker}
    equal(found, {f"c{n}" for n in range(10000)}, "events of ten thousand tags are acknowledged")
    equal(receiver.stop()[0::2], (0, ""), "the end")
    equal(sorted(n for n in range(10000) if numbers(f"{memory}/tag{n}.arrow") == [n]), list(range(10000)), "each tag has its file")
done()
