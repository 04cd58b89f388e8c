#!/usr/bin/env python3
"""What all tools have in common: help, usage errors, output files, signals, closed pipes, progress."""
import json
import os
import pathlib
import pty
import random
import resource
import shutil
import signal
import subprocess
import time

from checks import done, equal, folder, leftovers, ok, program, run, start, wait_until, writes_into

OUT = folder("frame")
PROBE = "frame_probe"


def probe(*arguments, **options):
    return run(PROBE, *arguments, **options)


# Help and its siblings.
status, out, err = probe("--help")
equal((status, err), (0, ""), "--help ends well")
ok("-o, --output=FILE" in out and "Examples:" in out, "--help shows the options", out)
equal(probe("--help", "--nonsense")[0], 0, "--help wins over errors")
equal(probe("-h")[:2], (0, out), "-h is help, where it is no host")
for tool, has_host in (("tsv2arrow", False), ("arrow2csv", False), ("arrow-info", False), ("arrowstat", False), ("pg2arrow", True)):
    status, out, err = run(tool, "-h")
    equal((status, "usage:" in out), (2, False) if has_host else (0, True), f"{tool} -h")
status, out, err = probe("-V")
ok(status == 0 and "zstd" in out and "lz4" in out, "-V shows the libraries", out)
status, out, err = probe("--man")
ok(status == 0 and out.startswith(".TH frame_probe 1"), "--man is a page", out)
if shutil.which("man"):
    page = subprocess.run(["man", "-l", "-"], input=out, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    ok(page.returncode == 0 and "--output=FILE" in page.stdout and not page.stderr, "man reads it", page.stderr)
for shell in ("bash", "zsh", "fish"):
    status, out, err = probe(f"--completion={shell}")
    ok(status == 0 and "output" in out, f"completion for {shell}")
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=out, capture_output=True, text=True)
        equal((check.returncode, check.stderr), (0, ""), f"{shell} reads its completion")
script = probe("--completion=bash")[1] + """
COMP_WORDS=(frame_probe --for) COMP_CWORD=1; compopt() { :; }; _frame_probe; echo "${COMPREPLY[@]}"
COMP_WORDS=(frame_probe --progress = j) COMP_CWORD=3; _frame_probe; echo "${COMPREPLY[@]}"
"""
equal(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout, "--force\njson\n", "bash completes")

# Usage errors: one line, exit 2.
for arguments, message in (
        (["--outptu=x"], "unknown option --outptu; did you mean --output?"),
        (["-x"], "unknown option -x; see frame_probe --help"),
        (["-o"], "option -o needs a value; see frame_probe --help"),
        (["-s", "1x"], '--size: "1x" is not a size such as 512k, 256m or 1g'),
        (["-C", "gzip"], '--compress: "gzip" is no compression; there are none, lz4 and zstd[:level]'),
        (["-C", "zstd:99"], "--compress: zstd has the levels 1 to 22, not 99"),
        (["--slow", "--fail"], "--slow and --fail exclude each other"),
        (["--name=bad"], "a bad name")):
    equal(probe(*arguments), (2, "", f"frame_probe: error: {message}\n"), f"usage error {arguments}")

# Output files.
file = OUT / "a file"
equal(probe("-o", file, "--name=n", "x", "y", "--", "-z")[:2], (0, "n|x|y|-z\n"), "a file is written")
equal(file.stat().st_size, 10000, "with all its bytes")
status, out, err = probe("-o", file)
equal((status, err), (1, f'frame_probe: error: file "{file}" exists\nframe_probe: hint: -f replaces it.\n'), "an existing file stays")
equal(probe("-o", file, "-n", 1, "-f")[0], 0, "-f replaces it")
equal(file.stat().st_size, 1000, "with the new content")
link = OUT / "link"
link.symlink_to(file)
equal(probe("-o", link, "-n", 2, "-f")[0], 0, "-f through a link")
ok(link.is_symlink() and file.stat().st_size == 2000, "keeps the link and replaces the file behind it")
status, out, err = probe("-o", OUT / "missing" / "x")
ok(status == 1 and "No such file or directory" in err, "a missing folder", err)
status, out, err = probe("-o", OUT, "-f")
ok(status == 1 and "is not a regular file" in err, "a folder is no output", err)
os.mkfifo(OUT / "fifo")
status, out, err = probe("-o", OUT / "fifo", "-f")
ok(status == 1 and "is not a regular file" in err and "-o -" in err, "a named pipe is no output", err)
equal(probe()[0], 1, "no output")
status, out, err = probe("-o", OUT / "failed", "--fail")
equal((status, err), (1, "frame_probe: error: failed on request\nframe_probe: detail: Some detail.\nframe_probe: hint: None.\n"),
      "a failure is told with detail and hint")
