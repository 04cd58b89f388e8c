#!/usr/bin/env python3
"""An Arrow file under writers whose file system goes down without its journal, as when the power goes: what was committed
is there at the next mount, for readers and the next writer. On loop devices, hence as root.

STROM_POWER_CUTS (./strom test --power-cuts N) is the number of rounds.
"""
import fcntl
import os
import pathlib
import random
import select
import shutil
import struct
import subprocess
import time

from server import BUILD_DIR, TEST_DIR, done, ok

ROUNDS = int(os.environ.get("STROM_POWER_CUTS", "9"))
LOOP = BUILD_DIR / "test/unit/format/arrow_append_loop"
# EXT4_IOC_SHUTDOWN and XFS_IOC_GOINGDOWN, and the flag of both that leaves the journal where it is.
SHUTDOWN, NO_JOURNAL = 0x8004587D, 2
FILE_SYSTEMS = {
    "ext4, data=ordered": (["mkfs.ext4", "-q", "-F"], ["-o", "loop,data=ordered"]),
    "ext4, data=writeback": (["mkfs.ext4", "-q", "-F"], ["-o", "loop,data=writeback"]),
    "ext4, nodelalloc": (["mkfs.ext4", "-q", "-F"], ["-o", "loop,nodelalloc"]),
    "XFS": (["mkfs.xfs", "-q", "-f"], ["-o", "loop"]),
}
PLACE = TEST_DIR / "power_cuts"
MOUNT, IMAGE, FILE = PLACE / "mnt", PLACE / "disk", PLACE / "mnt/f.arrow"
generator = random.Random(int(os.environ.get("STROM_SEED", "5")))


def mount(options):
    subprocess.run(["mount", *options, IMAGE, MOUNT], check=True)


def unmount():
    for _ in range(200):
        if subprocess.run(["umount", MOUNT], capture_output=True).returncode == 0:
            return
        time.sleep(0.02)
    raise RuntimeError(f"{MOUNT} stays busy")


def shut_down():
    fd = os.open(MOUNT, os.O_RDONLY)
    fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", NO_JOURNAL))
    os.close(fd)


def write_until_cut():
    """The number of rows that the last commit said there are; None: there was none."""
    seconds = generator.random() * 0.12
    writer = subprocess.Popen([LOOP, "write", FILE, str(generator.randrange(1 << 31)), *(["flush"] if generator.random() < 0.5 else [])],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    select.select([writer.stdout], [], [], 10)
    time.sleep(seconds)
    shut_down()
    out, err = writer.communicate(timeout=60)
    return int(out.split()[-1]) if out.split() else None, err.decode()


def rounds_on(name, count):
    make, options = FILE_SYSTEMS[name]
    with open(IMAGE, "wb") as file:
        file.truncate(320 << 20)  # the least that XFS takes
    subprocess.run([*make, IMAGE], check=True, capture_output=True)
    mount(options)
    problems, commits, known = [], 0, 0
    for number in range(count):
        acknowledged, reason = write_until_cut()
        unmount()
        mount(options)
        if acknowledged is None and not FILE.exists():
            continue
        check = subprocess.run([LOOP, "check", FILE], capture_output=True, text=True)
        commits += (acknowledged or known) > known
        wanted = acknowledged or known
        if check.returncode != 0 or int(check.stdout) < wanted:
            problems.append(f"round {number}: {wanted} rows were committed; {check.stdout}{check.stderr}; the writer said {reason}")
            FILE.unlink()
            known = 0
            continue
        known = int(check.stdout)
        if known > 1_000_000:
            FILE.unlink()
            known = 0
    unmount()
    ok(not problems, f"{count} times the power went, {name}", *problems[:5])
    ok(commits * 2 > count, f"while files were written, {name}", commits)


PLACE.mkdir(parents=True, exist_ok=True)
MOUNT.mkdir(exist_ok=True)
present = [name for name, (make, _) in FILE_SYSTEMS.items() if shutil.which(make[0], path="/usr/sbin:/sbin:/usr/bin:/bin")]
with open(IMAGE, "wb") as image:
    image.truncate(64 << 20)
subprocess.run(["mkfs.ext4", "-q", "-F", IMAGE], capture_output=True)
if os.geteuid() != 0 or subprocess.run(["mount", "-o", "loop", IMAGE, MOUNT], capture_output=True).returncode != 0:
    print("1..0 # SKIP no loop device can be mounted here")
    raise SystemExit(0)
unmount()
try:
    for file_system in present:
        rounds_on(file_system, max(2, round(ROUNDS / len(present))))
finally:
    subprocess.run(["umount", "-l", MOUNT], capture_output=True)
    shutil.rmtree(PLACE, ignore_errors=True)
done()
