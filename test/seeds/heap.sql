-- engine: lineorder
explain verbose
select sum(lo_extendedprice*lo_discount) as revenue
from lineorder,date1
where lo_orderdate = d_datekey
and d_year = 1993
and lo_discount between 1 and 3
and lo_quantity < 25;

-- engine: lineorder
select sum(lo_extendedprice*lo_discount) as revenue
from lineorder,date1
where lo_orderdate = d_datekey
and d_year = 1993
and lo_discount between 1 and 3
and lo_quantity < 25;

-- engine: lineorder_8m
select count(*) from lineorder_8m where lo_orderpriority = '2-HIGH';

set pg_strom.enabled = off;

-- no engine
explain select sum(lo_revenue), d_year, p_brand1
from lineorder, date1, part, supplier
where lo_orderdate = d_datekey and lo_partkey = p_partkey
and lo_suppkey = s_suppkey and p_category = 'MFGR#12'
and s_region = 'AMERICA'
group by d_year, p_brand1 order by d_year, p_brand1;

set pg_strom.enabled = on;

-- engine: lineorder
explain select sum(lo_revenue), d_year, p_brand1
from lineorder, date1, part, supplier
where lo_orderdate = d_datekey and lo_partkey = p_partkey
and lo_suppkey = s_suppkey and p_category = 'MFGR#12'
and s_region = 'AMERICA'
group by d_year, p_brand1 order by d_year, p_brand1;

-- engine: lineorder
select sum(lo_revenue), d_year, p_brand1
from lineorder, date1, part, supplier
where lo_orderdate = d_datekey and lo_partkey = p_partkey
and lo_suppkey = s_suppkey and p_category = 'MFGR#12'
and s_region = 'AMERICA'
group by d_year, p_brand1 order by d_year, p_brand1;

-- plan: Tid Range Scan
explain SELECT * FROM lineorder WHERE ctid >= '(28706520,0)'::tid AND ctid < '(57413040,0)'::tid;

SELECT * FROM lineorder WHERE lo_orderdate BETWEEN 19960101 AND 19961231;
