"""A query: its statement, how it is run, and what may differ between its answers."""

from compare import FLOAT4, TOLERANCE

ZONES = ["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca", "+05:30"]
VARIANCES = ["var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev"]
PAIRS = ["corr", "covar_pop", "covar_samp", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2"]
PAIRS += ["regr_slope", "regr_sxx", "regr_sxy", "regr_syy"]
SPREAD_ERROR = 0.05  # of a float's variance: equal values leave rounding errors of their squares


class Query:
    """A statement with how it is to be run and compared."""

    def __init__(self, sql, rows=0):
        self.sql = sql
        self.rows = rows  # about how many rows it reads, for the tolerance of float4 sums
        self.parameters = []  # list of lists of (type, text): one EXECUTE for each
        self.fetches = []  # sizes of the FETCHes, for a cursor
        self.settings = {}  # of both sessions
        self.engine_settings = {}  # of the engine's session alone
        self.approximate = set()  # columns that are sums or averages of floats
        self.spread = set()  # those of them that are variances
        self.representative_open = False  # which of several equal values stands for all is open
        self.raising_order_open = False  # whether an error is raised depends on the plan
        self.must_offload = False
        self.computes = False  # of which some rows at least must not be left to PostgreSQL
        self.falls_back = False  # of which some rows must be left to PostgreSQL
        self.by_index = False  # has a condition that BRIN indexes may answer
        self.kind = ""

    def tolerance(self, oid):
        if oid == FLOAT4:
            return TOLERANCE[oid] * max(1, self.rows / 4096)
        return TOLERANCE.get(oid, 1e-9)

    def slack(self, position):
        return SPREAD_ERROR if position in self.spread else 0


def random_settings(rng, query):
    settings, engine = {}, {}
    if query.parameters:
        settings["plan_cache_mode"] = rng.choice(
            ["force_generic_plan", "force_generic_plan", "force_custom_plan", "auto"]
        )
    if rng.random() < 0.15:
        settings["TimeZone"] = rng.choice(ZONES)
    engine["pg_strom.cpu_threads"] = rng.choice([1, 2, 4])
    if rng.random() < 0.3:
        engine["pg_strom.work_memory"] = rng.choice(["64kB", "64kB", "1MB", "4MB", "4MB"])
    if rng.random() < 0.2:
        engine["enable_hashagg"] = "off"
    if rng.random() < 0.2:
        engine["join_collapse_limit"] = "1"
    if query.by_index and rng.random() < 0.7:  # the tables are small: by costs, reading them whole is often better
        engine["enable_seqscan"] = engine["enable_bitmapscan"] = "off"
    return settings, engine
