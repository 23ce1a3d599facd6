import { describe, expect, it } from 'vitest';
import { changesMeaning } from './session-settings.js';

describe('what a session’s statements mean', () => {
  it.each([
    ['SET enable_seqscan = off', 'postgres'],
    ['SET LOCAL statement_timeout TO 100', 'postgres'],
    ['SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'postgres'],
    ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY', 'postgres'],
    ['SET CONSTRAINTS ALL DEFERRED', 'postgres'],
    ['RESET enable_seqscan', 'postgres'],
    ["SET optimizer_switch = 'materialization=off,semijoin=off'", 'mysql'],
    ['SET SESSION innodb_lock_wait_timeout = 1, @@session.max_statement_time = 2', 'mysql'],
    ["SET @x = 1, @y = CONCAT('a', ',b')", 'mysql'],
    ['SET autocommit = 0', 'mysql'],
    ['SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE', 'mysql'],
    ['PRAGMA busy_timeout = 0', 'sqlite'],
    ["PRAGMA journal_mode = 'mvcc'", 'sqlite'],
    ['PRAGMA main.table_info(t)', 'sqlite'],
    ['SET threads = 1', 'duckdb'],
    ['SELECT v FROM t', 'postgres'],
    ['UPDATE t SET search_path = 1', 'postgres'],
  ] as const)('%s leaves alone', (sql, dialect) => {
    expect(changesMeaning(sql, dialect)).toBe(false);
  });

  it.each([
    ['SET sql_select_limit = 1', 'mysql'],
    ['SET @x = 1, sql_select_limit = 1', 'mysql'],
    ["SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'", 'mysql'],
    ["SET @@session.collation_connection = 'utf8mb4_bin'", 'mysql'],
    ['SET NAMES latin1', 'mysql'],
    ["SET time_zone = '+01:00'", 'mysql'],
    ['SET completion_type = 1', 'mysql'],
    ['USE other', 'mysql'],
    ['SET search_path = a, b', 'postgres'],
    ['SET LOCAL search_path TO a', 'postgres'],
    ["SELECT set_config('search_path', 'a', false)", 'postgres'],
    ["SET TIME ZONE 'UTC'", 'postgres'],
    ['SET ROLE someone', 'postgres'],
    ['SET SESSION AUTHORIZATION someone', 'postgres'],
    ['RESET ALL', 'postgres'],
    ['DISCARD ALL', 'postgres'],
    ['PRAGMA case_sensitive_like = 1', 'sqlite'],
    ["SET schema = 'a'", 'duckdb'],
  ] as const)('%s may change', (sql, dialect) => {
    expect(changesMeaning(sql, dialect)).toBe(true);
  });
});
