
-- int1, a byte with a sign, and float2, half precision: in pg_catalog, beside their wider relatives.
CREATE TYPE pg_catalog.int1;
CREATE TYPE pg_catalog.float2;

DO $do$
DECLARE
  half text;
BEGIN
  FOREACH half IN ARRAY ARRAY['int1', 'float2'] LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.%1$sin(cstring) RETURNS %1$s AS ''MODULE_PATHNAME'', ''strom_%1$sin'' '
                   'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', half);
    EXECUTE format('CREATE FUNCTION pg_catalog.%1$sout(%1$s) RETURNS cstring AS ''MODULE_PATHNAME'', ''strom_%1$sout'' '
                   'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', half);
    EXECUTE format('CREATE FUNCTION pg_catalog.%1$srecv(internal) RETURNS %1$s AS ''MODULE_PATHNAME'', ''strom_%1$srecv'' '
                   'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', half);
    EXECUTE format('CREATE FUNCTION pg_catalog.%1$ssend(%1$s) RETURNS bytea AS ''MODULE_PATHNAME'', ''strom_%1$ssend'' '
                   'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', half);
  END LOOP;
END $do$;

CREATE TYPE pg_catalog.int1 (
  INPUT = pg_catalog.int1in, OUTPUT = pg_catalog.int1out, RECEIVE = pg_catalog.int1recv, SEND = pg_catalog.int1send,
  INTERNALLENGTH = 1, PASSEDBYVALUE, ALIGNMENT = char, STORAGE = plain, CATEGORY = 'N'
);
CREATE TYPE pg_catalog.float2 (
  INPUT = pg_catalog.float2in, OUTPUT = pg_catalog.float2out, RECEIVE = pg_catalog.float2recv, SEND = pg_catalog.float2send,
  INTERNALLENGTH = 2, PASSEDBYVALUE, ALIGNMENT = int2, STORAGE = plain, CATEGORY = 'N'
);
COMMENT ON TYPE pg_catalog.int1 IS '-128 to 127, 1-byte storage';
COMMENT ON TYPE pg_catalog.float2 IS 'half-precision floating point number, 2-byte storage';

-- What is computed in C, each by the function of the same name.
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM (VALUES
    ('int1pl', 'int1, int1', 'int1'), ('int1mi', 'int1, int1', 'int1'), ('int1mul', 'int1, int1', 'int1'),
    ('int1div', 'int1, int1', 'int1'), ('int1mod', 'int1, int1', 'int1'), ('int1um', 'int1', 'int1'),
    ('int1up', 'int1', 'int1'), ('int1abs', 'int1', 'int1'), ('int1and', 'int1, int1', 'int1'),
    ('int1or', 'int1, int1', 'int1'), ('int1xor', 'int1, int1', 'int1'), ('int1not', 'int1', 'int1'),
    ('int1shl', 'int1, int4', 'int1'), ('int1shr', 'int1, int4', 'int1'), ('int1larger', 'int1, int1', 'int1'),
    ('int1smaller', 'int1, int1', 'int1'), ('hashint1', 'int1', 'int4'), ('hashint1extended', 'int1, int8', 'int8'),
    ('float2um', 'float2', 'float2'), ('float2up', 'float2', 'float2'), ('float2abs', 'float2', 'float2'),
    ('float2larger', 'float2, float2', 'float2'), ('float2smaller', 'float2, float2', 'float2'),
    ('hashfloat2', 'float2', 'int4'), ('hashfloat2extended', 'float2, int8', 'int8'),
    ('btint1sortsupport', 'internal', 'void'), ('btfloat2sortsupport', 'internal', 'void'),
    ('float2_accum', 'float8[], float2', 'float8[]'), ('int1_avg_accum', 'int8[], int1', 'int8[]'),
    ('int1_avg_accum_inv', 'int8[], int1', 'int8[]')
  ) AS functions (name, arguments, result) LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.%s(%s) RETURNS %s AS ''MODULE_PATHNAME'', ''strom_%1$s'' '
                   'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', f.name, f.arguments, f.result);
  END LOOP;
