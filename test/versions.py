#!/usr/bin/env python3
"""versions.py EXPECTED RESULTS NAME…: compares pg_regress's results on PostgreSQL 16 to 18 with the expected files.

The expected files are PostgreSQL 15's. What later versions print otherwise, without another plan or another answer, is
taken out of both sides first; the last line is "N passed, N failed". `./strom test --pg N` and test/installcheck call it.
"""
import difflib
import pathlib
import re
import sys

# Whole lines of plans that PostgreSQL 18 adds: buffers without being asked, and disabled nodes.
ADDED = re.compile(r"""\s*(Planning:|Buffers:\ .*
                         |Window:\ .*
                         |(?P<quote>"?)(Shared|Local|Temp)\ .*Blocks(?P=quote):\ \d+,?
                         |"?Disabled"?:\ (true|false),?
                         |"?Index\ Searches"?:\ \d+,?)$""", re.VERBOSE)
REWRITES = (
    (re.compile(r"rows=(\d+)\.00\b"), r"rows=\1"),  # 18
    (re.compile(r'("?Actual Rows"?: \d+)\.00'), r"\1"),  # 18
    (re.compile(r"\(InitPlan \d+\)\.col1"), "$0"),  # 17
    # 17: what is compared with the rows of a sub-query.
    (re.compile(r"\((?:ANY|ALL) \([^()]* (?:=|<>) \((hashed )?SubPlan (\d+)\)\.col1\)\)"), r"(\1SubPlan \2)"),
    (re.compile(r"\(ANY \((?:\([^()]* = \((hashed )?SubPlan (\d+)\)\.col\d+\)(?: AND )?)+\)\)"), r"(\1SubPlan \2)"),
    (re.compile(r"\bOVER (?:\(\?\)|w\d*\b)"), "OVER"),  # 18
    (re.compile(r"^(?:Cpu\w+ )+\| (\d+ \| 0 \| )"), r"\1"),  # empty_sides: 18 leaves out other joins
    (re.compile(r"(InitPlan \d+) \(returns \$\d+\)"), r"\1"),  # until 16
    # 18 names the unit of a setting's limits.
    (re.compile(r"(valid range for parameter .*\(\d+) \w+( \.\. \d+) \w+\)"), r"\1\2)"),
)


def setting_list(line):
    """Settings are printed in the order of a hash table; one is what `./strom test --pg` itself sets."""
    found = re.match(r"(\s*Settings: )(.*)", line)
    if not found:
        return line
    settings = set(found[2].split(", ")) - {"enable_presorted_aggregate = 'off'"}
    return found[1] + ", ".join(sorted(settings))


def plan_lines(lines):
    """A plan without the frame, whose width follows from the longest line."""
    inside_planning = None
    for line in lines:
        line = re.sub(r"\s*\+?$", "", line)
        indent = len(line) - len(line.lstrip())
        if inside_planning is not None:
            if indent == inside_planning and line.strip().startswith("}"):
                inside_planning = None
            continue
        if line.strip() == '"Planning": {':
            inside_planning = indent
        elif line.strip("-") and not ADDED.match(line):
            yield setting_list(line).rstrip(",")


def without_icu(lines):
    """The servers of 16 to 18 are built without ICU: what a statement with such a collation answers is left out."""
    skipping = False
    for line in lines:
        if skipping:
            skipping = not re.match(r"$|\s+\^$", line)
            continue
        if re.match(r"QUERY: .*-x-icu\"|CONTEXT:  PL/pgSQL function ", line):  # of the error that is left out
            continue
        yield line
        skipping = '-x-icu"' in line


def comparable(text):
    lines = list(without_icu(text.splitlines()))
    for pattern, into in REWRITES:
        lines = [pattern.sub(into, line) for line in lines]
    out, at = [], 0
    while at < len(lines):
        if lines[at].strip() != "QUERY PLAN":
            out.append(lines[at])
            at += 1
            continue
        end = next((i for i in range(at, len(lines)) if re.fullmatch(r"\(\d+ rows?\)", lines[i])), len(lines))
        out += ["QUERY PLAN", *plan_lines(lines[at + 1:end])]
        at = end + 1
    return out


def main():
    expected, results = (pathlib.Path(path) for path in sys.argv[1:3])
    failed = 0
    for name in sys.argv[3:]:
        path = results / f"{name}.out"
        found = comparable(path.read_text()) if path.exists() else []
        # As pg_regress does, any of NAME.out, NAME_1.out, ... will do.
        accepted = [expected / f"{name}.out", *sorted(expected.glob(f"{name}_[0-9].out"))]
        difference = min((list(difflib.unified_diff(comparable(other.read_text()), found, f"expected/{other.name}",
                                                    f"results/{name}.out", lineterm="")) for other in accepted), key=len)
        failed += bool(difference)
        print("not ok" if difference else "ok    ", name)
        print("\n".join(difference[:100]), end="\n" if difference else "")
    print(f"{len(sys.argv) - 3 - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
