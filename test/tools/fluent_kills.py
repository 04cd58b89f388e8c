#!/usr/bin/env python3
"""Senders that send again what was not acknowledged, while fluent2arrow and the plugin of Fluentd are killed at any instant: each event is
there once. `./strom test --kills N` kills each N times."""
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

import msgpack
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, program, run

OUT = folder("fluent_kills")
HERE = pathlib.Path(__file__).resolve().parent
RUBY = HERE.parent.parent / "ruby" / "lib"
ROUNDS = int(os.environ.get("STROM_KILLS", "10"))
EVENTS = 50  # of a chunk
rng = random.Random(9)


def numbers(files):
    return sorted(number for path in files for number in ipc.open_file(str(path)).read_all()["n"].to_pylist())


class Sender:
    """Chunks of one sender, and those that it has no answer for."""

    def __init__(self, tag):
        self.tag, self.made, self.waiting = tag, 0, {}

    def chunk(self):
        first = self.made * EVENTS
        # Ids as Fluentd has them end with a line; those of other programs are any text.
        name = f"{self.tag} {self.made}%\n"
        self.waiting[name] = [first + i for i in range(EVENTS)]
        self.made += 1
        return name

    def message(self, name):
        events = b"".join(msgpack.packb([1700000000, {"n": number}]) for number in self.waiting[name])
        return msgpack.packb([self.tag, events, {"chunk": name}])

    def take_answers(self, unpacker):
        for answer in unpacker:
            self.waiting.pop(answer["ack"], None)


def receive(pattern, senders, until, how):
    """One life of the receiver. The senders have at most some chunks without an answer."""
    process = subprocess.Popen([program("fluent2arrow"), "-L", "127.0.0.1:0", "-o", pattern, "--schema=n:int64", "--flush-interval=5", "--limit=64k"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    links = {sender: socket.create_connection(("127.0.0.1", port), timeout=60) for sender in senders}
    unpackers = {sender: msgpack.Unpacker() for sender in senders}
    deadline = time.monotonic() + until
    for sender in senders:
        for name in list(sender.waiting):
            links[sender].sendall(sender.message(name))
    while time.monotonic() < deadline or (how == signal.SIGTERM and any(sender.waiting for sender in senders)):
        for sender in senders:
            if len(sender.waiting) < 20 and how == signal.SIGKILL:
                links[sender].sendall(sender.message(sender.chunk()))
            elif sender.waiting:
                unpackers[sender].feed(links[sender].recv(65536))
                sender.take_answers(unpackers[sender])
    process.send_signal(how)
    process.communicate(timeout=60)
    for sender in senders:
        # Some answers are on their way, and some of these never come.
        try:
            while rng.random() < 0.5 and (data := links[sender].recv(65536)):
                unpackers[sender].feed(data)
        except ConnectionResetError:
            pass
        sender.take_answers(unpackers[sender])
        links[sender].close()


def kill_the_receiver():
    senders = [Sender("a"), Sender("b")]
    pattern = str(OUT / "received" / "{tag}" / "%Y%m%d%H%M%S.arrow")
    for _ in range(ROUNDS):
        receive(pattern, senders, rng.uniform(0.01, 0.25), signal.SIGKILL)
    receive(pattern, senders, 0, signal.SIGTERM)
    for sender in senders:
        files = list((OUT / "received" / sender.tag).glob("*.arrow"))
        equal(numbers(files), list(range(sender.made * EVENTS)), f"{ROUNDS} kills: each event of {sender.made} chunks once in {len(files)} files")
        ok(files and all(run("arrow-info", "--validate", path)[0] == 0 for path in files[:20]), "files are whole")


def kill_the_plugin():
    """Fluentd notes down a chunk that was written, and gives it to the plugin again when it was killed before."""
    conf = {"path": str(OUT / "plugin" / "${chunk_id}.arrow"), "schema_defs": "n=Int64"}
    made, waiting = 0, []
    for round_ in range(ROUNDS + 1):
        process = subprocess.Popen(["ruby", f"-I{RUBY}", f"-I{HERE}/fluentd", str(HERE / "fluentd" / "drive.rb")], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        deadline = None  # from the first answer on, since Ruby takes long to start
        sent = 0
        while deadline is None or time.monotonic() < deadline or (round_ == ROUNDS and sent < len(waiting)):
            if sent == len(waiting):
                if round_ == ROUNDS:
                    break
                waiting.append(made)
                made += 1
            number = waiting[sent]
            events = [[1700000000, 0, {"n": number * EVENTS + i}] for i in range(EVENTS)]
            process.stdin.write(json.dumps({"conf": conf, "chunks": [{"tag": "t", "id": f"c{number}", "events": events}]}) + "\n")
            process.stdin.flush()
            sent += 1
            if rng.random() < 0.3:
                continue  # its answer is not read: it will come again
            while sent > 0:
                equal(json.loads(process.stdout.readline()), {"errors": []}, "a chunk is written")
                sent -= 1
                waiting.pop(0)
                deadline = deadline or time.monotonic() + rng.uniform(0, 0.1)
        # The last one is not killed before it has written all that it got.
        for _ in range(sent if round_ == ROUNDS else 0):
            equal(json.loads(process.stdout.readline()), {"errors": []}, "a chunk is written")
        process.kill()
        process.communicate()
    wanted = list(range(made * EVENTS))
    found = numbers((OUT / "plugin").glob("*.arrow"))
    ok(found == wanted, f"{ROUNDS} kills of the plugin: each event of {made} chunks once", len(found), len(wanted))


kill_the_receiver()
kill_the_plugin()
done()
