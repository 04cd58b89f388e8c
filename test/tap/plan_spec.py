#!/usr/bin/env python3
"""What a plan carries is read as it was written: every field of PlanSpec, by way of the plan's text."""
import shutil

from server import BUILD_DIR, done, equal, folder, fresh_database, ok, psql, query

module = folder("plan_spec") / "strom_plan_spec_test.so"
shutil.copy(BUILD_DIR / "test/modules/strom_plan_spec_test.so", module)
module.chmod(0o755)
DB = fresh_database("strom_plan_spec")

for head, name in {
    "roundtrip() RETURNS text": "strom_test_plan_spec",
    "offset_added() RETURNS bool": "strom_test_plan_spec_offset",
    "other_version() RETURNS bool": "strom_test_plan_spec_version",
}.items():
    query(f"CREATE FUNCTION {head} AS '{module}', '{name}' LANGUAGE C", DB)

equal(query("SELECT roundtrip()", DB), "", "every field is read as it was written")
equal(query("SELECT offset_added()", DB), "t", "range table indexes are those at run time")
_, err = psql("SELECT other_version()", DB)
ok("engine plan is of version 1048576" in err, "a plan of another version is an error", err)

query(f"DROP DATABASE {DB}")
done()
