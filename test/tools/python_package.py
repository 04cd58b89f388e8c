#!/usr/bin/env python3
"""The Python package's wheel: what is in it, and that it works where nothing else of the checkout is."""
import os
import pathlib
import subprocess
import sys
import zipfile

from checks import done, equal, folder, ok

ROOT = pathlib.Path(os.environ["STROM_ROOT"])
OUT = folder("python_package")

made = subprocess.run([ROOT / "strom", "package", "python", "--out", OUT], capture_output=True, text=True)
ok(made.returncode == 0, "./strom package python", made.stderr)
wheels = list(OUT.glob("*.whl"))
equal(len(wheels), 1, "a wheel")
names = set(zipfile.ZipFile(wheels[0]).namelist())
sources = {str(path.relative_to(ROOT / "python")) for path in (ROOT / "python").glob("*/*.py")} | {"strom/py.typed", "strom_kv/py.typed"}
ok(len(sources) > 8 and sources <= names, "every module is in it", sources - names)
equal([name for name in names if not name.startswith(("strom/", "strom_kv/", "cupy_strom/", "pg_strom-"))], [], "and nothing else")
equal(list((ROOT / "python").glob("*.egg-info")) + list((ROOT / "python").glob("build")), [], "nothing is left in the sources")
# Of the packages' own names: what they import differs from one machine to the next.
checked = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-site-packages", "--ignore-missing-imports", "--cache-dir", OUT / "mypy",
                          "strom", "strom_kv", "cupy_strom"], capture_output=True, text=True, cwd=ROOT / "python")
ok(checked.returncode == 0, "the types of the packages", checked.stdout + checked.stderr)
installed = OUT / "installed"
subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, wheels[0]], check=True, capture_output=True)
code = "import strom, strom_kv, cupy_strom; print(callable(strom_kv.attach) and strom.__file__.startswith(sys.argv[1]) and callable(cupy_strom.ipc_import) and callable(strom.connect))"
found = subprocess.run([sys.executable, "-c", f"import sys; {code}", str(installed)], capture_output=True, text=True, cwd=OUT, env={**os.environ, "PYTHONPATH": str(installed)})
ok(found.stdout.strip() == "True", "it can be imported", found.stderr)
wrong = subprocess.run([ROOT / "strom", "package", "ruby"], capture_output=True, text=True)
ok(wrong.returncode != 0 and "usage: ./strom package" in wrong.stderr, "other packages are not known", wrong.stderr)
done()
