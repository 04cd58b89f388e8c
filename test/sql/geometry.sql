-- Geometries of PostGIS in the engine: points and polygons; what the engine does not decide is PostGIS's. Without PostGIS
-- the expected output is geometry_1.out.
SELECT count(*) = 0 AS without_postgis FROM pg_available_extensions WHERE name = 'postgis' \gset
\if :without_postgis
\quit
\endif
LOAD 'pg_strom';
SET client_min_messages = warning;
CREATE SCHEMA places;
CREATE EXTENSION postgis SCHEMA places;
SET search_path = places;
SET pg_strom.cpu_setup_cost = 0;
SET pg_strom.cpu_tuple_cost = 0.000001;
SET pg_strom.regression_test_mode = on;
SET max_parallel_workers_per_gather = 0;
-- Points on a grid, so that many lie on edges and vertices; some are NULL.
CREATE TABLE points (id int, x float8, y float8, g geometry, s geometry(Point, 4326));
INSERT INTO points SELECT i, i % 101 / 4.0, i / 101 / 4.0, st_makepoint(i % 101 / 4.0, i / 101 / 4.0),
  st_setsrid(st_makepoint(i % 101 / 4.0, i / 101 / 4.0), 4326) FROM generate_series(0, 10200) i;
INSERT INTO points VALUES (-1, NULL, 1, NULL, NULL), (-2, 'NaN', 1, 'POINT EMPTY', NULL), (-3, 'Infinity', 1, 'POINT Z (3 3 5)', NULL),
  (-4, 3, 3, 'LINESTRING (0 0, 9 9)', NULL), (-5, 3, 3, 'MULTIPOINT (3 3)', NULL);
CREATE TABLE areas (id int, g geometry);
INSERT INTO areas VALUES (1, 'POLYGON ((2 2, 20 2, 20 20, 2 20, 2 2), (5 5, 10 5, 10 10, 5 10, 5 5))'),
  (2, 'MULTIPOLYGON (((0 0, 5 0, 5 5, 0 5, 0 0)), ((5 5, 9 5, 9 9, 5 9, 5 5)))'), (3, 'POLYGON ((0 0, 10 10, 10 0, 0 10, 0 0))'),
  (4, 'POLYGON EMPTY'), (5, NULL), (6, 'LINESTRING (0 0, 10 10)'), (7, 'POLYGON Z ((1 1 5, 8 2 5, 4 9 5, 1 1 5))'),
  (8, 'MULTIPOLYGON (((0 0, 9 0, 9 9, 0 9, 0 0)), ((4 4, 12 4, 12 12, 4 12, 4 4)))');
VACUUM ANALYZE points, areas;

-- As the seeds have it: a polygon from a string.
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE st_contains('polygon ((2 2, 20 2, 11 24, 2 2))', st_makepoint(x, y));
SELECT * FROM engine.run_both('SELECT count(*) FROM points WHERE st_contains(''polygon ((2 2, 20 2, 11 24, 2 2))'', st_makepoint(x, y))');
SELECT f, w, (engine.run_both(format('SELECT count(*), sum(id) FROM points WHERE %s(%s)', f, w))).*
  FROM unnest('{st_contains,st_covers,st_intersects,st_disjoint}'::text[]) f,
    unnest(ARRAY['''polygon ((2 2, 20 2, 20 20, 2 20, 2 2), (5 5, 10 5, 10 10, 5 10, 5 5))'', st_point(x, y)',
      '''multipolygon (((0 0, 5 0, 5 5, 0 5, 0 0)), ((5 5, 9 5, 9 9, 5 9, 5 5)))'', st_makepoint(x, y)',
      '''polygon ((0 0, 10 10, 10 0, 0 10, 0 0))'', g', '''SRID=4326;polygon ((1 1, 8 2, 4 9, 1 1))'', s',
      '''SRID=4326;polygon ((1 1, 8 2, 4 9, 1 1))'', st_setsrid(st_makepoint(x, y), 4326)']) w;
SELECT f, w, (engine.run_both(format('SELECT count(*), sum(id) FROM points WHERE %s(%s)', f, w))).*
  FROM unnest('{st_within,st_coveredby,st_intersects,st_disjoint}'::text[]) f,
    unnest(ARRAY['st_point(x, y), ''polygon ((0 0, 10 10, 10 0, 0 10, 0 0))''', 'g, ''polygon ((2 2, 20 2, 11 24, 2 2))''']) w;
