/** Hostile SQL for databases inside a JVM, by engine: files, Java classes, other databases, users, the server itself. */
import { type Attack, read } from './attacks.case.js';

const h2 = read({
  'write a file': `
    CALL FILE_WRITE('x', '{out}')
    SELECT FILE_WRITE('x', '{out}')
    SELECT "FILE_WRITE"('x', '{out}')
    INSERT INTO t VALUES (90, FILE_WRITE('x', '{out}'))
    UPDATE t SET v = FILE_WRITE('x', '{out}')
    CREATE TABLE u (a INT DEFAULT FILE_WRITE('x', '{out}'))
    CREATE VIEW v AS SELECT FILE_WRITE('x', '{out}') AS w
    SELECT * FROM t WHERE FILE_WRITE('x', '{canary}') > 0
    CALL CSVWRITE('{out}', 'SELECT 1')
    SELECT CSVWRITE('{out}', 'SELECT * FROM t')
    SELECT CSVWRITE('{canary}', 'SELECT * FROM t')
    SCRIPT TO '{out}'
    SCRIPT NODATA TO '{canary}'
    SCRIPT SIMPLE TO '{out}' SCHEMA PUBLIC
    BACKUP TO '{out}'
    SELECT 1; SCRIPT TO '{out}'
    SELECT 1 AS "'"; SCRIPT TO '{out}' --'
    SELECT 1 // '
    SELECT $$ ' $$; SCRIPT TO '{out}' -- '
    /* /* */ SELECT 1 */; SCRIPT TO '{out}'
    CREATE TABLE u (a INT) ENGINE "org.h2.mvstore.db.MVTableEngine" WITH '{out}'
    EXPLAIN ANALYZE SELECT FILE_WRITE('x', '{out}')
    SET TRACE_LEVEL_FILE 3
    SET DATABASE_EVENT_LISTENER 'org.h2.samples.ShowProgress'
    {call CSVWRITE('{out}', 'SELECT 1')}`,
  'read a file': `
    CALL FILE_READ('{canary}')
    SELECT FILE_READ('{canary}')
    SELECT FILE_READ('{canary}', NULL)
    SELECT FILE_READ('file:{canary}')
    SELECT FILE_READ('classpath:java/lang/Object.class')
    SELECT "FILE_READ"('{canary}')
    SELECT U&"FILE\\005FREAD"('{canary}')
    SELECT * FROM CSVREAD('{canary}')
    SELECT * FROM CSVREAD('{canary}', 'a')
    CREATE TABLE u AS SELECT * FROM CSVREAD('{canary}')
    CREATE VIEW v AS SELECT * FROM CSVREAD('{canary}')
    RUNSCRIPT FROM '{canary}'
    SELECT 1 UNION SELECT FILE_READ('{canary}')
    WITH c AS (SELECT FILE_READ('{canary}') AS x) SELECT * FROM c
    INSERT INTO t SELECT 1, LENGTH(FILE_READ('{canary}'))`,
  'run a program or native code': `
    CREATE ALIAS p AS 'void p() throws Exception { java.lang.Runtime.getRuntime().exec("touch {out}"); }'
    CREATE ALIAS p AS $$ void p() throws Exception { new java.io.File("{out}").createNewFile(); } $$
    CREATE ALIAS p FOR "java.lang.System.exit"
    CREATE ALIAS IF NOT EXISTS p FOR "java.lang.System.gc"
    CREATE AGGREGATE p FOR "java.lang.String"
    CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW CALL "org.h2.samples.TriggerSample"
    CREATE TRIGGER g BEFORE INSERT ON t AS $$ org.h2.api.Trigger create() { return null; } $$
    CREATE TRIGGER g BEFORE INSERT ON t AS '//javascript
    CREATE FORCE ALIAS p FOR "java.lang.System.exit"
    SET JAVA_OBJECT_SERIALIZER 'java.lang.Object'`,
  'open another database': `
    CALL LINK_SCHEMA('x', '', 'jdbc:h2:{out}', 'sa', '', 'PUBLIC')
    SELECT * FROM LINK_SCHEMA('x', 'org.h2.Driver', 'jdbc:h2:{out}', 'sa', '', 'PUBLIC')
    CREATE LINKED TABLE l ('org.h2.Driver', 'jdbc:h2:{out}', 'sa', '', 'T')
    CREATE LINKED TABLE l ('javax.naming.InitialContext', 'ldap://127.0.0.1:1/x', '', '', 'T')
    CREATE LOCAL TEMPORARY LINKED TABLE l ('org.h2.Driver', 'jdbc:h2:{out}', 'sa', '', 'T')`,
  'change roles, rights or the server': `
    CREATE USER intruder PASSWORD 'x' ADMIN
    ALTER USER isolde_user ADMIN TRUE
    ALTER USER sa SET PASSWORD 'x'
    SET PASSWORD 'x'
    DROP USER sa
    GRANT ALTER ANY SCHEMA TO isolde_user
    CREATE ROLE intruder
    CREATE SCHEMA other
    DROP SCHEMA public
    DROP ALL OBJECTS
    DROP ALL OBJECTS DELETE FILES
    SHUTDOWN
    SHUTDOWN IMMEDIATELY
    CHECKPOINT SYNC
    SET EXCLUSIVE 1
    SET DB_CLOSE_DELAY 0
    SET MODE Regular
    SET MAX_MEMORY_ROWS 1
    SELECT ABORT_SESSION(1)
    SELECT CANCEL_SESSION(1)
    EXECUTE IMMEDIATE 'SHUTDOWN'
    PREPARE COMMIT x`,
});

