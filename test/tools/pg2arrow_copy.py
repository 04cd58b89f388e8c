#!/usr/bin/env python3
"""pg2arrow.py once more, by COPY also from a server that can make record batches."""
import pathlib
import runpy
import sys

sys.argv[1:] = ["--no-server-side"]
runpy.run_path(str(pathlib.Path(__file__).parent / "pg2arrow.py"), run_name="__main__")