-- Without nulls, whole tiles are looked at.
CREATE TABLE plain AS SELECT id, x, y FROM points WHERE x IS NOT NULL;
ANALYZE plain;
SELECT f, (engine.run_both(format('SELECT id FROM plain WHERE %s(''polygon ((2 2, 20 2, 20 20, 2 20, 2 2), (5 5, 10 5, 10 10, 5 10, 5 5))'', st_point(x, y))', f))).*
  FROM unnest('{st_contains,st_covers,st_intersects,st_disjoint,NOT st_contains}'::text[]) f;
-- Polygons of a table, for each row.
SELECT * FROM engine.run_both('SELECT id, st_contains(g, ''point (5 5)''), st_covers(g, ''point (5 5)''), st_intersects(''point (3 3)'', g), st_within(''point (8.5 8.5)'', g) FROM areas');
EXPLAIN (COSTS OFF) SELECT a.id, count(*) FROM areas a, points p WHERE st_contains(a.g, st_makepoint(p.x, p.y)) AND a.id < 4 GROUP BY a.id;
SELECT a.id, count(*) FROM areas a, points p WHERE st_contains(a.g, st_makepoint(p.x, p.y)) AND a.id < 4 GROUP BY a.id ORDER BY a.id;
SELECT * FROM engine.run_both('SELECT a.id, count(*), sum(p.id) FROM areas a, points p WHERE st_contains(a.g, st_makepoint(p.x, p.y)) AND a.id < 5 GROUP BY a.id');
SELECT * FROM engine.run_both('SELECT a.id, count(*), sum(p.id) FROM areas a JOIN points p ON st_intersects(p.g, a.g) GROUP BY a.id');
SELECT * FROM engine.run_both('SELECT a.id, p.id, p.x FROM points p LEFT JOIN areas a ON st_covers(a.g, st_makepoint(p.x, p.y)) AND a.id < 3');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE EXISTS (SELECT FROM areas a WHERE st_within(p.s, st_setsrid(a.g, 4326)) AND a.id < 3)');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE EXISTS (SELECT FROM areas a WHERE st_within(st_point(p.x, p.y), a.g) AND a.id < 3)');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE NOT EXISTS (SELECT FROM areas a WHERE st_covers(a.g, st_point(p.x, p.y)) AND a.id IN (1, 7))');
-- Polygons that do not fit are joined in parts, those that PostGIS decides about among them.
CREATE TABLE many AS SELECT a.id + 10 * i AS id, a.g FROM areas a, generate_series(0, 39) i WHERE a.id IN (1, 2, 3, 7);
CREATE TABLE marks AS SELECT * FROM points WHERE id % 7 = 0 OR id = -2;
ANALYZE many, marks;
CREATE FUNCTION passes(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
  RETURN (regexp_match(plan::text, '"Join Passes": ([0-9]+)'))[1];
END $$;
SET pg_strom.work_memory = '64kB';
SELECT q, (engine.run_both(q)).* FROM unnest(ARRAY[
  'SELECT count(*), sum(a.id), sum(p.id) FROM many a, marks p WHERE st_contains(a.g, st_makepoint(p.x, p.y))',
  'SELECT a.id, count(*), sum(p.id) FROM many a, marks p WHERE st_covers(a.g, p.g) GROUP BY a.id',
  'SELECT a.id, p.id FROM marks p RIGHT JOIN many a ON st_contains(a.g, p.g) AND p.id < a.id',
  'SELECT a.id, p.id, b.id FROM many a, marks p, marks b WHERE st_contains(a.g, p.g) AND a.id < 40 AND p.id < 900 AND b.id = p.id + 7',
  'SELECT a.id, p.id FROM marks p LEFT JOIN many a ON st_contains(a.g, p.g)',
  'SELECT p.id FROM marks p WHERE NOT EXISTS (SELECT FROM many a WHERE st_contains(a.g, p.g))',
  'SELECT a.id, p.id FROM points a, marks p WHERE st_dwithin(a.g, p.g, 0.5) AND a.id % 3 = 1',
  'SELECT count(*), sum(a.id), sum(p.id) FROM many a, marks p WHERE a.g && p.g']) q;
SET pg_strom.regression_test_mode = off;
SELECT passes('SELECT count(*) FROM many a, marks p WHERE st_contains(a.g, st_makepoint(p.x, p.y))') BETWEEN 2 AND 9 AS by_cells,
  passes('SELECT count(*) FROM points a, marks p WHERE st_dwithin(a.g, p.g, 0.5) AND a.id % 3 = 1') BETWEEN 2 AND 32 AS by_distance;
SET pg_strom.regression_test_mode = on;
RESET pg_strom.work_memory;
-- Distances of points.
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE st_dwithin(g, 'point (7 7)', 2.5);
SELECT * FROM engine.run_both('SELECT count(*) FROM points WHERE st_dwithin(g, ''point (7 7)'', 2.5) AND id >= 0');
SELECT * FROM engine.run_both('SELECT count(*) FROM points WHERE st_dwithin(s, st_setsrid(st_makepoint(y, 3), 4326), x) AND id >= 0');
SELECT * FROM engine.run_both('SELECT id, st_distance(st_makepoint(x, y), ''point (7.1 7)'') FROM points WHERE id % 100 = 7');
-- Joins of points by distance, and of boxes that overlap.
CREATE TABLE shops (id int, g geometry, s geometry(Point, 4326), x float8, y float8, r float8);
INSERT INTO shops SELECT i, st_makepoint(i % 17 * 1.5, i / 17 * 1.5), st_setsrid(st_makepoint(i % 17 * 1.5, i / 17 * 1.5), 4326),
  i % 17 * 1.5, i / 17 * 1.5, i % 4 / 4.0 FROM generate_series(0, 288) i;
INSERT INTO shops VALUES (1000, NULL, NULL, 1, NULL, 1), (1001, 'POINT EMPTY', NULL, 3, 'NaN', 1), (1002, 'POINT (3 3)', NULL, 3, 3, NULL);
ANALYZE shops;
EXPLAIN (COSTS OFF) SELECT count(*), sum(a.id) FROM shops a, points p WHERE st_dwithin(a.g, p.g, 1.25) AND p.id >= 0;
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM shops a, points p WHERE st_dwithin(a.g, p.g, 1.25) AND p.id >= 0');
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM shops a, points p WHERE st_dwithin(a.g, p.g, 1.25)');
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM shops a, points p WHERE st_dwithin(p.s, a.s, a.r)');
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM shops a, points p WHERE st_dwithin(st_setsrid(st_point(p.x, p.y), 4326), a.s, p.x / 20) AND p.id >= 0');
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM shops a, points p WHERE st_dwithin(st_makepoint(a.x, a.y), st_makepoint(p.x, p.y), a.r)');
SELECT * FROM engine.run_both('SELECT a.id, p.id FROM points p LEFT JOIN shops a ON st_dwithin(a.s, p.s, 0.5) AND a.id < p.id');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE EXISTS (SELECT FROM shops a WHERE st_dwithin(a.g, p.g, 0.25)) AND p.id >= 0');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE NOT EXISTS (SELECT FROM shops a WHERE st_dwithin(a.g, p.g, a.r)) AND p.id >= 0');
EXPLAIN (COSTS OFF) SELECT count(*) FROM areas a, points p WHERE a.g && p.g;
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(p.id) FROM areas a, points p WHERE a.g && p.g');
SELECT * FROM engine.run_both('SELECT count(*), sum(a.id), sum(b.id) FROM areas a, areas b WHERE a.g && b.g AND a.id <> b.id');
SELECT * FROM engine.run_both('SELECT a.id, p.id FROM points p LEFT JOIN areas a ON st_makepoint(p.x, p.y) && a.g AND a.id < 3 WHERE p.id >= 0');
SELECT * FROM engine.run_both('SELECT id FROM points p WHERE NOT EXISTS (SELECT FROM areas a WHERE a.g && p.s)');
-- Beyond floats, to which stored boxes are clamped and where PostGIS's products overflow.
CREATE TABLE far (id int, g geometry);
INSERT INTO far SELECT i, CASE i WHEN 1 THEN 'POLYGON ((1e160 0, 5e160 0, 5e160 4e160, 1e160 0))'::geometry
  WHEN 2 THEN 'POLYGON ((2e100 2e100, 3e100 2e100, 3e100 3e100, 2e100 2e100))' WHEN 3 THEN 'POLYGON ((0 0, 9 0, 9 9, 0 0))'
  ELSE st_makepoint(i, i) END FROM generate_series(1, 300) i;