END $do$;
CREATE FUNCTION pg_catalog.abs(int1) RETURNS int1 AS 'MODULE_PATHNAME', 'strom_int1abs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION pg_catalog.abs(float2) RETURNS float2 AS 'MODULE_PATHNAME', 'strom_float2abs'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN SELECT * FROM (VALUES ('int1', 'int2'), ('int1', 'int4'), ('int1', 'int8'), ('float2', 'float8')) AS functions (type, distance) LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.in_range(%1$s, %1$s, %2$s, bool, bool) RETURNS bool '
                   'AS ''MODULE_PATHNAME'', ''strom_in_range_%1$s_%2$s'' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', f.type, f.distance);
  END LOOP;
END $do$;
CREATE FUNCTION pg_catalog.int1_sum(int8, int1) RETURNS int8 AS 'MODULE_PATHNAME', 'strom_int1_sum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION pg_catalog.int1_accum(internal, int1) RETURNS internal AS 'MODULE_PATHNAME', 'strom_int1_accum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION pg_catalog.int1_accum_inv(internal, int1) RETURNS internal AS 'MODULE_PATHNAME', 'strom_int1_accum_inv'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION pg_catalog.float2_sum(float4, float2) RETURNS float4 AS 'MODULE_PATHNAME', 'strom_float2_sum'
LANGUAGE C IMMUTABLE PARALLEL SAFE;

-- Casts: in C to and from the nearest types, by way of these to and from others. Bodies of SQL functions are strings:
-- parsed ones do not depend on the casts that they use, so that pg_dump would write them before these. Whatever a string
-- names has its schema, since it is parsed under the search_path of whoever calls.
DO $do$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT * FROM (VALUES
    ('int1', 'int2', 'IMPLICIT', NULL), ('int1', 'int4', 'IMPLICIT', NULL), ('int1', 'int8', 'IMPLICIT', NULL),
    ('int1', 'float2', 'IMPLICIT', 'int2'), ('int1', 'float4', 'IMPLICIT', 'int2'), ('int1', 'float8', 'IMPLICIT', 'int2'),
    ('int1', 'numeric', 'IMPLICIT', 'int2'), ('int2', 'int1', 'ASSIGNMENT', NULL), ('int4', 'int1', 'ASSIGNMENT', NULL),
    ('int8', 'int1', 'ASSIGNMENT', NULL), ('float4', 'int1', 'ASSIGNMENT', 'int2'), ('float8', 'int1', 'ASSIGNMENT', 'int2'),
    ('numeric', 'int1', 'ASSIGNMENT', 'int2'), ('float2', 'int1', 'ASSIGNMENT', 'int2'),
    ('float2', 'float4', 'IMPLICIT', NULL), ('float2', 'float8', 'IMPLICIT', NULL), ('float4', 'float2', 'ASSIGNMENT', NULL),
    ('float8', 'float2', 'ASSIGNMENT', NULL), ('float2', 'int2', 'ASSIGNMENT', 'float4'),
    ('float2', 'int4', 'ASSIGNMENT', 'float4'), ('float2', 'int8', 'ASSIGNMENT', 'float4'),
    ('float2', 'numeric', 'ASSIGNMENT', 'float4'), ('int2', 'float2', 'ASSIGNMENT', 'float8'),
    ('int4', 'float2', 'ASSIGNMENT', 'float8'), ('int8', 'float2', 'ASSIGNMENT', 'float8'),
    ('numeric', 'float2', 'ASSIGNMENT', NULL)
  ) AS casts (source, target, context, by_way_of) ORDER BY by_way_of IS NOT NULL, (source, target) IN (('float2', 'int1'), ('int1', 'float2')) LOOP
    IF c.by_way_of IS NULL THEN
      EXECUTE format('CREATE FUNCTION pg_catalog.%I(%s) RETURNS %1$s AS ''MODULE_PATHNAME'', ''strom_%1$s_of_%2$s'' '
                     'LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE', c.target, c.source);
    ELSE
      EXECUTE format('CREATE FUNCTION pg_catalog.%I(%s) RETURNS %1$s LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE '
                     'AS ''SELECT CAST(CAST($1 AS pg_catalog.%3$s) AS pg_catalog.%1$s)''', c.target, c.source, c.by_way_of);
    END IF;
    EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION pg_catalog.%2$I(%1$s) AS %3$s', c.source, c.target, c.context);
  END LOOP;
