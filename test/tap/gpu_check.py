#!/usr/bin/env python3
"""./strom gpu-check itself, on the device of tests and little data: what it reports, and that it fails when it should. The
unit tests and the differential test that it calls run by themselves elsewhere."""

import json
import os
import pathlib
import subprocess
import sys

from server import BUILD_DIR, TEST_DIR, done, equal, ok

sys.dont_write_bytecode = True
CHECK = pathlib.Path(__file__).resolve().parents[2] / "bench/gpu/check.py"
MODULE = BUILD_DIR / "test/modules/strom_host_device.so"
out = TEST_DIR / "gpu_check/report.json"


def check(module=MODULE, *options):
    command = [sys.executable, CHECK, "--module", module, "--build-dir", BUILD_DIR, "--pg-bindir", os.environ["STROM_PG_BINDIR"]]
    command += ["--server-user", os.environ["STROM_SERVER_USER"], "--data-dir", TEST_DIR / "gpu_check/data", "--out", out]
    return subprocess.run([*map(str, command), "--scale", "0.01", "--runs", "1", *options], capture_output=True, text=True)


ran = check(MODULE, "--parts", "device,ssb,filter")
equal(ran.returncode, 0, f"device, ssb and filter pass: {ran.stderr[-2000:]}")
report = json.loads(out.read_text())
equal(report["problems"], [], "there are no problems")
equal(len(report["parts"]["ssb"]["queries"]), 13, "13 queries were measured")
ok(all(entry["device"].startswith("GPU0") for entry in report["parts"]["ssb"]["queries"]), "all of them on the device")
ok(all(entry["device_ms"] > 0 for entry in report["parts"]["ssb"]["queries"]), "which has counted its time")
page = out.with_suffix(".md").read_text()
ok("| Q4_3 |" in page and "None." in page, "the page has them, and no problems")

ran = check(TEST_DIR / "nowhere.so", "--parts", "device")
ok(ran.returncode != 0 and "nowhere.so" in ran.stderr, "a module that is not there is named")

no_module = TEST_DIR / "no_module.so"
no_module.write_bytes(b"nothing")
ran = check(no_module, "--parts", "device,ssb")
equal(ran.returncode, 1, "a file that is no module fails")
ok(any("GPU service does not come up" in problem for problem in json.loads(out.read_text())["problems"]), "and the report says why")

ran = check(MODULE, "--parts", "device,everything")
ok(ran.returncode == 2 and "unknown parts: everything" in ran.stderr, "an unknown part is refused")

done()
