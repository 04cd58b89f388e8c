#!/usr/bin/env python3
"""fluent2arrow with Fluent Bit as the sender, where STROM_FLUENT_BIT is the path of one: with and without compression,
acknowledgements, a shared key and TLS; and a receiver that is killed while it is sent to. docs/dev/forward.md says how to get one."""
import os
import signal
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc

from checks import done, equal, folder, ok, program, wait_until

BIT = os.environ.get("STROM_FLUENT_BIT")
if not BIT:
    print("STROM_FLUENT_BIT does not say where a Fluent Bit is")
    done()
OUT = folder("fluent_bit")
LINES = [f"line {i} ä" for i in range(20_000)]
(OUT / "in.log").write_text("".join(line + "\n" for line in LINES))
(OUT / "key").write_text("a shared key")
(OUT / "key").chmod(0o600)
subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", OUT / "tls.key", "-out", OUT / "tls.pem",
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)


class Receiver:
    def __init__(self, name, *options, port=0):
        self.process = subprocess.Popen([program("fluent2arrow"), "-L", f"127.0.0.1:{port}", "-o", OUT / name, "-v", "--infer-schema", *options],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=60)[0]


def sender(name, port, output, source):
    """A process of Fluent Bit, with these lines in the sections of its input and its output."""
    text = ["[SERVICE]", "    Flush 0.2", "    Grace 2", "    scheduler.base 1", "    scheduler.cap 2",
            "[INPUT]", "    Name tail", "    Read_from_Head On", "    Tag app.log", f"    Path {OUT}/{source[0]}", *(f"    {line}" for line in source[1:]),
            "[OUTPUT]", "    Name forward", "    Match *", "    Host 127.0.0.1", f"    Port {port}", *(f"    {line}" for line in output)]
    path = OUT / f"{name}.conf"
    path.write_text("\n".join(text) + "\n")
    return subprocess.Popen([BIT, "-c", path], cwd=OUT, stdout=(OUT / f"{name}.log").open("w"), stderr=subprocess.STDOUT)


def lines_of(name):
    """Nothing where a file is just being changed."""
    try:
        return [line for path in sorted(OUT.glob(name)) for line in ipc.open_file(str(path)).read_all()["log"].to_pylist()]
    except pa.ArrowInvalid:
        return []


KEY = ["Shared_Key a shared key", "Self_Hostname bit"]
ACK = ["Require_ack_response On"]
for name, output, options in (
        ("plain", [], []), ("gzip", ["Compress gzip"], []), ("ack", ACK, []),
        ("key", [*ACK, *KEY, "Compress gzip"], [f"--shared-key-file={OUT}/key"]),
        ("tls", [*ACK, *KEY, "tls On", "tls.verify On", f"tls.ca_file {OUT}/tls.pem", "tls.vhost localhost"],
         [f"--shared-key-file={OUT}/key", f"--tls-cert={OUT}/tls.pem", f"--tls-key={OUT}/tls.key"])):
    receiver = Receiver(f"{name}.arrow", "--flush-interval=50", *options)
    status = sender(name, receiver.port, output, ["in.log", "Exit_On_Eof On"]).wait(timeout=120)
    wait_until(lambda: len(lines_of(f"{name}.arrow")) == len(LINES), 60)
    told = receiver.stop()
    equal(status, 0, f"{name}: Fluent Bit's exit status")
    ok(" 0 refused" in told, f"{name}: nothing is refused", told)
    # Its two threads send in any order.
    equal(sorted(lines_of(f"{name}.arrow")) == sorted(LINES), True, f"{name}: each line is there once")

# Another key: nothing is taken, and the sender tries again.
receiver = Receiver("wrong.arrow", "--flush-interval=50", f"--shared-key-file={OUT}/key")
process = sender("wrong", receiver.port, [*ACK, "Shared_Key another key", "Self_Hostname bit"], ["in.log"])
wait_until(lambda: "retry" in (OUT / "wrong.log").read_text() if (OUT / "wrong.log").exists() else False, 60)
process.terminate()
process.wait(timeout=60)
told = receiver.stop()
ok(" 0 events" in told and not (OUT / "wrong.arrow").exists(), "another key", told)

# A receiver that is killed while lines come: each is there once.
for kill in range(3):
    source = OUT / f"live{kill}.log"
    name = f"killed{kill}*.arrow"
    receiver = Receiver(f"killed{kill}.arrow", "--flush-interval=20")
    process = sender(f"killed{kill}", receiver.port, [*ACK, "Retry_Limit False"], [source.name, "Refresh_Interval 1"])
    with source.open("w") as out:
        for part in range(4):
            out.write("".join(line + "\n" for line in LINES[part * 5000:(part + 1) * 5000]))
            out.flush()
            if part == 1:
                wait_until(lambda: list(OUT.glob(name)), 60)
                receiver.process.kill()
                receiver.process.communicate()
            elif part == 2:
                receiver = Receiver(f"killed{kill}.arrow", "--flush-interval=20", port=receiver.port)
    wait_until(lambda: len(set(lines_of(name))) == len(LINES), 120)
    process.terminate()
    process.wait(timeout=60)
    receiver.stop()
    equal(sorted(lines_of(name)) == sorted(LINES), True, f"kill {kill}: each line is there once")
done()