CREATE TABLE far_points AS SELECT i AS id, st_makepoint(CASE i % 3 WHEN 0 THEN 1e300 WHEN 1 THEN i * 1e159 ELSE i END, i * 1e159) AS g
  FROM generate_series(1, 100) i UNION ALL SELECT 100 + i, st_makepoint(i, i) FROM generate_series(1, 20) i;
CREATE TABLE far_areas AS SELECT * FROM (VALUES (1, 'POLYGON ((1e100 1e100, 9e100 1e100, 9e100 9e100, 1e100 9e100, 1e100 1e100))'::geometry),
  (2, 'POLYGON ((0 0, 12 0, 12 12, 0 0))')) v (id, g);
ANALYZE far, far_points, far_areas;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM far a, far_points b WHERE st_dwithin(a.g, b.g, 0);
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far a, far_points b WHERE st_dwithin(a.g, b.g, 0)');
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far a LEFT JOIN far_points b ON st_dwithin(a.g, b.g, 5)');
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far_points a, far_areas b WHERE st_dwithin(a.g, b.g, 5)');
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far a, far_areas b WHERE st_dwithin(a.g, b.g, 0)');
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM far a, far_areas b WHERE st_contains(b.g, a.g);
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far a, far_areas b WHERE st_contains(b.g, a.g) AND b.id = 1');
SELECT * FROM engine.run_both('SELECT a.id, b.id FROM far a, far_areas b WHERE a.g && b.g');
SELECT count(*) FROM shops a, points p WHERE st_dwithin(a.g, p.s, 1);
SELECT count(*) FROM shops a, points p WHERE st_dwithin(a.g, p.g, -a.r);
-- Parts of a geometry.
SELECT * FROM engine.run_both('SELECT id, st_x(g), st_y(g), st_z(g), st_m(g), st_srid(s), st_isempty(g), st_npoints(g) FROM points WHERE id % 100 = 3 OR id = -2');
SELECT * FROM engine.run_both('SELECT id, st_npoints(g), st_isempty(g), st_srid(g), g FROM areas');
SELECT * FROM engine.run_both('SELECT id, st_makepoint(x, y), st_setsrid(st_point(y, x), 4326) FROM points WHERE id BETWEEN 300 AND 320');
SELECT * FROM engine.run_both('SELECT st_x(st_makepoint(1, x)) IS NULL AS n, count(*) FROM points GROUP BY 1');
SELECT * FROM engine.run_both('SELECT g, count(*) FROM areas GROUP BY g');
-- Predicates of other pairs: points and lines, what boxes tell apart, and what PostGIS decides.
CREATE TABLE shapes (id int, g geometry);
-- Without invalid polygons, for which GEOS has errors.
INSERT INTO shapes SELECT * FROM areas WHERE id NOT IN (3, 8) UNION ALL SELECT 100 + id, g FROM points WHERE id % 500 = 3 OR id < 0;
INSERT INTO shapes VALUES (201, 'LINESTRING (0 0, 5 5, 9 1)'), (202, 'LINESTRING (1 1, 4 1, 4 4, 1 1)'), (203, 'LINESTRING EMPTY'),
  (204, 'MULTILINESTRING ((0 0, 2 2), (2 2, 4 0))'), (205, 'POINT (5 5)'), (206, 'POINT (2 2)'), (207, 'MULTIPOINT (2 2, 5 5)'),
  (208, 'POLYGON ((30 30, 31 30, 31 31, 30 30))'), (209, 'POINT (2.5 2.5)');