END $do$;

-- Comparison, among themselves and with the wider types.
DO $do$
DECLARE
  pair record;
  op record;
BEGIN
  FOR pair IN SELECT * FROM (VALUES
    ('int1', 'int1', 'int1'), ('int12', 'int1', 'int2'), ('int14', 'int1', 'int4'), ('int18', 'int1', 'int8'),
    ('int21', 'int2', 'int1'), ('int41', 'int4', 'int1'), ('int81', 'int8', 'int1'), ('float2', 'float2', 'float2'),
    ('float24', 'float2', 'float4'), ('float28', 'float2', 'float8'), ('float42', 'float4', 'float2'),
    ('float82', 'float8', 'float2')
  ) AS pairs (stem, a, b) LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.bt%scmp(%s, %s) RETURNS int4 AS ''MODULE_PATHNAME'', ''strom_bt%1$scmp'' '
                   'LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE', pair.stem, pair.a, pair.b);
    FOR op IN SELECT * FROM (VALUES
      ('eq', '=', '=', '<>', 'eqsel', 'eqjoinsel', ', HASHES, MERGES'), ('ne', '<>', '<>', '=', 'neqsel', 'neqjoinsel', ''),
      ('lt', '<', '>', '>=', 'scalarltsel', 'scalarltjoinsel', ''), ('le', '<=', '>=', '>', 'scalarlesel', 'scalarlejoinsel', ''),
      ('gt', '>', '<', '<=', 'scalargtsel', 'scalargtjoinsel', ''), ('ge', '>=', '<=', '<', 'scalargesel', 'scalargejoinsel', '')
    ) AS operators (suffix, name, commutator, negator, restrict_by, join_by, options) LOOP
      EXECUTE format('CREATE FUNCTION pg_catalog.%s%s(%s, %s) RETURNS bool AS ''MODULE_PATHNAME'', ''strom_%1$s%2$s'' '
                     'LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE', pair.stem, op.suffix, pair.a, pair.b);
      EXECUTE format('CREATE OPERATOR pg_catalog.%s (FUNCTION = pg_catalog.%s, LEFTARG = %s, RIGHTARG = %s, '
                     'COMMUTATOR = OPERATOR(pg_catalog.%s), NEGATOR = OPERATOR(pg_catalog.%s), RESTRICT = %s, JOIN = %s%s)',
                     op.name, pair.stem || op.suffix, pair.a, pair.b, op.commutator, op.negator, op.restrict_by, op.join_by,
                     op.options);
    END LOOP;
  END LOOP;
END $do$;

