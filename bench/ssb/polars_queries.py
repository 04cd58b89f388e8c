"""The 13 queries in Polars' lazy interface, as an experienced user would write them: dimensions are filtered first, and
the most selective ones are joined first, since Polars keeps the given order of joins. Sums are cast to 64 bits, because
Polars sums int32 in int32 and would overflow. Called by peers.py."""
from __future__ import annotations

from typing import Callable, Dict

import polars as pl
from polars import col

Frames = Dict[str, pl.LazyFrame]


def _discounted(tables: Frames, date: pl.Expr, discount: tuple, quantity: pl.Expr) -> pl.LazyFrame:
    days = tables["date1"].filter(date)
    return (
        tables["lineorder"]
        .filter(col("lo_discount").is_between(*discount), quantity)
        .join(days, left_on="lo_orderdate", right_on="d_datekey")
        .select((col("lo_extendedprice") * col("lo_discount")).cast(pl.Int64).sum().alias("revenue"))
    )


def q1_1(tables: Frames) -> pl.LazyFrame:
    return _discounted(tables, col("d_year") == 1993, (1, 3), col("lo_quantity") < 25)


def q1_2(tables: Frames) -> pl.LazyFrame:
    return _discounted(tables, col("d_yearmonthnum") == 199401, (4, 6), col("lo_quantity").is_between(26, 35))


def q1_3(tables: Frames) -> pl.LazyFrame:
    week = (col("d_weeknuminyear") == 6) & (col("d_year") == 1994)
    return _discounted(tables, week, (5, 7), col("lo_quantity").is_between(26, 35))


def _by_brand(tables: Frames, parts: pl.Expr, region: str) -> pl.LazyFrame:
    return (
        tables["lineorder"]
        .join(tables["part"].filter(parts), left_on="lo_partkey", right_on="p_partkey")
        .join(tables["supplier"].filter(col("s_region") == region), left_on="lo_suppkey", right_on="s_suppkey")
        .join(tables["date1"], left_on="lo_orderdate", right_on="d_datekey")
        .group_by("d_year", "p_brand1")
        .agg(col("lo_revenue").cast(pl.Int64).sum())
        .sort("d_year", "p_brand1")
        .select("lo_revenue", "d_year", "p_brand1")
    )


def q2_1(tables: Frames) -> pl.LazyFrame:
    return _by_brand(tables, col("p_category") == "MFGR#12", "AMERICA")


def q2_2(tables: Frames) -> pl.LazyFrame:
    return _by_brand(tables, col("p_brand1").is_between(pl.lit("MFGR#2221"), pl.lit("MFGR#2228")), "ASIA")


def q2_3(tables: Frames) -> pl.LazyFrame:
    return _by_brand(tables, col("p_brand1") == "MFGR#2239", "EUROPE")


def _by_place(tables: Frames, level: str, customers: pl.Expr, suppliers: pl.Expr, days: pl.Expr) -> pl.LazyFrame:
    keys = [f"c_{level}", f"s_{level}", "d_year"]
    return (
        tables["lineorder"]
        .join(tables["customer"].filter(customers), left_on="lo_custkey", right_on="c_custkey")
        .join(tables["supplier"].filter(suppliers), left_on="lo_suppkey", right_on="s_suppkey")
        .join(tables["date1"].filter(days), left_on="lo_orderdate", right_on="d_datekey")
        .group_by(keys)
        .agg(col("lo_revenue").cast(pl.Int64).sum().alias("revenue"))
        .sort("d_year", "revenue", descending=[False, True])
        .select(*keys, "revenue")
    )


_SIX_YEARS = col("d_year").is_between(1992, 1997)
_TWO_CITIES = ["UNITED KI1", "UNITED KI5"]


def q3_1(tables: Frames) -> pl.LazyFrame:
    return _by_place(tables, "nation", col("c_region") == "ASIA", col("s_region") == "ASIA", _SIX_YEARS)


def q3_2(tables: Frames) -> pl.LazyFrame:
    nation = "UNITED STATES"
    return _by_place(tables, "city", col("c_nation") == nation, col("s_nation") == nation, _SIX_YEARS)


def q3_3(tables: Frames) -> pl.LazyFrame:
    return _by_place(tables, "city", col("c_city").is_in(_TWO_CITIES), col("s_city").is_in(_TWO_CITIES), _SIX_YEARS)


def q3_4(tables: Frames) -> pl.LazyFrame:
    month = col("d_yearmonth") == "Dec1997"
    return _by_place(tables, "city", col("c_city").is_in(_TWO_CITIES), col("s_city").is_in(_TWO_CITIES), month)


def _profit(tables: Frames, keys: list, suppliers: pl.Expr, parts: pl.Expr, days: pl.Expr | None) -> pl.LazyFrame:
    customers = tables["customer"].filter(col("c_region") == "AMERICA")
    dates = tables["date1"] if days is None else tables["date1"].filter(days)
    return (
        tables["lineorder"]
        .join(tables["supplier"].filter(suppliers), left_on="lo_suppkey", right_on="s_suppkey")
        .join(customers, left_on="lo_custkey", right_on="c_custkey")
        .join(tables["part"].filter(parts), left_on="lo_partkey", right_on="p_partkey")
        .join(dates, left_on="lo_orderdate", right_on="d_datekey")
        .group_by(keys)
        .agg((col("lo_revenue") - col("lo_supplycost")).cast(pl.Int64).sum().alias("profit"))
        .sort(keys)
        .select(*keys, "profit")
    )


_TWO_MAKERS = col("p_mfgr").is_in(["MFGR#1", "MFGR#2"])
_TWO_YEARS = col("d_year").is_in([1997, 1998])


def q4_1(tables: Frames) -> pl.LazyFrame:
    return _profit(tables, ["d_year", "c_nation"], col("s_region") == "AMERICA", _TWO_MAKERS, None)


def q4_2(tables: Frames) -> pl.LazyFrame:
    keys = ["d_year", "s_nation", "p_category"]
    return _profit(tables, keys, col("s_region") == "AMERICA", _TWO_MAKERS, _TWO_YEARS)


def q4_3(tables: Frames) -> pl.LazyFrame:
    keys = ["d_year", "s_city", "p_brand1"]
    return _profit(tables, keys, col("s_nation") == "UNITED STATES", col("p_category") == "MFGR#14", _TWO_YEARS)


QUERIES: Dict[str, Callable[[Frames], pl.LazyFrame]] = {
    "Q1_1": q1_1, "Q1_2": q1_2, "Q1_3": q1_3, "Q2_1": q2_1, "Q2_2": q2_2, "Q2_3": q2_3, "Q3_1": q3_1,
    "Q3_2": q3_2, "Q3_3": q3_3, "Q3_4": q3_4, "Q4_1": q4_1, "Q4_2": q4_2, "Q4_3": q4_3,
}  # fmt: skip