ok(not (OUT / "failed").exists() and not leftovers(OUT), "and leaves nothing behind", leftovers(OUT))
status, out, err = probe("-o", file, "-f", "-n", 100, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)))
ok(status == 1 and "could not write file" in err, "a limit on file sizes is an error", status, err)
equal((file.stat().st_size, leftovers(OUT)), (2000, []), "which leaves the old file")
if os.path.exists("/dev/full"):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([program(PROBE), "-o", "-"], stdout=full, stderr=subprocess.PIPE, text=True)
    ok(result.returncode == 1 and "No space left on device" in result.stderr, "a full device", result)

# Standard output.
status, out, err = probe("-o", "-", binary=True)
equal((status, out, err), (0, bytes(10000), ""), "-o - writes to standard output")
main, terminal = pty.openpty()
result = subprocess.run([program(PROBE), "-o", "-"], stdout=terminal, stderr=subprocess.PIPE, text=True)
ok(result.returncode == 1 and "is a terminal" in result.stderr, "but not to a terminal", result)
result = subprocess.run(["bash", "-c", f"{program(PROBE)} -o - -s 1m | head -c 10; echo ${{PIPESTATUS[0]}}"], capture_output=True)
equal((result.stdout, result.stderr), (bytes(10) + b"141\n", b""), "a closed pipe ends it in silence")
result = subprocess.run(["bash", "-c", f"{program(PROBE)} --help >&-; echo $?"], capture_output=True, text=True)
ok(result.stdout != "0\n", "a closed standard output is no success", result)

# Signals: the status, and nothing left behind.
# Under nohup the programs would go on, as they should.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    process = start(PROBE, "-o", OUT / "signal", "--slow")
    wait_until(lambda: writes_into(process, OUT))
    process.send_signal(number)
    err = process.communicate(timeout=60)[1]
    equal((process.returncode, err), (128 + number, "frame_probe: interrupted\n"), f"{number.name} ends it")
    ok(not leftovers(OUT) and not (OUT / "signal").exists(), f"{number.name} leaves nothing behind", leftovers(OUT))
rng = random.Random(1)
sizes = set()
for _ in range(50):
    process = start(PROBE, "-o", file, "-f", "-n", str(rng.randrange(1, 1000)), "-s", "64k", stdout=subprocess.DEVNULL)
    time.sleep(rng.random() * 0.03)
    process.send_signal(rng.choice((signal.SIGKILL, signal.SIGTERM)))
    process.communicate(timeout=20)
    sizes.add(file.stat().st_size)
ok(all(size == 2000 or size % 65536 == 0 for size in sizes), "killed at any instant: the old file or the new one", sizes)
process = start(PROBE, "-o", OUT / "kill", "--slow", "-s", "1m", stdout=subprocess.DEVNULL)
wait_until(lambda: writes_into(process, OUT))
process.kill()
process.communicate()
equal((leftovers(OUT), (OUT / "kill").exists()), ([], False), "killed while it writes: nothing is left, where files need no names")
probe("-o", OUT / "next")
equal(leftovers(OUT), [], "and what is left by chance goes with the next file")

# Progress.
status, out, err = probe("-o", OUT / "p1", "-n", 3, "--slow", "--progress=json")
events = [json.loads(line) for line in err.splitlines()]
kinds = [event["event"] for event in events]
ok(status == 0 and kinds.count("note") == 3 and "progress" in kinds and kinds[-1] == "done", "progress as JSON", err)
equal((events[-1]["rows"], events[-1]["bytes"], events[-1]["percent"]), (3, 3000, 100), "with the totals at the end")
ok(all("eta_seconds" in e and "rows_per_second" in e for e in events if e["event"] == "progress"), "rate and ETA", events)
status, out, err = probe("-o", OUT / "p2", "--progress")
ok(status == 0 and "piece 0\n" in err and "10 rows, 10.0 kB" in err, "progress as text", err)
equal(probe("-o", OUT / "p3")[2], "", "no progress without being asked, when standard error is no terminal")
equal(probe("-o", OUT / "p4", "--progress=none")[2], "", "no progress when it is not wanted")
main, terminal = pty.openpty()
result = subprocess.run([program(PROBE), "-o", OUT / "p5"], stdout=subprocess.DEVNULL, stderr=terminal)
ok(b"10 rows" in os.read(main, 10000), "progress on a terminal")
shown = subprocess.Popen([program(PROBE), "-o", "-"], stdout=subprocess.PIPE, stderr=terminal)
shown.communicate()
os.write(terminal, b"end")
equal(os.read(main, 10000), b"end", "but none where the data go to standard output")
subprocess.run([program(PROBE), "-o", "-", "--progress"], stdout=subprocess.DEVNULL, stderr=terminal)
ok(b"10 rows" in os.read(main, 10000), "unless it is asked for")
done()