-- Arithmetic. With a wider type it is that type's, and the planner sees nothing else.
DO $do$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT * FROM (VALUES
    ('+', 'int1pl', 'int1', 'int1'), ('-', 'int1mi', 'int1', 'int1'), ('*', 'int1mul', 'int1', 'int1'),
    ('/', 'int1div', 'int1', 'int1'), ('%', 'int1mod', 'int1', 'int1'), ('&', 'int1and', 'int1', 'int1'),
    ('|', 'int1or', 'int1', 'int1'), ('#', 'int1xor', 'int1', 'int1'), ('<<', 'int1shl', 'int1', 'int4'),
    ('>>', 'int1shr', 'int1', 'int4'), ('-', 'int1um', NULL, 'int1'), ('+', 'int1up', NULL, 'int1'),
    ('@', 'int1abs', NULL, 'int1'), ('~', 'int1not', NULL, 'int1'), ('-', 'float2um', NULL, 'float2'),
    ('+', 'float2up', NULL, 'float2'), ('@', 'float2abs', NULL, 'float2')
  ) AS operators (name, function, a, b) LOOP
    EXECUTE format('CREATE OPERATOR pg_catalog.%s (FUNCTION = pg_catalog.%s, %s RIGHTARG = %s)', o.name, o.function,
                   'LEFTARG = ' || o.a || ',', o.b);
  END LOOP;
  FOR o IN SELECT * FROM (VALUES ('+', 'pl'), ('-', 'mi'), ('*', 'mul'), ('/', 'div')) AS operators (name, suffix), (VALUES
    ('int12', 'int1', 'int2', 'int2'), ('int14', 'int1', 'int4', 'int4'), ('int18', 'int1', 'int8', 'int8'),
    ('int21', 'int2', 'int1', 'int2'), ('int41', 'int4', 'int1', 'int4'), ('int81', 'int8', 'int1', 'int8'),
    ('float2', 'float2', 'float2', 'float4'), ('float24', 'float2', 'float4', 'float4'),
    ('float28', 'float2', 'float8', 'float8'), ('float42', 'float4', 'float2', 'float4'),
    ('float82', 'float8', 'float2', 'float8')
  ) AS pairs (stem, a, b, result) LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.%s(%s, %s) RETURNS %s LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE '
                   'AS ''SELECT CAST($1 AS pg_catalog.%4$s) OPERATOR(pg_catalog.%s) CAST($2 AS pg_catalog.%4$s)''', o.stem || o.suffix, o.a, o.b, o.result, o.name);
    EXECUTE format('CREATE OPERATOR pg_catalog.%s (FUNCTION = pg_catalog.%s, LEFTARG = %s, RIGHTARG = %s)', o.name,
                   o.stem || o.suffix, o.a, o.b);
  END LOOP;
  FOR o IN SELECT * FROM (VALUES
    ('*', 'cash_mul_int1', 'money', 'int1', 'int2'), ('*', 'int1_mul_cash', 'int1', 'money', 'int2'),
    ('/', 'cash_div_int1', 'money', 'int1', 'int2'), ('*', 'cash_mul_flt2', 'money', 'float2', 'float8'),
    ('*', 'flt2_mul_cash', 'float2', 'money', 'float8'), ('/', 'cash_div_flt2', 'money', 'float2', 'float8')
  ) AS operators (name, function, a, b, wide) LOOP
    EXECUTE format('CREATE FUNCTION pg_catalog.%s(%s, %s) RETURNS money LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE '
                   'AS ''SELECT CAST($1 AS pg_catalog.%s) OPERATOR(pg_catalog.%s) CAST($2 AS pg_catalog.%s)''', o.function, o.a, o.b,
                   CASE o.a WHEN 'money' THEN 'money' ELSE o.wide END, o.name, CASE o.b WHEN 'money' THEN 'money' ELSE o.wide END);
    EXECUTE format('CREATE OPERATOR pg_catalog.%s (FUNCTION = pg_catalog.%s, LEFTARG = %s, RIGHTARG = %s)', o.name, o.function,
                   o.a, o.b);
  END LOOP;
END $do$;

-- Families of their own: pg_upgrade brings along what was added to a family only where the family is an extension's too.
-- They are closed, as integer_ops and float_ops are: the planner takes the operators for two values of the wider types,
-- and their hash functions, from the family of the operator that it has.
CREATE OPERATOR CLASS pg_catalog.int1_ops DEFAULT FOR TYPE int1 USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 pg_catalog.btint1cmp(int1, int1),
  FUNCTION 2 pg_catalog.btint1sortsupport(internal), FUNCTION 4 pg_catalog.btequalimage(oid);
CREATE OPERATOR CLASS pg_catalog.int1_ops DEFAULT FOR TYPE int1 USING hash AS
  OPERATOR 1 =, FUNCTION 1 pg_catalog.hashint1(int1), FUNCTION 2 pg_catalog.hashint1extended(int1, int8);