ANALYZE shapes;
EXPLAIN (COSTS OFF) SELECT count(*) FROM shapes WHERE st_touches(g, 'point (5 5)');
SELECT f, (engine.run_both(format('SELECT a.id, b.id FROM shapes a, shapes b WHERE %s(a.g, b.g)', f))).*
  FROM unnest('{st_contains,st_within,st_covers,st_coveredby,st_intersects,st_disjoint,st_touches,st_crosses,st_overlaps,st_equals}'::text[]) f;
SELECT f, (engine.run_both(format('SELECT id, %s(g, ''linestring (0 0, 5 5, 9 1)''), %s(''multilinestring ((0 0, 5 5), (5 5, 9 1))'', g) FROM points WHERE id >= 0', f, f))).*
  FROM unnest('{st_contains,st_covers,st_intersects,st_touches,st_crosses}'::text[]) f;
SELECT f, (engine.run_both(format('SELECT id FROM shapes WHERE %s(''polygon ((30 30, 32 30, 32 32, 30 30))'', g)', f))).*
  FROM unnest('{st_contains,st_covers,st_intersects,st_disjoint,st_touches}'::text[]) f;
-- Operators of boxes, measures, and what is made of a geometry.
SELECT o, (engine.run_both(format('SELECT a.id, b.id FROM shapes a, shapes b WHERE a.g %s b.g AND a.id <> b.id', o))).*
  FROM unnest('{&&,~,@,~=,<<,>>,&<,&>,<<|,|>>,&<|,|&>}'::text[]) o;
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE g && st_makeenvelope(1, 1, 4, 4);
SELECT * FROM engine.run_both('SELECT count(*) FROM points WHERE g && st_makeenvelope(1, 1, 4, 4)');
SELECT * FROM engine.run_both('SELECT id, float8send(st_length(g)), float8send(st_perimeter(g)), float8send(st_area(g)) FROM shapes');
SELECT * FROM engine.run_both('SELECT id, st_geometrytype(g), st_envelope(g), st_expand(g, 0.1), st_setsrid(g, 4326) FROM shapes');
SELECT * FROM engine.run_both('SELECT st_geometrytype(g), count(*), sum(st_area(g)) FROM shapes GROUP BY 1');
SELECT * FROM engine.run_both('SELECT id, st_makeenvelope(x, y, y + 1, x / 3, 4326) FROM points WHERE id % 50 = 1');
SELECT * FROM engine.run_both('SELECT a.id, b.id, st_distance(a.g, b.g), b.g <-> a.g FROM shops a JOIN points b ON a.id = b.id');
SELECT * FROM engine.run_both('SELECT count(*) FROM shops a JOIN points b ON a.id = b.id WHERE st_dwithin(a.g, b.g, 9)');
-- Errors are PostGIS's.
SELECT count(*) FROM points WHERE st_contains('SRID=4326;polygon ((1 1, 8 2, 4 9, 1 1))', g);
SELECT count(*) FROM points WHERE st_x(g) > 3;
SELECT count(*) FROM points WHERE st_dwithin(g, 'point (7 7)', -1);
SELECT count(*) FROM points WHERE st_relate(g, 'SRID=4326;point (5 5)') IS NOT NULL;
SELECT count(*) FROM points WHERE st_linecrossingdirection(g, 'linestring (0 1, 4 1)') = 1;
SELECT count(*) FROM points WHERE st_dfullywithin(g, 'point (7 7)', -1);
-- Matrices of intersections, crossings, centroids, largest distances, points of three and four numbers.
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE st_relate(g, 'point (5 5)', 'T********');
EXPLAIN (COSTS OFF) SELECT id, st_relate(g, 'point (5 5)'), st_centroid(g) FROM areas
  WHERE st_dfullywithin(g, 'point (5 5)', 30);
