-- Random data for trying things out. The first argument is the percentage of NULLs; bounds are inclusive.
CREATE FUNCTION random_setseed(seed int)
RETURNS void AS 'MODULE_PATHNAME', 'strom_random_setseed' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION random_setseed(int) IS 'makes the random_* functions of this session repeat themselves';

CREATE FUNCTION random_int(nulls float8 DEFAULT 0, lower bigint DEFAULT 0, upper bigint DEFAULT 2147483647)
RETURNS bigint AS 'MODULE_PATHNAME', 'strom_random_int' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_float(nulls float8 DEFAULT 0, lower float8 DEFAULT 0, upper float8 DEFAULT 1)
RETURNS float8 AS 'MODULE_PATHNAME', 'strom_random_float' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_date(nulls float8 DEFAULT 0, lower date DEFAULT '2015-01-01', upper date DEFAULT '2025-12-31')
RETURNS date AS 'MODULE_PATHNAME', 'strom_random_date' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_time(nulls float8 DEFAULT 0, lower time DEFAULT '00:00:00', upper time DEFAULT '23:59:59.999999')
RETURNS time AS 'MODULE_PATHNAME', 'strom_random_time' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_timetz(nulls float8 DEFAULT 0, lower time DEFAULT '00:00:00', upper time DEFAULT '23:59:59.999999')
RETURNS timetz AS 'MODULE_PATHNAME', 'strom_random_timetz' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION random_timetz(float8, time, time) IS 'with any whole hour from -12 to +12 as its zone';

CREATE FUNCTION random_timestamp(nulls float8 DEFAULT 0, lower timestamp DEFAULT '2015-01-01', upper timestamp DEFAULT '2025-01-01')
RETURNS timestamp AS 'MODULE_PATHNAME', 'strom_random_timestamp' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_macaddr(nulls float8 DEFAULT 0, lower macaddr DEFAULT 'ab:cd:00:00:00:00', upper macaddr DEFAULT 'ab:cd:ff:ff:ff:ff')
RETURNS macaddr AS 'MODULE_PATHNAME', 'strom_random_macaddr' LANGUAGE C VOLATILE PARALLEL RESTRICTED;

CREATE FUNCTION random_inet(nulls float8 DEFAULT 0, network inet DEFAULT '192.168.0.1/16')
RETURNS inet AS 'MODULE_PATHNAME', 'strom_random_inet' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION random_inet(float8, inet) IS 'a host of the network';

CREATE FUNCTION random_text(nulls float8 DEFAULT 0, pattern text DEFAULT 'test_**')
RETURNS text AS 'MODULE_PATHNAME', 'strom_random_text' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION random_text(float8, text) IS 'the pattern with a letter or digit in place of each *';

CREATE FUNCTION random_text_len(nulls float8 DEFAULT 0, max_length int DEFAULT 10)
RETURNS text AS 'MODULE_PATHNAME', 'strom_random_text_len' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION random_text_len(float8, int) IS 'up to so many letters and digits';

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
  END LOOP;
END $$;
