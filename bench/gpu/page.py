"""Writes the page beside check.py's JSON: the results in words and tables."""
from __future__ import annotations

from typing import Dict, List, Tuple

import hardware

# The aims for one H200 with columns resident on the device, by scale. They do not apply to other scales.
_AIMS = {20: "device time of all 13 queries at most 60 ms", 10: "each query at least 5x the CPU's speed"}


def render(report: dict) -> str:
    parts = report["parts"]
    lines = ["# GPU check", "", f"{report['started']}, {hardware.summary(report['hardware'])}.", ""]
    makers = (("device", _device), ("unit", _unit), ("sanitizer", _unit), ("diff", _diff), ("ssb", _ssb),
              ("filter", _filter), ("sessions", _sessions))  # fmt: skip
    for name, make in makers:
        if name not in parts:
            continue
        part = dict(parts[name])
        lines += [f"## {name}", "", f"Took {part.pop('seconds')} s.", ""]
        lines += [f"**Failed:** {part['error']}"] if "error" in part else make(part, report)
        lines.append("")
    problems = report["problems"]
    lines += ["## Problems", ""] + ([f"- {problem}" for problem in problems] or ["None."]) + [""]
    return "\n".join(lines)


def _table(header: List[str], rows: List[list]) -> List[str]:
    cells = [header, ["---"] * len(header)] + rows
    return ["| " + " | ".join(str(cell) for cell in row) + " |" for row in cells]


def _device(part: dict, _: dict) -> List[str]:
    rows = [[name, value] for gpu in part.get("gpus", []) for name, value in gpu.items()]
    if "nvidia_smi" in part:
        rows.append(["nvidia-smi", part["nvidia_smi"]])
    rows += [[entry["check"], f"{entry['status']}: {entry['detail']}"] for entry in part["doctor"]]
    return _table(["what", "found"], [["module", part["module"]], *rows])


def _unit(part: dict, _: dict) -> List[str]:
    rows = []
    for name, found in part.items():
        if isinstance(found, dict):
            rows.append([name, found.get("tests", 0), found.get("failures", "?"), found["status"], found.get("ms", "")])
        else:
            rows.append([name, found, "", "", ""])
    return _table(["program", "tests", "failures", "status", "time"], rows)


def _diff(part: dict, _: dict) -> List[str]:
    if "passed" not in part:
        return [f"Ended with status {part['status']}."]
    return [f"{part['passed']} random queries equal to PostgreSQL, {part['failed']} not."]


def _ssb(part: dict, report: dict) -> List[str]:
    rows = []
    for entry in part["queries"]:
        times = [f"{entry[kind]:.2f}" for kind in ("first_ms", "gpu_ms", "device_ms", "cpu_ms")]
        rows.append([entry["query"], *times, _ratio(entry["cpu_ms"], entry["gpu_ms"]), "yes" if entry["equal"] else "NO"])
    total = part["total"]
    times = [f"{total[kind]:.2f}" for kind in ("gpu_ms", "device_ms", "cpu_ms")]
    rows.append(["all", "", *times, _ratio(total["cpu_ms"], total["gpu_ms"]), ""])
    header = ["query", "first run, ms", "GPU, ms", "on the device, ms", "CPU, ms", "GPU against CPU", "equal"]
    lines = [f"Scale {report['scale']:g}, {part['lineorder_rows']:,} rows; medians of {report['runs']} runs, end to end.", ""]
    lines += _table(header, rows)
    if aim := _AIMS.get(report["scale"]):
        lines += ["", f"Aim at this scale, on an H200: {aim}."]
    return lines


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}x" if other else ""


def _filter(part: dict, _: dict) -> List[str]:
    return [
        f"count(*) with one text filter over {part['rows']:,} rows of a heap table: {part['warm_ms']} ms, "
        f"{part['first_of_a_new_service_ms']} ms as a new service's first query, {part['cpu_ms']} ms on the CPU. "
        "Aim: 15 ms, and the first within 100 ms of later ones."
    ]


def _sessions(part: dict, _: dict) -> List[str]:
    rows: List[Tuple[str, Dict[str, float]]] = [item for item in part.items() if isinstance(item[1], dict)]
    return _table(
        ["sessions", "queries/s", "failures"], [[count, found["queries_per_s"], found["failures"]] for count, found in rows]
    )