CREATE OPERATOR CLASS pg_catalog.float2_ops DEFAULT FOR TYPE float2 USING btree AS
  OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 pg_catalog.btfloat2cmp(float2, float2),
  FUNCTION 2 pg_catalog.btfloat2sortsupport(internal);
CREATE OPERATOR CLASS pg_catalog.float2_ops DEFAULT FOR TYPE float2 USING hash AS
  OPERATOR 1 =, FUNCTION 1 pg_catalog.hashfloat2(float2), FUNCTION 2 pg_catalog.hashfloat2extended(float2, int8);
DO $do$
DECLARE
  pair record;
BEGIN
  FOR pair IN SELECT t.small, a.type AS a, b.type AS b,
      'bt' || CASE WHEN a.type = b.type THEN a.type ELSE a.type || right(b.type, 1) END || 'cmp' AS compared
    FROM (VALUES ('int1', ARRAY['int1', 'int2', 'int4', 'int8']), ('float2', ARRAY['float2', 'float4', 'float8'])) AS t (small, types),
      unnest(t.types) AS a (type), unnest(t.types) AS b (type) WHERE a.type <> t.small OR b.type <> t.small LOOP
    EXECUTE format('ALTER OPERATOR FAMILY pg_catalog.%1$s_ops USING btree ADD OPERATOR 1 < (%2$s, %3$s), OPERATOR 2 <= (%2$s, %3$s), '
                   'OPERATOR 3 = (%2$s, %3$s), OPERATOR 4 >= (%2$s, %3$s), OPERATOR 5 > (%2$s, %3$s), '
                   'FUNCTION 1 (%2$s, %3$s) pg_catalog.%4$s(%2$s, %3$s)', pair.small, pair.a, pair.b, pair.compared);
    EXECUTE format('ALTER OPERATOR FAMILY pg_catalog.%s_ops USING hash ADD OPERATOR 1 = (%s, %s)', pair.small, pair.a, pair.b);
    IF pair.a = pair.b THEN
      EXECUTE format('ALTER OPERATOR FAMILY pg_catalog.%1$s_ops USING hash ADD FUNCTION 1 (%2$s, %2$s) pg_catalog.hash%2$s(%2$s), '
                     'FUNCTION 2 (%2$s, %2$s) pg_catalog.hash%2$sextended(%2$s, int8)', pair.small, pair.a);
    END IF;
  END LOOP;
  FOR pair IN SELECT * FROM (VALUES ('int1', 'int2'), ('int1', 'int4'), ('int1', 'int8'), ('float2', 'float8')) AS t (small, distance) LOOP
    EXECUTE format('ALTER OPERATOR FAMILY pg_catalog.%1$s_ops USING btree ADD '
                   'FUNCTION 3 (%1$s, %2$s) pg_catalog.in_range(%1$s, %1$s, %2$s, bool, bool)', pair.small, pair.distance);
  END LOOP;
END $do$;

-- Aggregates, with the states of int2 and float4. As there, those of int1 have inverse transitions for moving frames.
CREATE AGGREGATE pg_catalog.sum(int1) (
  SFUNC = pg_catalog.int1_sum, STYPE = int8, COMBINEFUNC = int8pl, PARALLEL = SAFE,
  MSFUNC = pg_catalog.int1_avg_accum, MINVFUNC = pg_catalog.int1_avg_accum_inv, MSTYPE = int8[], MINITCOND = '{0,0}',
  MFINALFUNC = int2int4_sum);
CREATE AGGREGATE pg_catalog.avg(int1) (
  SFUNC = pg_catalog.int1_avg_accum, STYPE = int8[], INITCOND = '{0,0}', FINALFUNC = int8_avg,
  COMBINEFUNC = int4_avg_combine, PARALLEL = SAFE,
  MSFUNC = pg_catalog.int1_avg_accum, MINVFUNC = pg_catalog.int1_avg_accum_inv, MSTYPE = int8[], MINITCOND = '{0,0}',
  MFINALFUNC = int8_avg);