SELECT * FROM engine.run_both('SELECT a.id, b.id, st_relate(a.g, b.g), st_relate(a.g, b.g, ''T*F**F***''), st_relate(b.g, a.g, ''*0******2'') FROM shapes a, shapes b');
SELECT * FROM engine.run_both('SELECT id, st_relate(g, ''polygon ((2 2, 20 2, 20 20, 2 20, 2 2), (5 5, 10 5, 10 10, 5 10, 5 5))'') FROM points WHERE id >= 0 AND id % 7 = 0');
SELECT * FROM engine.run_both('SELECT a.id, b.id, st_linecrossingdirection(a.g, b.g) FROM shapes a, shapes b WHERE a.id IN (201, 202) AND b.id IN (201, 202)');
SELECT id, st_linecrossingdirection('linestring (0 0, 8 0)', g) FROM (VALUES (1, 'linestring (1 -1, 1 1)'::geometry), (2, 'linestring (1 1, 1 -1)'),
  (3, 'linestring (1 -1, 1 1, 2 1, 2 -1)'), (4, 'linestring (1 -1, 1 1, 2 1, 2 -1, 3 -1, 3 1)'), (5, 'linestring (1 1, 1 -1, 2 -1, 2 1)'), (6, 'linestring (1 1, 2 0, 3 1)')) v (id, g);
