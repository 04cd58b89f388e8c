-- Columns for other programs: memory that is handed over by an identifier (docs/user/python.md).
CREATE FUNCTION export_query(query text, options jsonb DEFAULT '{}')
RETURNS text
AS 'MODULE_PATHNAME', 'strom_export_query'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument query: a single SELECT
-- argument options: as those of arrow_ipc
-- rights: what the query needs
-- example: SELECT pgstrom.export_query('SELECT k, v FROM orders');
COMMENT ON FUNCTION export_query(text, jsonb) IS 'the result of a query as memory that other programs map; its identifier';

CREATE FUNCTION arrow_fdw_export_cupy(relation regclass, attnames text[] DEFAULT NULL, gpu_device_id int DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_export_cupy'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- argument relation: a table
-- argument attnames: columns of one type; NULL: all
-- argument gpu_device_id: the GPU whose memory gets them; -1: the server's memory; NULL: a GPU where the GPU service runs
-- rights: SELECT on the columns
-- example: SELECT pgstrom.arrow_fdw_export_cupy('measures', '{x,y}');
COMMENT ON FUNCTION arrow_fdw_export_cupy(regclass, text[], int) IS 'columns of a table as a matrix that cupy_strom.ipc_import() maps, until the session ends; its identifier';

CREATE FUNCTION arrow_fdw_export_cupy_pinned(relation regclass, attnames text[] DEFAULT NULL, gpu_device_id int DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'strom_arrow_fdw_export_cupy_pinned'
LANGUAGE C VOLATILE PARALLEL UNSAFE;

-- argument relation: a table
-- argument attnames: columns of one type; NULL: all
-- argument gpu_device_id: the GPU whose memory gets them; -1: the server's memory; NULL: a GPU where the GPU service runs
-- rights: SELECT on the columns
-- example: SELECT pgstrom.arrow_fdw_export_cupy_pinned('measures', '{x,y}');
COMMENT ON FUNCTION arrow_fdw_export_cupy_pinned(regclass, text[], int) IS 'columns of a table as a matrix, as arrow_fdw_export_cupy(), until it is dropped or the server restarts';

CREATE FUNCTION arrow_fdw_put_gpu_buffer(identifier text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'strom_export_drop'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument identifier: what the exporting function returned
-- rights: the export's role
-- example: SELECT pgstrom.arrow_fdw_put_gpu_buffer(pgstrom.arrow_fdw_export_cupy('measures', '{x,y}'));
COMMENT ON FUNCTION arrow_fdw_put_gpu_buffer(text) IS 'drops an export; false where there is none. Programs that have mapped it keep it';

CREATE FUNCTION arrow_fdw_unpin_gpu_buffer(identifier text)
RETURNS boolean
AS 'MODULE_PATHNAME', 'strom_export_drop'
LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;

-- argument identifier: what the exporting function returned
-- rights: the export's role
-- example: SELECT pgstrom.arrow_fdw_unpin_gpu_buffer(pgstrom.arrow_fdw_export_cupy_pinned('measures', '{x,y}'));
COMMENT ON FUNCTION arrow_fdw_unpin_gpu_buffer(text) IS 'drops an export that was pinned; false where there is none';

CREATE FUNCTION export_info(OUT owner oid, OUT database oid, OUT pid int, OUT bytes bigint, OUT rows bigint,
                            OUT columns int, OUT device text, OUT pinned boolean, OUT made timestamptz, OUT uses bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_export_info'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- example: SELECT * FROM pgstrom.export_info;
COMMENT ON FUNCTION export_info() IS 'exports of the caller''s roles, of all roles for pg_monitor: bytes, rows, columns, device, uses';

CREATE VIEW export_info AS
SELECT pg_catalog.pg_get_userbyid(e.owner) AS owner, d.datname AS database, e.pid, e.bytes, e.rows, e.columns, e.device,
       e.pinned, e.made, e.uses
  FROM export_info() AS e LEFT JOIN pg_catalog.pg_database AS d ON d.oid = e.database;

GRANT SELECT ON export_info TO PUBLIC;

COMMENT ON VIEW export_info IS 'exports of the caller''s roles, of all roles for pg_monitor';
COMMENT ON COLUMN export_info.owner IS 'role that has made the export';
COMMENT ON COLUMN export_info.database IS 'in which it was made';
COMMENT ON COLUMN export_info.pid IS 'process that has it; of pinned ones that which keeps them';
COMMENT ON COLUMN export_info.bytes IS 'memory that it takes';
COMMENT ON COLUMN export_info.rows IS 'rows of the columns';
COMMENT ON COLUMN export_info.columns IS 'columns';
COMMENT ON COLUMN export_info.device IS 'where the memory is';
COMMENT ON COLUMN export_info.pinned IS 'it stays when the session ends';
COMMENT ON COLUMN export_info.made IS 'when it was made';
COMMENT ON COLUMN export_info.uses IS 'how often it was mapped';
