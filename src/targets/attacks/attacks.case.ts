/**
 * Hostile SQL, by dialect and by what it is after. `attacks.test.ts` sends every statement to every kind of URL of its dialect, in a
 * set-up and in a session, and looks at what it must not touch: a folder of canary files, and on servers a user's tables.
 *
 * Placeholders: `{out}` a file that must not appear, `{canary}` a file whose content must neither change nor be shown,
 * `{folder}` the folder of both.
 */
import type { Dialect } from '../../sql/index.js';

/** What a statement is after. */
export type AttackKind =
  | 'write a file'
  | 'read a file'
  | 'run a program or native code'
  | 'open another database'
  | 'change tables of the user'
  | 'change roles, rights or the server'
  | 'build SQL at run time'
  | 'leave something behind'
  | 'write to the terminal';

export interface Attack {
  readonly kind: AttackKind;
  readonly sql: string;
}

type Lists = Readonly<Partial<Record<AttackKind, string>>>;

/** One statement a line. */
export function read(lists: Lists): readonly Attack[] {
  return Object.entries(lists).flatMap(([kind, text]) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((sql) => ({ kind: kind as AttackKind, sql })),
  );
}

const sqlite = read({
  'write a file': `
    SELECT writefile('{out}', 'x')
    SELECT "writefile"('{out}', 'x')
    SELECT [writefile]('{out}', 'x')
    SELECT \`writefile\`('{out}', 'x')
    SELECT WriteFile('{out}', 'x')
    SELECT writefile/* */('{out}', 'x')
    SELECT writefile ('{out}', 'x')
    SELECT "writefile" /* a */ ('{out}', 'x')
    SELECT 1; SELECT writefile('{out}', 'x')
    SELECT $a(') , writefile('{out}','y') , $b(')
    SELECT :a, writefile('{out}', zeroblob(10))
    SELECT writefile('{canary}', 'overwritten')
    SELECT writefile('{out}', 'x', 511)
    SELECT count(*) FILTER (WHERE writefile('{out}', 'x') > 0) FROM (SELECT 1)
    WITH w AS (SELECT writefile('{out}', 'x')) SELECT * FROM w
    INSERT INTO t SELECT 99, writefile('{out}', 'x')
    INSERT INTO t VALUES (98, writefile('{out}', 'x'))
    UPDATE t SET v = writefile('{out}', 'x')
    DELETE FROM t WHERE writefile('{out}', 'x') > 0
    CREATE TABLE u (a DEFAULT (writefile('{out}', 'x')))
    CREATE TABLE u (a, b AS (writefile('{out}', 'x')))
    CREATE TABLE u (a CHECK (writefile('{out}', 'x') > 0))
    CREATE VIEW v AS SELECT writefile('{out}', 'x') AS w
    CREATE TEMP VIEW v AS SELECT writefile('{out}', 'x') AS w
    CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT writefile('{out}', 'x'); END
    CREATE INDEX i ON t (writefile('{out}', 'x'))
    INSERT INTO t VALUES (97, 1) ON CONFLICT DO UPDATE SET v = writefile('{out}', 'x')
    INSERT INTO t VALUES (96, 1) RETURNING writefile('{out}', 'x')
    EXPLAIN SELECT writefile('{out}', 'x')
    VALUES (writefile('{out}', 'x'))
    SELECT 1 UNION SELECT writefile('{out}', 'x')
    SELECT CASE WHEN 1 THEN writefile('{out}', 'x') END
    SELECT * FROM t ORDER BY writefile('{out}', 'x')
    SELECT 1 LIMIT writefile('{out}', 'x')
    VACUUM INTO '{out}'
    VACUUM main INTO '{out}'
    vacuum/**/into '{out}'
    VACUUM INTO ('{folder}' || '/out')
    PRAGMA temp_store_directory = '{folder}'
    PRAGMA data_store_directory = '{folder}'
    PRAGMA "temp_store_directory" = '{folder}'`,
  'read a file': `
    SELECT readfile('{canary}')
    SELECT "readfile"('{canary}')
    SELECT CAST(readfile('{canary}') AS TEXT)
    SELECT hex(readfile('{canary}'))
    INSERT INTO t SELECT 95, readfile('{canary}')
    SELECT * FROM fsdir('{folder}')
    SELECT name, data FROM fsdir WHERE path = '{folder}'
    SELECT * FROM "fsdir"('{folder}')
    SELECT * FROM zipfile('{canary}')
    CREATE VIRTUAL TABLE z USING fsdir
    CREATE VIRTUAL TABLE z USING zipfile('{canary}')
    CREATE VIRTUAL TABLE z USING csv(filename='{canary}')
    CREATE VIRTUAL/**/TABLE z USING csv(filename='{canary}')`,
  'run a program or native code': `
    SELECT load_extension('{canary}')
    SELECT "load_extension"('{canary}')
    SELECT load_extension('{canary}', 'main')
    SELECT [load_extension] ('{canary}')
    SELECT edit('x', 'sh -c "touch {out}"')
    SELECT "edit"('x', 'touch {out}')
    SELECT edit/**/('x', 'touch {out}')
    SELECT fts3_tokenizer('simple', x'4141414141414141')
    CREATE FUNCTION f LANGUAGE wasm AS x'00'
    CREATE FUNCTION IF NOT EXISTS f LANGUAGE wasm AS x'00'
    INSERT INTO libsql_wasm_func_table VALUES ('f', 'x')
    SELECT * FROM carray(140737488355327, 4)`,
  'open another database': `
    ATTACH '{out}' AS other
    ATTACH DATABASE '{out}' AS other
    attach/**/'{out}' as other
    ATTACH 'file:{out}?mode=rwc' AS other
    ATTACH '{canary}' AS other
    ATTACH '{folder}' || '/out' AS other
    SELECT 1; ATTACH '{out}' AS other
    ; ATTACH '{out}' AS other
    EXPLAIN ATTACH '{out}' AS other
    ATTACH ':memory:' AS other KEY 'x'
    /* */ ATTACH '{out}' AS other
    /*!*/ ATTACH '{out}' AS other`,
  'build SQL at run time': `
    SELECT sha3_query('SELECT wri' || 'tefile(''{out}'', ''x'')')
    SELECT "sha3_query"('SELECT 1')
    PRAGMA writable_schema = ON
    PRAGMA main.writable_schema = 1
    PRAGMA "main" . "writable_schema" = 1
    PRAGMA/**/writable_schema(1)
    PRAGMA writable_schema=1; UPDATE sqlite_schema SET sql = 'CREATE VIEW v AS SELECT wri' || 'tefile(1,2)'
    SELECT * FROM pragma_writable_schema
    SELECT * FROM "pragma_writable_schema"(1)
    UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 1
    SELECT * FROM sqlite_dbpage
    PRAGMA trusted_schema = ON`,
  'change roles, rights or the server': `
    PRAGMA key = 'x'
    PRAGMA rekey = 'x'
    PRAGMA hexkey = '00'
    PRAGMA cipher = 'rc4'
    SELECT sqlite3mc_config('cipher', 'rc4')
    SELECT "sqlite3mc_config_table"()
    PRAGMA lock_proxy_file = '{out}'
    PRAGMA hard_heap_limit = 1
    PRAGMA libsql_replication = 1`,
});