const hsqldb = read({
  'write a file': `
    SCRIPT '{out}'
    SCRIPT '{canary}'
    PERFORM EXPORT SCRIPT FOR DATABASE TO '{out}'
    PERFORM EXPORT SCRIPT FOR TABLE t DATA TO '{out}'
    BACKUP DATABASE TO '{folder}/' BLOCKING
    BACKUP DATABASE TO '{out}' NOT BLOCKING AS FILES
    CREATE TEXT TABLE u (a VARCHAR(20))
    CREATE TEXT TABLE u (a INT); SET TABLE u SOURCE '{out}'
    SET TABLE t SOURCE '{out}'
    SET TABLE t SOURCE HEADER 'x'
    SET FILES LOG TRUE
    SET FILES SCRIPT FORMAT COMPRESSED
    SET DATABASE EVENT LOG LEVEL 4
    SET DATABASE EVENT LOG SQL LEVEL 4
    SELECT 1; SCRIPT '{out}'
    CHECKPOINT DEFRAG`,
  'read a file': `
    SELECT LOAD_FILE('{canary}') FROM t
    VALUES (LOAD_FILE('{canary}'))
    CALL LOAD_FILE('{canary}')
    VALUES (LOAD_FILE('{canary}', 'UTF-8'))
    CREATE VIEW v AS SELECT LOAD_FILE('{canary}') AS w FROM t
    PERFORM IMPORT SCRIPT DATA FROM '{canary}' STOP ON ERROR
    PERFORM CHECK ALL TABLE INDEXES`,
  'run a program or native code': `
    CREATE FUNCTION p() RETURNS INT LANGUAGE JAVA NO SQL EXTERNAL NAME 'CLASSPATH:java.lang.System.exit'
    CREATE PROCEDURE p() LANGUAGE JAVA NO SQL EXTERNAL NAME 'CLASSPATH:java.lang.System.gc'
    CREATE FUNCTION p(x VARCHAR(100)) RETURNS VARCHAR(100) LANGUAGE JAVA DETERMINISTIC NO SQL EXTERNAL NAME 'CLASSPATH:java.lang.System.getProperty'
    CALL "java.lang.System.getProperty"('user.home')
    CALL "java.lang.System.exit"(1)
    VALUES ("java.lang.System.getProperty"('user.home'))
    SELECT "java.lang.System.exit"(1) FROM t
    SELECT "java.lang.System.setProperty"('hsqldb.method_class_names', '*') FROM t
    CREATE TRIGGER g AFTER INSERT ON t CALL "org.hsqldb.sample.TriggerSample"
    CREATE TRIGGER g AFTER INSERT ON t QUEUE 0 CALL "java.lang.System"
    CREATE AGGREGATE FUNCTION p(IN x INT, IN f BOOLEAN, INOUT a INT, INOUT b INT) RETURNS INT NO SQL LANGUAGE JAVA EXTERNAL NAME 'CLASSPATH:java.lang.System.exit'`,
  'change roles, rights or the server': `
    CREATE USER intruder PASSWORD 'x' ADMIN
    ALTER USER sa SET PASSWORD 'x'
    SET PASSWORD 'x'
    DROP USER sa
    GRANT DBA TO isolde_user
    CREATE ROLE intruder
    CREATE SCHEMA other AUTHORIZATION DBA
    DROP SCHEMA public CASCADE
    SHUTDOWN
    SHUTDOWN SCRIPT
    CONNECT USER sa PASSWORD ''
    SET SESSION AUTHORIZATION 'SA'
    ALTER SESSION 1 CLOSE
    ALTER SESSION RESET ALL
    SET DATABASE TRANSACTION CONTROL MVCC
    SET DATABASE READONLY
    SET FILES READ ONLY
    SET DATABASE GC 1
    SET DATABASE SQL SYNTAX ORA TRUE
    SET DATABASE AUTHENTICATION FUNCTION EXTERNAL NAME 'CLASSPATH:java.lang.System.exit'`,
});