SELECT * FROM engine.run_both('SELECT a.id, b.id, st_dfullywithin(a.g, b.g, 12), st_dfullywithin(b.g, a.g, 0) FROM shapes a, shapes b');
SELECT * FROM engine.run_both('SELECT id, st_centroid(g), st_centroid(st_envelope(g)), st_centroid(s) FROM points WHERE id % 50 = 1 OR id < 0');
SELECT * FROM engine.run_both('SELECT id, st_centroid(g), st_centroid(st_makeenvelope(id, 1, 2.3, 9.1, 4326)) FROM shapes');
SELECT * FROM engine.run_both('SELECT id, st_makepoint(x, y, id), st_makepoint(x, y, id, x / 3), st_makepointm(y, x, 1), st_pointz(x, y, 3), st_pointm(x, y, 3, 4326), st_pointzm(x, y, id, 3, 4326) FROM points');
SELECT * FROM engine.run_both('SELECT id, st_z(st_makepoint(x, y, id)), st_m(st_makepoint(x, y, id, 7)), st_setsrid(st_makepoint(x, y, 5), 4326) FROM points');
SELECT * FROM engine.run_both('SELECT count(*), sum(id) FROM points WHERE st_contains(''polygon ((2 2, 20 2, 11 24, 2 2))'', st_makepoint(x, y, id))');
-- Stays with PostGIS.
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE st_relate(g, 'point (5 5)', 'T');
EXPLAIN (COSTS OFF) SELECT count(*) FROM areas WHERE st_hausdorffdistance(g, 'point (5 5)') > 3;
-- A function of that name that is not PostGIS's.
CREATE FUNCTION pg_temp.st_contains(geometry, geometry) RETURNS bool IMMUTABLE STRICT LANGUAGE plpgsql AS 'BEGIN RETURN false; END';
EXPLAIN (COSTS OFF) SELECT count(*) FROM points WHERE pg_temp.st_contains('polygon ((2 2, 20 2, 11 24, 2 2))', st_makepoint(x, y));
-- The extension goes and comes back.
DROP EXTENSION postgis CASCADE;
CREATE EXTENSION postgis SCHEMA places;
ALTER TABLE points ADD g geometry;
UPDATE points SET g = st_makepoint(x, y) WHERE id > 0;
SELECT * FROM engine.run_both('SELECT count(*) FROM points WHERE st_contains(''polygon ((2 2, 20 2, 11 24, 2 2))'', g)');
DROP SCHEMA places CASCADE;