const duckdb = read({
  'write a file': `
    COPY t TO '{out}'
    COPY t TO '{out}' (FORMAT csv)
    COPY t TO '{out}' (FORMAT parquet)
    COPY (SELECT 1) TO '{out}'
    COPY (SELECT 1) TO '{canary}'
    COPY t TO '{out}' (FORMAT json)
    copy t to '{out}'
    /* x */ COPY t TO '{out}'
    SELECT 1; COPY t TO '{out}'
    COPY t TO '{folder}/parts' (PARTITION_BY (id))
    EXPORT DATABASE '{folder}/export'
    EXPORT DATABASE '{folder}/export' (FORMAT parquet)
    PREPARE p AS COPY t TO '{out}'; EXECUTE p
    EXPLAIN ANALYZE COPY t TO '{out}'
    SET temp_directory = '{folder}/spill'
    SET GLOBAL temp_directory = '{folder}/spill'
    PRAGMA temp_directory = '{folder}/spill'
    SET profiling_output = '{out}'
    PRAGMA profile_output = '{out}'
    PRAGMA profiling_output = '{out}'
    PRAGMA enable_profiling = 'json'
    SET log_query_path = '{out}'
    PRAGMA log_query_path = '{out}'
    CALL enable_logging(storage = 'file', storage_path = '{folder}/logs')
    CALL "enable_logging"(storage = 'file', storage_path = '{folder}/logs')
    SET logging_storage = 'file'
    SET extension_directory = '{folder}/ext'
    SET secret_directory = '{folder}/secrets'
    SET home_directory = '{folder}'
    CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')
    COPY FROM DATABASE memory TO other`,
  'read a file': `
    SELECT * FROM '{canary}'
    FROM '{canary}'
    SELECT * FROM "{canary}"
    SELECT * FROM read_csv('{canary}')
    SELECT * FROM read_csv_auto('{canary}')
    SELECT * FROM "read_csv"('{canary}')
    SELECT * FROM read_text('{canary}')
    SELECT * FROM read_blob('{canary}')
    SELECT * FROM read_json('{canary}')
    SELECT * FROM read_json_auto('{canary}')
    SELECT * FROM read_ndjson_objects('{canary}')
    SELECT * FROM read_parquet('{canary}')
    SELECT * FROM parquet_scan('{canary}')
    SELECT * FROM parquet_metadata('{canary}')
    SELECT * FROM sniff_csv('{canary}')
    SELECT * FROM glob('{folder}/*')
    SELECT * FROM query('SELECT * FROM read_text(''{canary}'')')
    SELECT * FROM query_table('{canary}')
    COPY t FROM '{canary}'
    INSERT INTO t SELECT 1, content FROM read_text('{canary}')
    CREATE TABLE u AS SELECT * FROM read_text('{canary}')
    CREATE VIEW u AS SELECT * FROM read_text('{canary}')
    CREATE MACRO m() AS TABLE SELECT * FROM read_text('{canary}')
    WITH c AS (SELECT * FROM read_text('{canary}')) SELECT * FROM c
    SELECT (SELECT content FROM read_text('{canary}'))
    IMPORT DATABASE '{folder}'
    SELECT getenv('HOME')
    SUMMARIZE '{canary}'
    DESCRIBE '{canary}'
    PIVOT '{canary}' ON column0`,
  'run a program or native code': `
    INSTALL httpfs
    INSTALL httpfs FROM 'http://127.0.0.1:1'
    FORCE INSTALL httpfs
    LOAD httpfs
    LOAD '{canary}'
    LOAD "{canary}"
    INSTALL '{canary}'
    SELECT * FROM read_csv('http://127.0.0.1:1/x')
    SELECT * FROM 'https://127.0.0.1:1/x.parquet'
    COPY t TO 's3://bucket/x'
    SET allow_unsigned_extensions = true
    SET custom_extension_repository = 'http://127.0.0.1:1'
    SET autoinstall_known_extensions = true
    SET autoload_known_extensions = true
    UPDATE EXTENSIONS`,
  'open another database': `
    ATTACH '{out}'
    ATTACH '{out}' AS other
    ATTACH DATABASE '{out}' AS other
    ATTACH IF NOT EXISTS '{out}' AS other (READ_WRITE)
    ATTACH '{canary}' AS other
    ATTACH '{out}' AS other (TYPE sqlite)
    ATTACH 'postgres:host=127.0.0.1 port=1' AS other (TYPE postgres)
    SELECT 1; ATTACH '{out}' AS other
    CREATE DATABASE other`,
  'change roles, rights or the server': `
    SET enable_external_access = true
    SET GLOBAL enable_external_access = true
    RESET enable_external_access
    PRAGMA enable_external_access = true
    SET lock_configuration = false
    RESET lock_configuration
    SET allowed_directories = ['{folder}']
    SET allowed_paths = ['{out}']
    SET disabled_filesystems = ''
    SET threads = 64
    SET memory_limit = '1TB'
    SET access_mode = 'read_only'
    SET enable_fsst_vectors = true
    SET allow_community_extensions = true`,
  'change tables of the user': `
    DELETE FROM main.users
    DROP TABLE main.users
    UPDATE main.users SET name = 'x'
    TRUNCATE main.users
    INSERT INTO main.users VALUES (9, 'x')
    ALTER TABLE main.users ADD COLUMN x INT
    DROP SCHEMA main CASCADE
    SET schema = 'main'; DELETE FROM users
    USE main; DELETE FROM users
    SET search_path = 'main'; DELETE FROM users
    CREATE OR REPLACE TABLE main.users (a INT)`,
  'write to the terminal': `
    PRAGMA enable_profiling
    PRAGMA enable_profile
    SET enable_profiling = 'query_tree'
    CALL enable_profiling()
    PRAGMA enable_logging
    CALL enable_logging(storage = 'stdout')
    CALL enable_logging('QueryLog', storage = 'stdout')
    PRAGMA enable_progress_bar
    PRAGMA enable_print_progress_bar
    SET enable_progress_bar = true
    SELECT write_log('x')
    COPY (SELECT 1) TO '/dev/stdout'
    COPY (SELECT 1) TO '/dev/stderr'`,
});

