-- Random data for trying things out. The first argument is the percentage of NULLs; bounds are inclusive.
CREATE FUNCTION random_setseed(seed int)
RETURNS void AS 'MODULE_PATHNAME', 'strom_random_setseed' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
-- argument seed: any number; the same one gives the same values
-- example: SELECT pgstrom.random_setseed(42);
COMMENT ON FUNCTION random_setseed(int) IS 'makes the random_* functions of this session repeat themselves';

CREATE FUNCTION random_int(nulls float8 DEFAULT 0, lower bigint DEFAULT 0, upper bigint DEFAULT 2147483647)
RETURNS bigint AS 'MODULE_PATHNAME', 'strom_random_int' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_int(5, 1, 6) FROM generate_series(1, 3);
COMMENT ON FUNCTION random_int(float8, bigint, bigint) IS 'a random whole number, or NULL';

CREATE FUNCTION random_float(nulls float8 DEFAULT 0, lower float8 DEFAULT 0, upper float8 DEFAULT 1)
RETURNS float8 AS 'MODULE_PATHNAME', 'strom_random_float' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_float(0, -1.0, 1.0) FROM generate_series(1, 3);
COMMENT ON FUNCTION random_float(float8, float8, float8) IS 'a random number, or NULL';

CREATE FUNCTION random_date(nulls float8 DEFAULT 0, lower date DEFAULT '2015-01-01', upper date DEFAULT '2025-12-31')
RETURNS date AS 'MODULE_PATHNAME', 'strom_random_date' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_date(0, '2024-01-01', '2024-12-31') FROM generate_series(1, 3);
COMMENT ON FUNCTION random_date(float8, date, date) IS 'a random day, or NULL';

CREATE FUNCTION random_time(nulls float8 DEFAULT 0, lower time DEFAULT '00:00:00', upper time DEFAULT '23:59:59.999999')
RETURNS time AS 'MODULE_PATHNAME', 'strom_random_time' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_time(0, '09:00', '17:00') FROM generate_series(1, 3);
COMMENT ON FUNCTION random_time(float8, time, time) IS 'a random time of the day, or NULL';

CREATE FUNCTION random_timetz(nulls float8 DEFAULT 0, lower time DEFAULT '00:00:00', upper time DEFAULT '23:59:59.999999')
RETURNS timetz AS 'MODULE_PATHNAME', 'strom_random_timetz' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_timetz() FROM generate_series(1, 3);
COMMENT ON FUNCTION random_timetz(float8, time, time) IS 'a random time of the day with any whole hour from -12 to +12 as its zone, or NULL';

CREATE FUNCTION random_timestamp(nulls float8 DEFAULT 0, lower timestamp DEFAULT '2015-01-01', upper timestamp DEFAULT '2025-01-01')
RETURNS timestamp AS 'MODULE_PATHNAME', 'strom_random_timestamp' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_timestamp(10) FROM generate_series(1, 3);
COMMENT ON FUNCTION random_timestamp(float8, timestamp, timestamp) IS 'a random moment, or NULL';

CREATE FUNCTION random_macaddr(nulls float8 DEFAULT 0, lower macaddr DEFAULT 'ab:cd:00:00:00:00', upper macaddr DEFAULT 'ab:cd:ff:ff:ff:ff')
RETURNS macaddr AS 'MODULE_PATHNAME', 'strom_random_macaddr' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument lower: the least value
-- argument upper: the greatest value
-- example: SELECT pgstrom.random_macaddr() FROM generate_series(1, 3);
COMMENT ON FUNCTION random_macaddr(float8, macaddr, macaddr) IS 'a random address of a network card, or NULL';

CREATE FUNCTION random_inet(nulls float8 DEFAULT 0, network inet DEFAULT '192.168.0.1/16')
RETURNS inet AS 'MODULE_PATHNAME', 'strom_random_inet' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument network: the host's network
-- example: SELECT pgstrom.random_inet(0, '10.0.0.0/8');
COMMENT ON FUNCTION random_inet(float8, inet) IS 'a random host of a network, or NULL';

CREATE FUNCTION random_text(nulls float8 DEFAULT 0, pattern text DEFAULT 'test_**')
RETURNS text AS 'MODULE_PATHNAME', 'strom_random_text' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument pattern: the pattern
-- example: SELECT pgstrom.random_text(0, 'id-****');
COMMENT ON FUNCTION random_text(float8, text) IS 'a pattern with a random letter or digit in place of each *, or NULL';

CREATE FUNCTION random_text_len(nulls float8 DEFAULT 0, max_length int DEFAULT 10)
RETURNS text AS 'MODULE_PATHNAME', 'strom_random_text_len' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
-- argument nulls: percentage of NULLs
-- argument max_length: the greatest length
-- example: SELECT pgstrom.random_text_len(0, 20);
COMMENT ON FUNCTION random_text_len(float8, int) IS 'up to so many random letters and digits, or NULL';

-- of random_int4range, random_int8range, random_tsrange, random_tstzrange, random_daterange:
-- argument nulls: percentage of NULLs
-- argument lower: the least bound
-- argument upper: the greatest bound
-- example: SELECT pgstrom.random_int4range(0, 1, 100), pgstrom.random_daterange();
DO $$
DECLARE
  kind record;
BEGIN
  FOR kind IN SELECT * FROM (VALUES
    ('int4range', 'bigint', 'random_int', 'int', '0', '2147483647'),
    ('int8range', 'bigint', 'random_int', 'bigint', '0', '9223372036854775807'),
    ('tsrange', 'timestamp', 'random_timestamp', 'timestamp', '''2015-01-01''', '''2025-01-01'''),
    ('tstzrange', 'timestamp', 'random_timestamp', 'timestamptz', '''2015-01-01''', '''2025-01-01'''),
    ('daterange', 'date', 'random_date', 'date', '''2015-01-01''', '''2025-12-31''')
  ) k(name, bound, scalar, element, lowest, highest) LOOP
    EXECUTE format($f$
      CREATE FUNCTION random_%1$s(nulls float8 DEFAULT 0, lower %2$s DEFAULT %5$s, upper %2$s DEFAULT %6$s)
      RETURNS %1$s LANGUAGE sql VOLATILE PARALLEL RESTRICTED AS
      'SELECT CASE WHEN a IS NOT NULL THEN pg_catalog.%1$s(least(a, b)::%4$s, greatest(a, b)::%4$s) END
         FROM (SELECT @extschema@.%3$s($1, $2, $3) AS a, @extschema@.%3$s(0, $2, $3) AS b OFFSET 0) ends'
    $f$, kind.name, kind.bound, kind.scalar, kind.element, kind.lowest, kind.highest);
    EXECUTE format('COMMENT ON FUNCTION random_%1$s(float8, %2$s, %2$s) IS ''a random %1$s between the bounds, or NULL''', kind.name, kind.bound);
  END LOOP;
END $$;
