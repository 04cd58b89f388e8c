-- IMPORT FOREIGN SCHEMA of what pg2arrow wrote, statistics, virtual columns.
IMPORT FOREIGN SCHEMA flineorder_sort
           FROM SERVER arrow_fdw INTO public
           OPTIONS (file '/dev/shm/flineorder_sort.arrow');

-- Not theirs: without statistics a join of few rows is PostgreSQL's, as they found.
ANALYZE flineorder, flineorder_sort;

-- engine: flineorder_sort
-- plan: Stats-Hint: \(\(?lo_orderdate >= 19940101\).*lo_orderdate <= 19940630\).*\[loaded: [0-9]+, skipped: [1-9]
EXPLAIN ANALYZE
           SELECT count(*) FROM flineorder_sort
            WHERE lo_orderpriority = '2-HIGH'
              AND lo_orderdate BETWEEN 19940101 AND 19940630;

-- engine: flineorder_sort
SELECT count(*) FROM flineorder_sort
            WHERE lo_orderpriority = '2-HIGH'
              AND lo_orderdate BETWEEN 19940101 AND 19940630;

SET arrow_fdw.stats_hint_enabled = off;

-- engine: flineorder_sort
-- not plan: Stats-Hint
EXPLAIN ANALYZE
           SELECT count(*) FROM flineorder_sort
            WHERE lo_orderpriority = '2-HIGH'
              AND lo_orderdate BETWEEN 19940101 AND 19940630;

-- engine: flineorder_sort
SELECT count(*) FROM flineorder_sort
            WHERE lo_orderpriority = '2-HIGH'
              AND lo_orderdate BETWEEN 19940101 AND 19940630;

SET arrow_fdw.stats_hint_enabled = on;

-- engine: flineorder_sort
select sum(lo_extendedprice*lo_discount) as revenue
  from flineorder_sort, date1
 where lo_orderdate = d_datekey
   and d_yearmonthnum = 199401
   and lo_discount between 4 and 6
   and lo_quantity between 26 and 35;

-- scan: flineorder_sort
-- plan: Stats-Hint: .*lo_orderdate >= 19940101.*lo_orderdate <= 19940131
explain analyze
select sum(lo_extendedprice*lo_discount) as revenue
  from flineorder_sort, date1
 where lo_orderdate = d_datekey
    and d_yearmonthnum = 199401
    and lo_discount between 4 and 6
    and lo_quantity between 26 and 35
    and lo_orderdate between 19940101 and 19940131;

-- scan: flineorder_sort
select sum(lo_extendedprice*lo_discount) as revenue
  from flineorder_sort, date1
 where lo_orderdate = d_datekey
    and d_yearmonthnum = 199401
    and lo_discount between 4 and 6
    and lo_quantity between 26 and 35
    and lo_orderdate between 19940101 and 19940131;

-- engine: flineorder
-- plan: file0: .*flineorder\.arrow
explain analyze
select sum(lo_extendedprice*lo_discount) as revenue
from flineorder,date1
where lo_orderdate = d_datekey
and d_year = 1993
and lo_discount between 1 and 3
and lo_quantity < 25;

-- engine: flineorder
select sum(lo_extendedprice*lo_discount) as revenue
from flineorder,date1
where lo_orderdate = d_datekey
and d_year = 1993
and lo_discount between 1 and 3
and lo_quantity < 25;

-- engine: flineorder
explain analyze
select sum(lo_extendedprice*lo_discount) as revenue
from flineorder, date1
where lo_orderdate = d_datekey
  and d_yearmonthnum = 199401
  and lo_discount between 4 and 6
  and lo_quantity between 26 and 35;

-- engine: flineorder
select sum(lo_extendedprice*lo_discount) as revenue
from flineorder, date1
where lo_orderdate = d_datekey
  and d_yearmonthnum = 199401
  and lo_discount between 4 and 6
  and lo_quantity between 26 and 35;

IMPORT FOREIGN SCHEMA f_lineorder_vcol
  FROM SERVER arrow_fdw
  INTO public
  OPTIONS (dir '/opt/arrow/monthly', pattern 'f_lineorder_@{year_month}_${shipmode}.arrow');

-- engine: f_lineorder_vcol
-- plan: Stats-Hint: \(year_month = 199401\).*\[loaded: [1-9][0-9]*, skipped: [1-9]
explain (analyze, costs off)
select sum(lo_extendedprice*lo_discount)
from f_lineorder_vcol
where year_month = 199401
and lo_discount between 4 and 6
and lo_quantity between 26 and 35;

-- engine: f_lineorder_vcol
select sum(lo_extendedprice*lo_discount)
from f_lineorder_vcol
where year_month = 199401
and lo_discount between 4 and 6
and lo_quantity between 26 and 35;