CREATE AGGREGATE pg_catalog.sum(float2) (
  SFUNC = pg_catalog.float2_sum, STYPE = float4, COMBINEFUNC = float4pl, PARALLEL = SAFE);
CREATE AGGREGATE pg_catalog.avg(float2) (
  SFUNC = pg_catalog.float2_accum, STYPE = float8[], INITCOND = '{0,0,0}', FINALFUNC = float8_avg,
  COMBINEFUNC = float8_combine, PARALLEL = SAFE);
DO $do$
DECLARE
  a record;
BEGIN
  FOR a IN SELECT * FROM (VALUES ('int1'), ('float2')) AS types (type),
                         (VALUES ('min', 'smaller', '<'), ('max', 'larger', '>')) AS aggregates (name, function, sorted) LOOP
    EXECUTE format('CREATE AGGREGATE pg_catalog.%s(%s) (SFUNC = pg_catalog.%2$s%s, STYPE = %2$s, COMBINEFUNC = pg_catalog.%2$s%3$s, '
                   'SORTOP = %s, PARALLEL = SAFE)', a.name, a.type, a.function, a.sorted);
  END LOOP;
  FOR a IN SELECT * FROM (VALUES ('var_pop', 'var_pop'), ('var_samp', 'var_samp'), ('variance', 'var_samp'),
      ('stddev_pop', 'stddev_pop'), ('stddev_samp', 'stddev_samp'), ('stddev', 'stddev_samp')) AS aggregates (name, final) LOOP
    EXECUTE format('CREATE AGGREGATE pg_catalog.%s(int1) (SFUNC = pg_catalog.int1_accum, STYPE = internal, SSPACE = 48, '
                   'FINALFUNC = numeric_poly_%s, COMBINEFUNC = numeric_poly_combine, SERIALFUNC = numeric_poly_serialize, '
                   'DESERIALFUNC = numeric_poly_deserialize, PARALLEL = SAFE, MSFUNC = pg_catalog.int1_accum, '
                   'MINVFUNC = pg_catalog.int1_accum_inv, MSTYPE = internal, MSSPACE = 48, MFINALFUNC = numeric_poly_%2$s)',
                   a.name, a.final);
    EXECUTE format('CREATE AGGREGATE pg_catalog.%s(float2) (SFUNC = pg_catalog.float2_accum, STYPE = float8[], '
                   'INITCOND = ''{0,0,0}'', FINALFUNC = float8_%s, COMBINEFUNC = float8_combine, PARALLEL = SAFE)', a.name, a.final);
  END LOOP;
END $do$;

-- What each function is for, as PostgreSQL says it of its own.
DO $do$
DECLARE
  f record;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure AS signature, CASE p.prokind WHEN 'a' THEN 'AGGREGATE' ELSE 'FUNCTION' END AS kind,
           CASE WHEN p.prokind = 'a' THEN p.proname || ' of values'
                WHEN EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend)) THEN 'I/O'
                WHEN EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
                  THEN 'convert ' || format_type(p.proargtypes[0], NULL) || ' to ' || format_type(p.prorettype, NULL)
                WHEN EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
                  THEN 'implementation of ' || (SELECT min(o.oprname) FROM pg_operator o WHERE o.oprcode = p.oid) || ' operator'
                WHEN EXISTS (SELECT FROM pg_amproc a WHERE a.amproc = p.oid) THEN 'support of operator classes'
                WHEN EXISTS (SELECT FROM pg_aggregate a WHERE p.oid IN (a.aggtransfn, a.aggmtransfn, a.aggminvtransfn)) THEN 'aggregate transition function'
                ELSE p.proname || ', as of the wider types' END AS text
      FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
      JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pg_strom'
      WHERE p.pronamespace = 'pg_catalog'::regnamespace
  LOOP
    EXECUTE format('COMMENT ON %s %s IS %L', f.kind, f.signature, f.text);
  END LOOP;
END $do$;
