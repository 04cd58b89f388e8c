"""76 statements that PostgreSQL answers best, and the tables that they use.
PostgreSQL is best because of an index, a LIMIT, a small table, a nested loop or a sub-query for each row. Called by
run.py. `{n}` in a statement is another number in each execution, so that no result is cached."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

SCHEMA = "never_slower"

# The tables of pgbench at scale 10, and a shop: one table of orders with the usual indexes, with small tables around
# it.
TABLES = """
create unlogged table account (aid int primary key, bid int not null, balance int not null, filler char(84));
insert into account select i, i % 10 + 1, 0, '' from generate_series(1, 1000000) i;
create unlogged table branch (bid int primary key, balance int not null, filler char(88)) with (fillfactor = 50);
insert into branch select i, 0, '' from generate_series(1, 10) i;
create unlogged table teller (tid int primary key, bid int not null, balance int not null) with (fillfactor = 50);
insert into teller select i, i % 10 + 1, 0 from generate_series(1, 100) i;
create unlogged table history (tid int, bid int, aid int, delta int, at timestamp);

create table country (id int primary key, name text not null, region text not null);
insert into country select i, 'country ' || i, 'region ' || i % 5 from generate_series(1, 25) i;
create table customer (id int primary key, country_id int not null, name text not null, since date not null,
                       credit numeric(12,2) not null, email text not null unique);
insert into customer select i, i % 25 + 1, 'customer ' || i, date '2000-01-01' + i % 9000, i % 10000 / 100.0, 'c' || i || '@example.org'
  from generate_series(1, 50000) i;
create index on customer (country_id);
create table product (id int primary key, name text not null, price numeric(10,2) not null, tags text[] not null, info jsonb not null);
insert into product select i, 'product ' || i, i % 1000 + 0.99, array['t' || i % 50, 'u' || i % 7],
    jsonb_build_object('size', i % 20) from generate_series(1, 5000) i;
create index on product using gin (tags);
create table purchase (id bigint primary key, customer_id int not null, at timestamp not null, status text not null,
                       total numeric(12,2) not null, note text);
insert into purchase select i, i * 7919::bigint % 50000 + 1, timestamp '2020-01-01' + i * interval '2 minutes',
    case i % 1000 when 0 then 'open' else 'done' end, i % 100000 / 100.0, case when i % 10 = 0 then 'note ' || i end
  from generate_series(1, 600000) i;
create index on purchase (customer_id, at);
create index on purchase (at);
create index on purchase (status) where status = 'open';
create table line (purchase_id bigint not null, number int not null, product_id int not null, quantity int not null,
                   price numeric(10,2) not null, primary key (purchase_id, number));
insert into line select i / 2 + 1, i % 2, i * 31 % 5000 + 1, i % 9 + 1, i % 1000 + 0.99 from generate_series(0, 1199999) i;
create index on line (product_id);
create table setting (key text primary key, value text not null);
insert into setting select 'key' || i, 'value' || i from generate_series(1, 40) i;
create table tree (id int primary key, parent int);
insert into tree select i, nullif(i / 3, 0) from generate_series(1, 3000) i;
create index on tree (parent);
create table event (at timestamp not null, kind int not null, payload text) partition by range (at);
create table event_2023 partition of event for values from ('2023-01-01') to ('2024-01-01');
create table event_2024 partition of event for values from ('2024-01-01') to ('2025-01-01');
insert into event select timestamp '2023-01-01' + i * interval '5 minutes', i % 20, 'e' || i from generate_series(0, 200000) i;
create index on event (at);
-- Points that meet forty others each, and few rows for sub-queries.
create table point (k int not null, g int not null, a int not null);
insert into point select i, i % 500, i % 97 from generate_series(1, 20000) i;
create table other (g int not null, v int not null);
insert into other select i % 500, i from generate_series(1, 20000) i;
create table few (b int not null);
insert into few select i from generate_series(1, 2000) i;
create function customer_total(wanted int) returns numeric language plpgsql stable as $$
  declare sum_of numeric := 0; p record;
  begin
    for p in select total from purchase where customer_id = wanted loop sum_of := sum_of + p.total; end loop;
    return sum_of;
  end $$;
