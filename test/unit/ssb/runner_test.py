"""What the benchmark's runner concludes: equal or not, who answered, by what factor, and a chart that is well-formed.
Needs Python's standard library alone. Called by ctest with the folder of bench/ssb as its argument."""
from __future__ import annotations

import sys
import unittest
import xml.etree.ElementTree as xml
from decimal import Decimal

sys.path.insert(0, sys.argv.pop(1))

import chart  # noqa: E402
import plans  # noqa: E402
import report  # noqa: E402
from workload import QUERIES, difference, normalise  # noqa: E402


class QueriesTest(unittest.TestCase):
    def test_all_thirteen_are_there(self):
        names = "Q1_1 Q1_2 Q1_3 Q2_1 Q2_2 Q2_3 Q3_1 Q3_2 Q3_3 Q3_4 Q4_1 Q4_2 Q4_3"
        self.assertEqual(list(QUERIES), names.split())

    def test_columns_and_order_are_read_from_the_text(self):
        self.assertEqual(
            QUERIES["Q1_1"].columns,
            ("d_datekey", "d_year", "lo_discount", "lo_extendedprice", "lo_orderdate", "lo_quantity"),
        )
        orders = {name: query.order_by for name, query in QUERIES.items()}
        self.assertEqual(orders["Q1_1"], ())
        self.assertEqual(orders["Q2_1"], (1, 2))
        self.assertEqual(orders["Q3_1"], (2, 3))
        self.assertEqual(orders["Q4_1"], (0, 1))
        self.assertEqual(orders["Q4_3"], (0, 1, 2))


class DifferenceTest(unittest.TestCase):
    rows = [("CHINA", "INDIA", 1992, 9), ("JAPAN", "INDIA", 1992, 5), ("CHINA", "JAPAN", 1992, 5)]

    def check(self, got):
        return difference(QUERIES["Q3_1"], self.rows, got)

    def test_same_rows_are_equal(self):
        self.assertEqual(self.check(list(self.rows)), "")

    def test_rows_that_order_by_leaves_open_may_change_places(self):
        self.assertEqual(self.check([self.rows[0], self.rows[2], self.rows[1]]), "")

    def test_wrong_order_is_a_difference(self):
        self.assertIn("row 1 is out of order", self.check([self.rows[1], self.rows[0], self.rows[2]]))

    def test_other_missing_and_repeated_rows_are_differences(self):
        self.assertIn("surplus [('CHINA', 'INDIA', 1992, 8)]", self.check([("CHINA", "INDIA", 1992, 8), *self.rows[1:]]))
        self.assertIn("2 rows instead of 3", self.check(self.rows[:2]))
        self.assertIn("4 rows instead of 3", self.check([*self.rows, self.rows[2]]))
        self.assertNotEqual(self.check([self.rows[0], self.rows[1], self.rows[1]]), "")

    def test_only_whole_numbers_are_made_alike(self):
        self.assertEqual(normalise([[Decimal("7"), b"x", None]]), [(7, "x", None)])
        self.assertEqual(repr(normalise([[Decimal("7.5"), 7.0]])), "[(Decimal('7.5'), 7.0)]")
        self.assertNotEqual(difference(QUERIES["Q1_1"], [(7,)], normalise([[7.0]])), "")


class PlansTest(unittest.TestCase):
    engine = {"Node Type": "Custom Scan", "Custom Plan Provider": "CpuPreAgg"}

    def test_engine_alone_below_finishing_nodes(self):
        plan = {"Node Type": "Sort", "Plans": [{"Node Type": "Aggregate", "Plans": [self.engine]}]}
        self.assertTrue(plans.is_wholly_in_engine(plan))
        self.assertEqual(plans.worker_names(plan), "CpuPreAgg")

    def test_inner_side_from_postgresql(self):
        plan = {**self.engine, "Plans": [{"Node Type": "Seq Scan"}]}
        self.assertFalse(plans.is_wholly_in_engine(plan))
        self.assertEqual(plans.worker_names(plan), "CpuPreAgg + Seq Scan")

    def test_join_above_the_engine(self):
        scan = {"Node Type": "Custom Scan", "Custom Plan Provider": "CpuScan"}
        plan = {"Node Type": "Aggregate", "Plans": [{"Node Type": "Hash Join", "Plans": [scan]}]}
        self.assertFalse(plans.is_wholly_in_engine(plan))
        self.assertEqual(plans.worker_names(plan), "Hash Join + CpuScan")

    def test_postgresql_alone(self):
        plan = {"Node Type": "Aggregate", "Partial Mode": "Finalize",
                "Plans": [{"Node Type": "Gather", "Plans": [{"Node Type": "Seq Scan", "Parallel Aware": True}]}]}  # fmt: skip
        self.assertFalse(plans.is_wholly_in_engine(plan))
        self.assertEqual(plans.node_names(plan), "Finalize Aggregate, Gather, Parallel Seq Scan")


def made_results():
    times = {
        "Q1_1": {"pg_strom": 2, "postgres": 200, "duckdb_arrow": 8, "duckdb_native": 6, "polars": 5},
        "Q1_2": {"pg_strom": 1, "postgres": 400, "duckdb_arrow": 3, "duckdb_native": 12, "polars": 9},
    }
    return [
        {"query": query, "engine": engine, "median_ms": time, "min_ms": time, "max_ms": time, "rows_per_s": 1000,
         "gb_per_s": 1.5, "answered_by": "somebody", "equal": True}
        for query, engines in times.items() for engine, time in engines.items()
    ]  # fmt: skip


def made_report(results):
    return {"scale": 1, "lineorder_rows": 6000000, "runs": 3, "threads": 2, "results": results,
            "figures": report.figures(results), "read_bandwidth_gb_s": 20.0}  # fmt: skip


class ReportTest(unittest.TestCase):
    def test_factors(self):
        figures = report.figures(made_results())
        self.assertAlmostEqual(figures["postgres"]["geometric_mean"], 200)
        self.assertAlmostEqual(figures["best of DuckDB"]["geometric_mean"], 3)
        self.assertAlmostEqual(figures["best of DuckDB and Polars"]["lowest"], 2.5)
        self.assertEqual(figures["best of DuckDB and Polars"]["lowest_query"], "Q1_1")

    def test_table_marks_wrong_and_failed_answers(self):
        results = made_results()
        results[1]["equal"] = False
        results[3] = {"query": "Q1_1", "engine": "duckdb_native", "equal": False, "error": "out of memory"}
        table = report.time_table(made_report(results))
        self.assertIn("200.0 WRONG", table)
        self.assertIn("failed", table)

    def test_chart_is_well_formed_and_taller_for_longer(self):
        drawn = xml.fromstring(chart.draw(made_report(made_results()), "a <machine> & more"))
        bars = {}
        for rect in drawn.iter("{http://www.w3.org/2000/svg}rect"):
            for title in rect:
                bars[title.text] = float(rect.get("height"))
        self.assertEqual(len(bars), 15)  # five engines, two queries and their mean
        self.assertGreater(bars["Q1_1 PostgreSQL (heap): 200.00 ms"], bars["Q1_1 DuckDB (Arrow): 8.00 ms"])
        self.assertGreater(bars["Q1_1 DuckDB (Arrow): 8.00 ms"], bars["Q1_1 pg_strom: 2.00 ms"])


if __name__ == "__main__":
    unittest.main()
