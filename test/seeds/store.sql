-- Gstore_Fdw: tables that take updates, as partitions. The test makes a hundredth of the article's rows.
create table fpoints (
     dev_id int,
     ts timestamp,
     x float,
     y float)
   partition by hash ( dev_id );
create foreign table fpoints_p0
     partition of fpoints for values with (modulus 2, remainder 0)
     server gstore_fdw
     options (base_file '/opt/pgdata12/fpoints_p0.base',
              redo_log_file '/opt/pmem/fpoints_p0.redo',
              gpu_device_id '0',
              max_num_rows '8000000',
              primary_key 'dev_id');
create foreign table fpoints_p1
     partition of fpoints for values with (modulus 2, remainder 1)
     server gstore_fdw
     options (base_file '/opt/pgdata12/fpoints_p1.base',
              redo_log_file '/opt/pmem/fpoints_p1.redo',
              gpu_device_id '1',
              max_num_rows '8000000',
              primary_key 'dev_id');
insert into fpoints (select x, now(), 100*random(), 100*random() from generate_series(0,12000000) x);
-- engine: fpoints
-- answer: 120001
select count(*) from fpoints;
-- engine: fpoints_p0
select count(*) from fpoints_p0;
-- engine: fpoints_p1
select count(*) from fpoints_p1;
-- engine: fpoints
SELECT count(*) FROM fpoints
 WHERE st_contains('polygon ((10 10,90 10,90 12,12 12,12 88,90 88,90 90,10 90,10 10))', st_makepoint(x,y));
-- The other article's, with polygons of PostGIS.
CREATE TABLE geopoint (
      gid int primary key,
      x   float8,
      y   float8);
INSERT INTO geopoint (SELECT x, pgstrom.random_float(0, 123.0, 154.2),
                                   pgstrom.random_float(0, 20.0, 46.2)
                           FROM generate_series(1,10000000) x);
CREATE FOREIGN TABLE
    fgeopoint (
      gid int,
      x   float,
      y   float)
    SERVER gstore_fdw
    OPTIONS (gpu_device_id '0',
             base_file '/opt/nvme/fgeopoint.base',
             redo_log_file '/opt/pmem/fgeopoint.redo',
             max_num_rows '12000000',
             primary_key 'gid');
INSERT INTO fgeopoint (SELECT * FROM geopoint);
-- answer: 100000
SELECT count(*) FROM fgeopoint f, geopoint g WHERE f.gid = g.gid AND f.x = g.x AND f.y = g.y;