const postgres = read({
  'write a file': `
    COPY t TO '{out}'
    COPY (SELECT 1) TO '{out}'
    COPY t TO '{out}' WITH (FORMAT csv)
    COPY t TO '{canary}'
    copy t to '{out}'
    /* */ COPY t TO '{out}'
    SELECT 1; COPY t TO '{out}'
    DO $$ BEGIN COPY t TO '{out}'; END $$
    DO $$ BEGIN EXECUTE 'COPY t TO ''{out}'''; END $$
    CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ COPY t TO '{out}' $$
    CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN COPY t TO '{out}'; RETURN 1; END $$; SELECT f()
    SELECT lo_export(lo_from_bytea(0, 'x'), '{out}')
    SELECT "lo_export"(lo_creat(-1), '{out}')
    SELECT pg_file_write('{out}', 'x', false)
    SELECT pg_catalog.pg_file_write('{out}', 'x', false)
    CREATE TABLESPACE s LOCATION '{folder}'
    SELECT pg_create_restore_point('x')
    SET log_directory = '{folder}'
    ALTER SYSTEM SET log_directory = '{folder}'
    SELECT query_to_xml('COPY t TO ''{out}''', true, true, '')
    EXPLAIN ANALYZE EXECUTE p`,
  'read a file': `
    COPY t FROM '{canary}'
    COPY t FROM '{canary}' WITH (FORMAT text)
    SELECT pg_read_file('{canary}')
    SELECT "pg_read_file"('{canary}')
    SELECT pg_catalog.pg_read_file('{canary}')
    SELECT pg_read_binary_file('{canary}')
    SELECT U&"pg\\005fread_file"('{canary}')
    SELECT pg_read_file('postmaster.pid')
    SELECT pg_ls_dir('{folder}')
    SELECT * FROM pg_ls_logdir()
    SELECT pg_stat_file('{canary}')
    SELECT lo_import('{canary}')
    SELECT lo_get(lo_import('{canary}'))
    SELECT * FROM pg_hba_file_rules
    SELECT rolpassword FROM pg_authid
    SELECT * FROM pg_shadow`,
  'run a program or native code': `
    COPY t TO PROGRAM 'touch {out}'
    COPY (SELECT 1) TO PROGRAM 'cat > {out}'
    COPY t FROM PROGRAM 'touch {out}'
    copy t from program 'touch {out}'
    DO $$ BEGIN COPY t FROM PROGRAM 'touch {out}'; END $$
    DO LANGUAGE plpython3u $$ open('{out}', 'w') $$
    CREATE FUNCTION f() RETURNS int LANGUAGE c AS '{canary}', 'f'
    CREATE FUNCTION system(cstring) RETURNS int LANGUAGE c AS '/lib/x86_64-linux-gnu/libc.so.6', 'system'
    LOAD '{canary}'
    LOAD '$libdir/auto_explain'
    CREATE EXTENSION plpython3u
    CREATE EXTENSION file_fdw
    CREATE EXTENSION dblink
    CREATE EXTENSION adminpack
    CREATE LANGUAGE plperlu
    SET session_preload_libraries = '{canary}'
    SET local_preload_libraries = '{canary}'
    SET dynamic_library_path = '{folder}'
    ALTER SYSTEM SET archive_command = 'touch {out}'
    CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()`,
  'open another database': `
    CREATE DATABASE other
    CREATE SERVER s FOREIGN DATA WRAPPER file_fdw
    SELECT dblink_connect('dbname=postgres')
    SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS d(a int)
    CREATE FOREIGN TABLE f (a text) SERVER s OPTIONS (filename '{canary}')
    CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p
    CREATE PUBLICATION p FOR ALL TABLES
    SELECT pg_create_logical_replication_slot('s', 'test_decoding')
    SELECT pg_create_physical_replication_slot('s')`,
  'change tables of the user': `
    DELETE FROM public.users
    DROP TABLE public.users
    TRUNCATE public.users
    TRUNCATE t, public.users
    TRUNCATE TABLE ONLY public.users CASCADE
    UPDATE public.users SET name = 'x'
    INSERT INTO public.users VALUES (9, 'x')
    ALTER TABLE public.users ADD COLUMN x int
    ALTER TABLE public.users RENAME TO gone
    SET search_path = public; DELETE FROM users
    SET search_path = public
    SELECT set_config('search_path', 'public', false); DELETE FROM users
    SELECT setval('public.users_id_seq', 1000000)
    SELECT setval('public.users_id_seq'::regclass, 1000000, true)
    SELECT nextval('public.users_id_seq')
    WITH d AS (DELETE FROM public.users RETURNING *) SELECT * FROM d
    WITH d AS (UPDATE "public"."users" SET name = 'x' RETURNING 1) INSERT INTO t SELECT 50, 1 FROM d
    MERGE INTO public.users u USING t ON u.id = t.id WHEN MATCHED THEN DELETE
    DELETE FROM postgres.public.users
    DELETE FROM "public" . "users"
    DELETE FROM U&"p\\0075blic".users
    CREATE TRIGGER g BEFORE INSERT ON public.users EXECUTE FUNCTION suppress_redundant_updates_trigger()
    CREATE RULE r AS ON SELECT TO public.users DO INSTEAD NOTHING
    CREATE INDEX ON public.users (name)
    COMMENT ON TABLE public.users IS 'x'
    GRANT ALL ON public.users TO PUBLIC
    REVOKE ALL ON public.users FROM PUBLIC
    LOCK TABLE public.users IN ACCESS EXCLUSIVE MODE
    COPY public.users FROM STDIN
    CREATE TABLE c (id int REFERENCES public.users (id))
    CREATE VIEW v AS SELECT * FROM public.users
    CREATE TABLE c (a int) INHERITS (public.users)
    DROP SCHEMA public CASCADE
    DROP OWNED BY CURRENT_USER CASCADE; DELETE FROM public.users
    REINDEX TABLE public.users
    VACUUM FULL public.users
    CLUSTER public.users
    ANALYZE public.users
    SELECT * FROM public.users FOR UPDATE
    PREPARE p AS DELETE FROM public.users; EXECUTE p
    DO $$ BEGIN DELETE FROM public.users; END $$
    CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $$ DELETE FROM public.users $$
    SELECT query_to_xml('DELETE FROM public.users', true, true, '')
    SELECT table_to_xml('public.users', true, true, '')
    SELECT lo_unlink(loid) FROM pg_largeobject_metadata
    DECLARE c CURSOR WITH HOLD FOR SELECT * FROM public.users`,
  'change roles, rights or the server': `
    CREATE ROLE intruder SUPERUSER LOGIN
    CREATE USER intruder
    ALTER ROLE CURRENT_USER SUPERUSER
    ALTER ROLE postgres PASSWORD 'x'
    ALTER ROLE isolde PASSWORD 'x'
    ALTER ROLE isolde NOLOGIN
    DROP ROLE isolde
    GRANT pg_write_server_files TO CURRENT_USER
    GRANT isolde TO CURRENT_USER
    SET ROLE isolde
    SET ROLE postgres
    SET SESSION AUTHORIZATION isolde
    RESET SESSION AUTHORIZATION
    RESET ROLE
    ALTER SYSTEM SET fsync = off
    SELECT pg_reload_conf()
    SELECT pg_rotate_logfile()
    SELECT pg_switch_wal()
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'isolde'
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'isolde'
    SELECT pg_promote()
    ALTER DATABASE postgres SET search_path = public
    ALTER DATABASE postgres RENAME TO gone
    DROP DATABASE shop
    DROP DATABASE template0
    UPDATE pg_authid SET rolsuper = true
    UPDATE pg_catalog.pg_database SET datallowconn = false
    DELETE FROM pg_class
    SET allow_system_table_mods = on
    SECURITY LABEL ON ROLE isolde IS 'x'
    CHECKPOINT
    BACKUP
    ALTER ROLE CURRENT_USER PASSWORD 'x'
    ALTER USER CURRENT_USER WITH PASSWORD 'x'
    ALTER ROLE tester PASSWORD 'x'
    ALTER ROLE isolde_case PASSWORD 'x'
    alter/* /* */ */role CURRENT_USER PASSWORD 'x'
    ALTER ROLE CURRENT_USER SET search_path = public
    ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'read committed'
    ALTER ROLE SESSION_USER IN DATABASE shop SET statement_timeout = 1
    ALTER ROLE CURRENT_USER RESET ALL
    DO $$ BEGIN ALTER ROLE CURRENT_USER PASSWORD 'x'; END $$
    DO $$ BEGIN EXECUTE 'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x'''; END $$
    DO $$ DECLARE function text := 'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x'''; BEGIN EXECUTE function; END $$
    DO $$ DECLARE r record; BEGIN FOR r IN EXECUTE 'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x''' LOOP END LOOP; END $$
    DO LANGUAGE plpgsql $$ BEGIN EXECUTE/**/'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x'''; END $$
    DO LANGUAGE E'plpg\\x73ql' $$ BEGIN EXECUTE 'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x'''; END $$
    CREATE PROCEDURE p() LANGUAGE sql AS $$ ALTER ROLE CURRENT_USER PASSWORD 'x' $$
    CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER RO' || 'LE CURRENT_USER PASSWORD ''x'''; END $$
    PREPARE p AS ALTER ROLE CURRENT_USER PASSWORD 'x'
    GRANT tester TO PUBLIC
    GRANT tester TO isolde
    REVOKE CREATE ON DATABASE shop FROM tester
    DROP OWNED BY CURRENT_USER
    DROP OWNED BY SESSION_USER CASCADE
    REASSIGN OWNED BY CURRENT_USER TO isolde
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = CURRENT_USER AND pid <> pg_backend_pid()
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = CURRENT_USER AND pid <> pg_backend_pid()`,
  'leave something behind': `
    SELECT lo_create(0)
    SELECT lo_creat(-1)
    SELECT "lo_create"(0)
    SELECT pg_catalog . lo_create(0)
    SELECT lo_from_bytea(0, 'x')
    SELECT U&"lo\\005fcreate"(0)
    INSERT INTO t SELECT 77, lo_create(0)::int
    DO $$ BEGIN PERFORM lo_create(0); END $$
    CREATE TABLE u (a oid DEFAULT lo_create(0))
    SELECT query_to_xml('SELECT lo_' || 'create(0)', true, true, '')
    SELECT query_to_xml_and_xmlschema('SELECT lo_' || 'create(0)', true, true, '')
    SELECT ts_stat('SELECT (lo_' || 'create(0)::text)::tsvector')
    SELECT ts_rewrite('a'::tsquery, 'SELECT lo_' || 'create(0)::text::tsquery, ''a''::tsquery')
    CREATE SCHEMA left_behind
    CREATE SCHEMA IF NOT EXISTS left_behind CREATE TABLE x (a int)
    CREATE/**/SCHEMA left_behind
    DO $$ BEGIN CREATE SCHEMA left_behind; END $$
    CREATE EXTENSION hstore
    CREATE EXTENSION IF NOT EXISTS pgcrypto SCHEMA public
    CREATE PUBLICATION left_behind
    ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
    ALTER DEFAULT/**/PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
    BEGIN; INSERT INTO t VALUES (7, 7); PREPARE TRANSACTION 'x'
    BEGIN; INSERT INTO t VALUES (7, 7); PREPARE /* */ TRANSACTION 'x'
    ROLLBACK PREPARED 'x'
    NOTIFY news
    SELECT pg_notify('news', 'x')
    SELECT pg_logical_emit_message(false, 'x', 'y')
    COMMENT ON DATABASE shop IS 'x'
    CREATE TABLESPACE left_behind LOCATION '/tmp'`,
});

