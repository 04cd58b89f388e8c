-- Storage: how files reach the GPU.
CREATE FUNCTION storage_check(path text, OUT "check" text, OUT status text, OUT detail text, OUT fix text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'strom_storage_check'
LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION storage_check(text) IS 'how a file, or a file of a folder, reaches the GPU, and what keeps it from a better way';