const derby = read({
  'write a file': `
    CALL SYSCS_UTIL.SYSCS_EXPORT_TABLE(NULL, 'T', '{out}', NULL, NULL, NULL)
    CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('SELECT * FROM t', '{out}', NULL, NULL, NULL)
    CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY_LOBS_TO_EXTFILE('SELECT * FROM t', '{out}', NULL, NULL, NULL, '{out}.lob')
    CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE('{out}')
    CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE_NOWAIT('{out}')
    CALL SYSCS_UTIL.SYSCS_FREEZE_DATABASE()
    CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.storage.tempDirectory', '{out}')
    CALL SQLJ.INSTALL_JAR('{canary}', 'isolde_user.x', 0)
    {call SYSCS_UTIL.SYSCS_BACKUP_DATABASE('{out}')}`,
  'read a file': `
    CALL SYSCS_UTIL.SYSCS_IMPORT_TABLE(NULL, 'T', '{canary}', NULL, NULL, NULL, 0)
    CALL SYSCS_UTIL.SYSCS_IMPORT_DATA(NULL, 'T', NULL, NULL, '{canary}', NULL, NULL, NULL, 0)
    CALL SYSCS_UTIL.SYSCS_IMPORT_TABLE_BULK(NULL, 'T', '{canary}', NULL, NULL, NULL, 0)
    SELECT * FROM TABLE (SYSCS_DIAG.ERROR_LOG_READER('{canary}')) x
    SELECT * FROM TABLE (SYSCS_DIAG.STATEMENT_DURATION('{canary}')) x
    SELECT * FROM NEW org.apache.derby.diag.ErrorLogReader('{canary}') x
    SELECT * FROM NEW org.apache.derby.impl.load.Import(NULL, '{canary}', NULL, NULL, NULL) x
    SELECT * FROM new/**/org.apache.derby.diag.ErrorLogReader('{canary}') x
    SELECT * FROM "NEW" org.apache.derby.diag.ErrorLogReader('{canary}') x`,
  'run a program or native code': `
    CREATE PROCEDURE p() LANGUAGE JAVA PARAMETER STYLE JAVA NO SQL EXTERNAL NAME 'java.lang.System.gc'
    CREATE PROCEDURE p(IN x INT) LANGUAGE JAVA PARAMETER STYLE JAVA NO SQL EXTERNAL NAME 'java.lang.System.exit'
    CREATE FUNCTION p(x VARCHAR(100)) RETURNS VARCHAR(100) LANGUAGE JAVA PARAMETER STYLE JAVA NO SQL EXTERNAL NAME 'java.lang.System.getProperty'
    CREATE FUNCTION p() RETURNS TABLE (a VARCHAR(100)) LANGUAGE JAVA PARAMETER STYLE DERBY_JDBC_RESULT_SET NO SQL EXTERNAL NAME 'java.lang.System.exit'
    CREATE TYPE p EXTERNAL NAME 'java.io.File' LANGUAGE JAVA
    CREATE DERBY AGGREGATE p FOR INT EXTERNAL NAME 'java.lang.System'
    CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW MODE DB2SQL CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE('{out}')
    VALUES java.lang.System::exit(1)
    CALL SQLJ.REPLACE_JAR('{canary}', 'isolde_user.x')
    CALL SYSCS_UTIL.SYSCS_REGISTER_TOOL('databaseMetaData', true)
    CALL SYSCS_UTIL.SYSCS_REGISTER_TOOL('foreignViews', true, 'jdbc:derby:{out};create=true', 'x')
    CALL SYSCS_UTIL.SYSCS_REGISTER_TOOL('customTool', true, 'java.lang.System')`,
  'change roles, rights or the server': `
    CALL SYSCS_UTIL.SYSCS_CREATE_USER('INTRUDER', 'x')
    CALL SYSCS_UTIL.SYSCS_SET_USER_ACCESS('OWNER', 'NOACCESS')
    CALL SYSCS_UTIL.SYSCS_SET_DATABASE_PROPERTY('derby.database.defaultConnectionMode', 'noAccess')
    CALL SYSCS_UTIL.SYSCS_DISABLE_LOG_ARCHIVE_MODE(1)
    CALL SYSCS_UTIL.SYSCS_INVALIDATE_STORED_STATEMENTS()
    CREATE SCHEMA other AUTHORIZATION owner
    CREATE SCHEMA AUTHORIZATION owner
    CREATE ROLE intruder
    GRANT EXECUTE ON PROCEDURE SYSCS_UTIL.SYSCS_BACKUP_DATABASE TO PUBLIC
    SET ROLE NONE
    SET SCHEMA owner
    SELECT PASSWORD FROM SYS.SYSUSERS`,
});

export const jdbcAttacks: Readonly<Record<string, readonly Attack[]>> = { h2, hsqldb, derby };