const mysql = read({
  'write a file': `
    SELECT 1 INTO OUTFILE '{out}'
    SELECT 1 INTO DUMPFILE '{out}'
    SELECT * FROM t INTO OUTFILE '{out}'
    SELECT * INTO OUTFILE '{out}' FROM t
    SELECT 1 /*!50000 INTO OUTFILE '{out}' */
    SELECT 1 /*! INTO OUTFILE '{out}' */
    SELECT 1 /*M!100000 INTO OUTFILE '{out}' */
    SELECT 1 INTO/**/OUTFILE '{out}'
    (SELECT 1) UNION (SELECT 2 INTO OUTFILE '{out}')
    WITH c AS (SELECT 1) SELECT * FROM c INTO OUTFILE '{out}'
    EXECUTE IMMEDIATE 'SELECT 1 INTO OUTFILE ''{out}'''
    EXECUTE IMMEDIATE CONCAT('SELECT 1 INTO OUT', 'FILE ''{out}''')
    PREPARE p FROM 'SELECT 1 INTO OUTFILE ''{out}'''
    BEGIN NOT ATOMIC SELECT 1 INTO OUTFILE '{out}'; END
    CREATE PROCEDURE p() SELECT 1 INTO OUTFILE '{out}'
    CREATE TABLE o (a INT) DATA DIRECTORY = '{folder}'
    CREATE TABLE o (a INT) ENGINE = MyISAM DATA DIRECTORY = '{folder}' INDEX DIRECTORY = '{folder}'
    CREATE TABLE o (a INT) ENGINE = CSV
    CREATE TABLE o (a INT) ENGINE = CONNECT TABLE_TYPE = CSV FILE_NAME = '{out}'
    SET GLOBAL general_log_file = '{out}'
    SET GLOBAL general_log = 1
    SET GLOBAL slow_query_log_file = '{out}'
    SET @@GLOBAL.general_log_file = '{out}'
    SET @@global . general_log_file = '{out}'
    SET SESSION sql_mode = '', GLOBAL general_log_file = '{out}'
    SET STATEMENT max_statement_time = 1 FOR SELECT 1 INTO OUTFILE '{out}'
    SELECT 1 INTO OUTFILE '../../out'
    BACKUP STAGE START`,
  'read a file': `
    SELECT LOAD_FILE('{canary}')
    SELECT load_file/**/('{canary}')
    SELECT \`load_file\`('{canary}')
    INSERT INTO t SELECT 90, LOAD_FILE('{canary}')
    LOAD DATA INFILE '{canary}' INTO TABLE t
    LOAD DATA LOCAL INFILE '{canary}' INTO TABLE t
    LOAD XML INFILE '{canary}' INTO TABLE t
    EXECUTE IMMEDIATE 'LOAD DATA INFILE ''{canary}'' INTO TABLE t'
    SELECT 1 /*!, LOAD_FILE('{canary}') */
    SELECT authentication_string FROM mysql.user
    SELECT * FROM mysql.global_priv
    CREATE TABLE o (a TEXT) ENGINE = CONNECT TABLE_TYPE = DOS FILE_NAME = '{canary}'
    SHOW BINARY LOGS`,
  'run a program or native code': `
    INSTALL SONAME 'ha_connect'
    INSTALL PLUGIN x SONAME 'x.so'
    CREATE FUNCTION sys_exec RETURNS INT SONAME 'lib_mysqludf_sys.so'
    CREATE AGGREGATE FUNCTION f RETURNS INT SONAME '{canary}'
    SELECT sys_exec('touch {out}')
    SELECT sys_eval('touch {out}')
    UNINSTALL SONAME 'ha_innodb'
    INSERT INTO mysql.func VALUES ('f', 0, 'x.so', 'function')
    INSERT INTO mysql.plugin VALUES ('x', 'x.so')
    SET GLOBAL plugin_dir = '{folder}'
    CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM shop.users
    SET GLOBAL event_scheduler = ON`,
  'open another database': `
    CREATE DATABASE other
    CREATE SCHEMA other
    USE shop
    USE mysql
    CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')
    CREATE TABLE o (a INT) ENGINE = FEDERATED CONNECTION = 'mysql://root@127.0.0.1/shop/users'
    CREATE TABLE o (a INT) ENGINE = SPIDER COMMENT = 'host "127.0.0.1"'
    CHANGE MASTER TO MASTER_HOST = '127.0.0.1'
    START SLAVE`,
  'change tables of the user': `
    DELETE FROM shop.users
    DROP TABLE shop.users
    TRUNCATE TABLE shop.users
    TRUNCATE shop.users
    UPDATE shop.users SET name = 'x'
    UPDATE t, shop.users SET shop.users.name = 'x'
    DELETE shop.users FROM shop.users, t
    DELETE FROM u USING shop.users AS u
    INSERT INTO shop.users VALUES (9, 'x')
    REPLACE INTO shop.users VALUES (1, 'x')
    ALTER TABLE shop.users ADD COLUMN x INT
    RENAME TABLE shop.users TO shop.gone
    RENAME TABLE shop.users TO stolen
    DROP DATABASE shop
    DROP SCHEMA shop
    SET STATEMENT max_statement_time = 1 FOR DROP DATABASE shop
    SET STATEMENT max_statement_time=1 FOR DELETE FROM shop.users
    SET STATEMENT sql_mode = '' FOR DROP TABLE shop.users
    EXECUTE IMMEDIATE 'DROP DATABASE shop'
    EXECUTE IMMEDIATE CONCAT('DROP DATA', 'BASE shop')
    PREPARE p FROM 'DROP DATABASE shop'
    BEGIN NOT ATOMIC DROP DATABASE shop; END
    /*!50000 DROP DATABASE shop */
    /*! DELETE FROM shop.users */
    /*M! DROP TABLE shop.users */
    SELECT 1 FROM t /*!; DROP DATABASE shop */
    CREATE PROCEDURE p() DELETE FROM shop.users
    CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW DELETE FROM shop.users
    CREATE DEFINER = root@localhost PROCEDURE p() DELETE FROM shop.users
    CREATE DEFINER = root@localhost VIEW v AS SELECT * FROM shop.users
    CREATE OR REPLACE TABLE shop.users (a INT)
    CREATE TABLE c (id INT, FOREIGN KEY (id) REFERENCES shop.users (id))
    LOCK TABLES shop.users WRITE
    FLUSH TABLES shop.users WITH READ LOCK
    SELECT * FROM shop.users FOR UPDATE
    ANALYZE TABLE shop.users
    OPTIMIZE TABLE shop.users
    DELETE FROM \`shop\`.\`users\`
    DELETE FROM shop . users
    HANDLER shop.users OPEN
    INSERT INTO shop.users SELECT 9, 'x'
    WITH c AS (SELECT 1) DELETE FROM shop.users
    DO (SELECT 1 FROM shop.users FOR UPDATE)
    CALL shop.p()`,
  'change roles, rights or the server': `
    CREATE USER intruder@localhost
    CREATE ROLE intruder
    GRANT ALL ON *.* TO CURRENT_USER
    GRANT ALL ON *.* TO intruder@localhost IDENTIFIED BY 'x'
    GRANT FILE ON *.* TO CURRENT_USER
    REVOKE ALL ON *.* FROM root@localhost
    SET PASSWORD FOR root@localhost = PASSWORD('x')
    ALTER USER root@localhost IDENTIFIED BY 'x'
    DROP USER root@localhost
    RENAME USER root@localhost TO gone@localhost
    UPDATE mysql.user SET password = ''
    DELETE FROM mysql.global_priv
    SET GLOBAL read_only = 1
    SET GLOBAL max_connections = 1
    SET GLOBAL innodb_lock_wait_timeout = 1
    SET @@global.sql_mode = ''
    SET @@GLOBAL.read_only = 1
    SET @a = 1, @@GLOBAL.read_only = 1
    SET/**/GLOBAL read_only = 1
    SET PERSIST max_connections = 1
    SET ROLE ALL
    SET DEFAULT ROLE ALL
    SHUTDOWN
    KILL 1
    KILL QUERY 1
    FLUSH PRIVILEGES
    FLUSH LOGS
    RESET MASTER
    PURGE BINARY LOGS BEFORE NOW()
    SET GLOBAL TRANSACTION ISOLATION LEVEL READ UNCOMMITTED
    ALTER DATABASE shop CHARACTER SET latin1
    SET SESSION binlog_format = 'ROW'
    SET SESSION sql_log_bin = 0
    SET PASSWORD = PASSWORD('x')
    SET PASSWORD = 'x'
    /**/ SET PASSWORD = PASSWORD('x')
    /**/SET/**/PASSWORD = PASSWORD('x')
    /*! SET PASSWORD = PASSWORD('x') */
    /*!50000 SET*/ PASSWORD = PASSWORD('x')
    /*M! SET PASSWORD = PASSWORD('x') */
    SET @a = 1, PASSWORD = PASSWORD('x')
    SET STATEMENT max_statement_time = 1 FOR SET PASSWORD = PASSWORD('x')
    ALTER USER CURRENT_USER() IDENTIFIED BY 'x'
    ALTER USER USER() IDENTIFIED BY 'x'
    /**/ALTER/**/USER USER() IDENTIFIED BY 'x'
    BEGIN NOT ATOMIC SET PASSWORD = PASSWORD('x'); END
    CREATE PROCEDURE p() SET PASSWORD = PASSWORD('x')
    CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW SET PASSWORD = PASSWORD('x')
    EXECUTE IMMEDIATE 'SET PASSWORD = PASSWORD(''x'')'
    EXECUTE IMMEDIATE CONCAT('SET PASS', 'WORD = PASSWORD(''x'')')
    PREPARE p FROM 'ALTER USER USER() IDENTIFIED BY ''x'''
    CREATE OR REPLACE ROLE intruder
    /* */ SET GLOBAL read_only = 1
    KILL USER tester
    /**/KILL USER tester
    KILL USER isolde_case`,
  'leave something behind': `
    CREATE DATABASE isolde_left
    CREATE SCHEMA isolde_left
    /**/ CREATE DATABASE isolde_left
    CREATE/**/DATABASE/**/isolde_left
    /*!50000 CREATE DATABASE isolde_left */
    CREATE OR REPLACE DATABASE isolde_left
    CREATE PROCEDURE p() CREATE DATABASE isolde_left
    EXECUTE IMMEDIATE CONCAT('CREATE DATA', 'BASE isolde_left')
    PREPARE p FROM 'CREATE DATABASE isolde_left'
    CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t VALUES (NULL, 1)
    CREATE DEFINER = CURRENT_USER EVENT e ON SCHEDULE EVERY 1 SECOND DO DELETE FROM t
    CREATE PROCEDURE p() BEGIN XA START 'x'; INSERT INTO t VALUES (8, 8); XA END 'x'; XA PREPARE 'x'; END
    XA/**/PREPARE 'x'`,
});

/** Every attack, by the dialect it is written in. */
export const attacks: Readonly<Record<Dialect, readonly Attack[]>> = { sqlite, duckdb, postgres, mysql };
