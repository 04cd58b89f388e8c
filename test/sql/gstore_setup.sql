-- What gstore_keyed and gstore_insert share.
CREATE SCHEMA gstore_tools;
SET search_path = gstore_tools;
CREATE FUNCTION make_store(name text, definition text, key text DEFAULT 'id') RETURNS void LANGUAGE plpgsql AS $$
DECLARE path text := current_setting('data_directory') || '/' || current_schema || '_' || name;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE %I %s SERVER gstore_fdw OPTIONS (base_file %L, redo_log_file %L, '
                 'max_num_rows ''20000'', primary_key %L)', name, definition, path || '.base', path || '.redo', key);
END $$;
-- Whether a node of ours changes the store table.
CREATE FUNCTION plan_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := 'PostgreSQL''s plan';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || statement LOOP
    IF line LIKE '%Custom Scan (Store%' THEN found := trim(line); END IF;
  END LOOP;
  RETURN found;
END $$;
-- The number of rows by which a table differs from the one named own.
CREATE FUNCTION differences(name text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((TABLE %I EXCEPT ALL TABLE own) UNION ALL (TABLE own EXCEPT ALL TABLE %I)) d', name, name) INTO found;
  RETURN found;
END $$;