"""
NAMES = ("account", "branch", "teller", "history", "country", "customer", "product", "purchase", "line", "setting",
         "tree", "event", "point", "other", "few")  # fmt: skip


@dataclass(frozen=True)
class Statement:
    name: str
    sql: str  # several statements, separated by semicolons, form a transaction that is rolled back
    prepared: bool = False

    @property
    def writes(self) -> bool:
        return self.sql.startswith(("update", "insert", "delete", "begin"))


_GROUPS: Tuple[Tuple[str, Tuple[str, ...]], ...] = (
    ("point", (
        "select balance from account where aid = {n}",
        "select * from customer where id = {n} % 50000 + 1",
        "select * from customer where email = 'c{n}@example.org'",
        "select * from purchase where id = {n}",
        "select * from line where purchase_id = {n} and number = 1",
        "select value from setting where key = 'key7'",
        "select * from purchase where id in ({n}, {n} + 5, {n} + 9)",
        "select count(*) from account where aid = {n}",
        "select total from purchase where id = (select max(purchase_id) from line where purchase_id < {n})",
        "select customer_total({n} % 50000 + 1)",
    )),
    ("range", (
        "select count(*) from purchase where at between timestamp '2020-03-01' and timestamp '2020-03-01 06:00'",
        "select sum(total) from purchase where customer_id = {n} % 50000 + 1",
        "select sum(balance) from account where aid between {n} and {n} + 50",
        "select avg(quantity) from line where purchase_id between {n} and {n} + 20",
        "select count(*) from purchase where status = 'open'",
        "select count(*), max(price) from line where product_id = {n} % 5000 + 1",
        "select status, count(*) from purchase where at < timestamp '2020-01-01 12:00' group by status",
        "select count(*) from event where at between timestamp '2023-05-01' and timestamp '2023-05-02'",
        "select id from product where tags @> array['t7', 'u3']",
        "select count(distinct customer_id) from purchase where at >= timestamp '2022-04-13'",
    )),
    ("limit", (
        "select * from account limit 10",
        "select * from purchase order by id limit 10",
        "select * from purchase order by at desc limit 5",
        "select * from purchase where total > 500 limit 3",
        "select * from purchase where customer_id = {n} % 50000 + 1 order by at desc limit 1",
        "select min(id), max(id) from purchase",
        "select max(at) from purchase where customer_id = {n} % 50000 + 1",
        "select p.id, c.name from purchase p join customer c on c.id = p.customer_id order by p.at limit 10",
        "select exists (select from purchase where total > 900)",
        "select * from event order by at desc limit 10",
    )),
    ("small", (
        "select * from country",
        "select count(*) from country",
        "select region, count(*) from country group by region",
        "select * from setting where value = 'value9'",
        "select c.name, t.name from country c join country t on c.id = t.id",
        "select sum(balance) from branch",
        "select b.bid, sum(t.balance) from branch b join teller t using (bid) group by 1",
        "select count(*) from tree where parent is null",
        "select distinct region from country order by 1",
        "select name from country where id not in (select country_id from customer where id < 5)",
    )),
    ("nested loop", (
        "select c.name, p.total from customer c join purchase p on p.customer_id = c.id where c.id = {n} % 50000 + 1",
        "select p.id, l.number, r.name from purchase p join line l on l.purchase_id = p.id join product r on r.id = l.product_id where p.id between {n} and {n} + 5",
        "select c.id from customer c where c.id < 50 and exists (select from purchase p where p.customer_id = c.id and p.total > 900)",
        "select c.id from customer c where c.id < 50 and not exists (select from purchase p where p.customer_id = c.id and p.total < 1)",
        "select sum(l.quantity) from line l join purchase p on p.id = l.purchase_id where p.customer_id = {n} % 50000 + 1",
        "select c.name, x.total from customer c, lateral (select total from purchase p where p.customer_id = c.id order by at desc limit 1) x where c.id < 20",
        "with recursive up as (select id, parent from tree where id = 2999 union all select t.id, t.parent from tree t join up on t.id = up.parent) select count(*) from up",
        "select count(*) from customer c join purchase p on p.customer_id = c.id where c.email = 'c{n}@example.org'",
        "select a.aid, b.balance from account a join branch b using (bid) where a.aid between {n} and {n} + 10",
        "select (select name from country k where k.id = c.country_id) from customer c where c.id between 100 and 110",
    )),
    ("sub-query", (
        "select count(*) from point join other using (g) where k < 400 and (select count(*) from few where b % 10 = a % 10) > 500",
        "select count(*) from point join other using (g) where k < 400 and (select count(*) from few where b % 10 = a % 10) > 100",
        "select count(*) from point join other using (g) where k < 100 and a::numeric(10,2)::float8 <> all (select b from few where b > 600 and b % 3 = k % 2 + 5)",
        "select count(*) from point left join other using (g) where k < 100 and (select count(*) from few where b % 10 = a % 10) > 100",
        "select count(*) from point p left join other o on o.g = p.g and (select count(*) from few where b % 10 = p.a % 10) > 500 where k < 100",
        "select count(*) from point p join other o using (g) where k < 20 and (select count(*) from few where b % 10 = (p.a + o.v) % 10) > 100",
        "select k, (select count(*) from few where b % 10 = a % 10) from point where k < 200",
        "select sum((select count(*) from few where b % 10 = a % 10)) from point where k < 200",
        "select a % 5, count(*) filter (where (select count(*) from few where b % 10 = a % 10) > 100) from point where k < 200 group by 1",
        "select (select count(*) from few where b % 10 = a % 10), count(*) from point where k < 200 group by 1",
        "select a, count(*) from point where k < 2000 group by a having count(*) > (select count(*) from few where b % 100 = a)",
        "select k from point where k < 200 order by (select count(*) from few where b % 10 = a % 10), k limit 5",
        "select count(*) from point where k < 200 and (a > 95 or exists (select from few where b % 10 = a % 10 and b > 1500))",
        "select count(*) from point where k < 200 and case when a > 50 then (select max(b) from few where b % 10 = a % 10) > 1990 else k > 100 end",
        "select count(*) from point, lateral (select max(b) m from few where b % 10 = a % 10) x where k < 200 and m > 1990",
        "select count(*) from purchase p where p.customer_id = {n} % 50000 + 1 and p.total > (select avg(q.total) from purchase q where q.customer_id = p.customer_id)",
    )),
    ("write", (
        "update account set balance = balance + 1 where aid = {n}",
        "update teller set balance = balance + 1 where tid = {n} % 100 + 1",
        "insert into history values (1, 1, {n}, 5, now())",
        "delete from history where aid = {n}",
        "update purchase set note = 'x' where id = {n} and exists (select from customer c where c.id = customer_id)",
        "begin; update account set balance = balance + 7 where aid = {n}; select balance from account where aid = {n}; "
        "update teller set balance = balance + 7 where tid = {n} % 100 + 1; update branch set balance = balance + 7 "
        "where bid = {n} % 10 + 1; insert into history values ({n} % 100 + 1, {n} % 10 + 1, {n}, 7, now())",
    )),
)  # fmt: skip
# Statements as drivers send them: parsed once and executed often.
_PREPARED = (
    "select balance from account where aid = {n}",
    "select sum(total) from purchase where customer_id = {n}",
    "select p.total, c.name from purchase p join customer c on c.id = p.customer_id where p.id = {n}",
    "select count(*) from line where purchase_id = {n}",
)


def statements() -> List[Statement]:
    listed = [Statement(f"{group} {number}", sql) for group, members in _GROUPS for number, sql in enumerate(members, 1)]
    return listed + [Statement(f"prepared {number}", sql, True) for number, sql in enumerate(_PREPARED, 1)]


def join_of_twelve() -> str:
    """A join of twelve tables in a chain, to measure only planning time."""
    tables = ["purchase t0"] + [f"{name} t{i}" for i, name in enumerate(
        ("customer", "country", "line", "product", "tree", "setting", "teller", "branch", "account", "customer", "country"), 1)]  # fmt: skip
    conditions = (
        "t1.id = t0.customer_id", "t2.id = t1.country_id", "t3.purchase_id = t0.id", "t4.id = t3.product_id",
        "t5.id = t4.id", "t6.key = t2.name", "t7.tid = t5.parent", "t8.bid = t7.bid", "t9.aid = t4.id",
        "t10.id = t9.aid", "t11.id = t10.country_id",
    )  # fmt: skip
    return f"select t2.region, count(*), sum(t3.price) from {', '.join(tables)} where {' and '.join(conditions)} group by 1"
