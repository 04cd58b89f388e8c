-- The tables of the Star Schema Benchmark as the seeds have them: bare numeric for keys and amounts, char(n) for words. The
-- rows come from bench/ssb's generator, over a table of the same name in schema `generated`.
CREATE TABLE date1 (d_datekey int, d_date char(18), d_dayofweek char(12), d_month char(9), d_year int, d_yearmonthnum numeric,
  d_yearmonth char(7), d_daynuminweek numeric, d_daynuminmonth numeric, d_daynuminyear numeric, d_monthnuminyear numeric,
  d_weeknuminyear numeric, d_sellingseason char(15), d_lastdayinweekfl char(1), d_lastdayinmonthfl char(1), d_holidayfl char(1),
  d_weekdayfl char(1));
CREATE TABLE customer (c_custkey numeric, c_name varchar(25), c_address varchar(25), c_city char(10), c_nation char(15),
  c_region char(12), c_phone char(15), c_mktsegment char(10));
CREATE TABLE supplier (s_suppkey numeric, s_name char(25), s_address varchar(25), s_city char(10), s_nation char(15),
  s_region char(12), s_phone char(15));
CREATE TABLE part (p_partkey int, p_name varchar(25), p_mfgr char(6), p_category char(7), p_brand1 char(9), p_color varchar(11),
  p_type varchar(25), p_size numeric, p_container char(10));
CREATE TABLE lineorder (lo_orderkey numeric, lo_linenumber int, lo_custkey numeric, lo_partkey int, lo_suppkey numeric,
  lo_orderdate int, lo_orderpriority char(15), lo_shippriority char(1), lo_quantity numeric, lo_extendedprice numeric,
  lo_ordertotalprice numeric, lo_discount numeric, lo_revenue numeric, lo_supplycost numeric, lo_tax numeric,
  lo_commit_date char(8), lo_shipmode char(10));
INSERT INTO date1 SELECT * FROM generated.date1;
INSERT INTO customer SELECT * FROM generated.customer;
INSERT INTO supplier SELECT * FROM generated.supplier;
INSERT INTO part SELECT * FROM generated.part;
INSERT INTO lineorder SELECT * FROM generated.lineorder;
CREATE TABLE lineorder_8m AS TABLE lineorder;
CREATE TABLE lineorder_sort AS SELECT * FROM lineorder ORDER BY lo_orderdate;
DROP SCHEMA generated CASCADE;
VACUUM ANALYZE;
