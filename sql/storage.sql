-- Storage: how files reach the GPU.
CREATE FUNCTION storage_check(path text, OUT "check" text, OUT status text, OUT detail text, OUT fix text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_storage_check'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

-- argument path: a file, or a folder with files
-- result check: what was looked at
-- result status: ok, note, warning or error
-- result detail: what was found
-- result fix: a command that mends it; NULL: none is needed
-- rights: pg_read_server_files
-- example: SELECT * FROM pgstrom.storage_check('/data/lineorder.arrow');
COMMENT ON FUNCTION storage_check(text) IS 'how a file, or a file of a folder, reaches the GPU, and what keeps it from a better way';
