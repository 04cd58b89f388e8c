"""Rows of src/registry/*.def, read by the C preprocessor so that macros of the tables' own are expanded."""

import collections
import os
import pathlib
import shutil
import subprocess

REGISTRY = pathlib.Path(__file__).resolve().parent.parent.parent / "src" / "registry"
Function = collections.namedtuple("Function", "name pg_name result arguments field traits")
OF_OTHER_EXTENSIONS = ("geometry",)  # test/diff/geometry compares these
Aggregate = collections.namedtuple("Aggregate", "name pg_name argument accumulator pair")


def _expand(table, macros):
    """The rows of `table`, each a list of the macro's arguments after the macro's name."""
    source = "".join(f"#define {m}(...) ROW {m} | __VA_ARGS__ END\n" for m in macros)
    source += f'#include "registry/{table}"\n'
    compiler = os.environ.get("CXX") or next(c for c in ("c++", "g++", "clang++", "clang++-19") if shutil.which(c))
    out = subprocess.run(
        [compiler, "-E", "-P", "-x", "c++", f"-I{REGISTRY.parent}", "-"],
        input=source,
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    rows = []
    for piece in out.split("ROW ")[1:]:
        macro, fields = piece.split(" END")[0].split("|", 1)
        rows.append([macro.strip()] + split_fields(fields))
    assert rows, table
    return rows


def split_fields(text):
    """Arguments of a macro call: separated by commas outside of brackets."""
    fields, depth, field = [], 0, ""
    for c in text:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            fields.append(field.strip())
            field = ""
        else:
            field += c
    return fields + [field.strip()]


def string(literal):
    """Adjacent string literals as one text."""
    return "".join(literal.split('"')[1::2])


def base(enumerator):
    return enumerator[1:].lower()


def functions():
    """Those that SQL can call: names of the engine's own have a blank."""
    rows = []
    macros = ["STROM_FUNCTION", "STROM_FUNCTION3", "STROM_EXTRACT"]
    for macro, name, pg_name, result, *rest in _expand("functions.def", macros):
        if macro == "STROM_EXTRACT":
            source, field, _functor, traits = rest
            rows.append(Function(name, string(pg_name), base(result), [base(source)], string(field), traits))
        elif macro == "STROM_FUNCTION3":
            *arguments, _functor, traits = rest
            rows.append(Function(name, string(pg_name), base(result), [base(a) for a in arguments], None, traits))
        else:
            count, a, b, _functor, traits = rest
            rows.append(Function(name, string(pg_name), base(result), [base(a), base(b)][: int(count)], None, traits))
    return [row for row in rows if " " not in row.pg_name]


def aggregates():
    """With the two that aggregates.hpp adds, whose argument is no type."""
    rows = [
        Aggregate("kCountStar", "count", None, "kCountRows", False),
        Aggregate("kCountAny", "count", "any", "kCount", False),
    ]
    macros = ["STROM_AGGREGATE", "STROM_AVERAGE", "STROM_AGGREGATE2"]
    for macro, name, pg_name, argument, accumulator, _format in _expand("aggregates.def", macros):
        rows.append(Aggregate(name, string(pg_name), base(argument), accumulator, macro == macros[2]))
    return rows


def types():
    rows = [base(name) for _macro, name, *_others in _expand("types.def", ["STROM_TYPE"])]
    return [row for row in rows if row not in OF_OTHER_EXTENSIONS]
