/**
 * What correct engines answer where a reader who knows only the usual ways expects something else: definitions that resolve conflicts or
 * change rows along, names that hide others, joins and transactions of one engine alone. No finding is in any of it.
 */
import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { brokenConstraints } from '../constraints/constraint-oracle.js';
import { explain } from '../explain.js';
import { story, twoRows } from './story.case.js';
import { verifyMechanism } from './verify.js';

interface Told {
  readonly dialect: Dialect;
  readonly contract: string;
  readonly target?: string;
  readonly setup?: readonly string[];
  readonly text: string;
}

const sqlite = { dialect: 'sqlite', contract: 'sqlite:serializable+wal' } as const;
const duckdb = { dialect: 'duckdb', contract: 'duckdb:snapshot' } as const;
const tidb = { dialect: 'mysql', contract: 'tidb:repeatable-read', target: 'tidb' } as const;
const hsqldb = { dialect: 'postgres', contract: 'hsqldb:read-committed+locks', target: 'hsqldb' } as const;
const postgres = { dialect: 'postgres', contract: 'postgres:read-committed' } as const;

const child = [
  'CREATE TABLE p (id INT PRIMARY KEY)',
  'CREATE TABLE c (id INT PRIMARY KEY, p INT)',
  'ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE',
  'INSERT INTO p VALUES (1), (2)',
  'INSERT INTO c VALUES (1, 1), (2, 2)',
];
const keyed = (create: string) => [create, 'INSERT INTO t VALUES (1, 10), (2, 20)'];

const stories: Readonly<Record<string, Told>> = {
  'a cascade that ALTER TABLE adds': {
    ...postgres,
    setup: child,
    text: `T1: DELETE FROM p WHERE id = 1 -> 1
      T2: SELECT * FROM c -> 2,2`,
  },
  'a common table with the name of a table': {
    ...postgres,
    text: `T1: WITH t AS (SELECT * FROM t WHERE v > 15) SELECT * FROM t -> 2,20
      T1: SELECT id FROM t WHERE EXISTS (WITH t AS (SELECT 9 AS id) SELECT 1 FROM t WHERE id = 9) -> 1 | 2`,
  },
  'a key ON CONFLICT REPLACE': {
    ...sqlite,
    setup: keyed('CREATE TABLE t (id INTEGER PRIMARY KEY, v INT UNIQUE ON CONFLICT REPLACE)'),
    text: `T1: INSERT INTO t VALUES (3, 10) -> 1
      T2: SELECT * FROM t -> 2,20 | 3,10`,
  },
  'a key ON CONFLICT IGNORE': {
    ...sqlite,
    setup: keyed('CREATE TABLE t (id INT, v INT, UNIQUE (v) ON CONFLICT IGNORE)'),
    text: `T1: INSERT INTO t VALUES (3, 10), (4, 40) -> 1
      T2: SELECT * FROM t -> 1,10 | 2,20 | 4,40`,
  },
  'OR FAIL, which keeps what came before the conflict': {
    ...sqlite,
    text: `T1: INSERT OR FAIL INTO t VALUES (3, 30), (1, 11), (4, 40) -> error duplicate-key
      T2: SELECT * FROM t -> 1,10 | 2,20 | 3,30`,
  },
  'a key that is assigned as rowid': {
    ...sqlite,
    setup: keyed('CREATE TABLE t (id INTEGER PRIMARY KEY, v INT)'),
    text: `T1: UPDATE t SET rowid = 9 WHERE id = 1 -> 1
      T2: INSERT INTO t VALUES (1, 5) -> 1
      T2: SELECT * FROM t -> 1,5 | 2,20 | 9,10`,
  },
  'a temporary view before a table': {
    ...sqlite,
    text: `T1: CREATE TEMP VIEW t AS SELECT 7 AS id, 8 AS v
      T1: SELECT * FROM t -> 7,8`,
  },
  'joins of DuckDB': {
    ...duckdb,
    setup: [...twoRows, 'CREATE TABLE u (id INT, w INT)', 'INSERT INTO u VALUES (1, 5), (1, 6)'],
    text: `T1: SELECT * FROM t SEMI JOIN u USING (id) -> 1,10
      T1: SELECT * FROM t ANTI JOIN u USING (id) -> 2,20
      T1: SELECT * FROM t POSITIONAL JOIN u -> 1,10,1,5 | 2,20,1,6`,
  },
  'a macro with the name of a function': {
    ...duckdb,
    text: `T1: CREATE MACRO abs(x) AS x + 100
      T1: SELECT abs(v) FROM t -> 110 | 120`,
  },
  'assignments of TiDB, all from the row as it was': {
    ...tidb,
    setup: keyed('CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT DEFAULT 7)').map((sql) =>
      sql.replace('INTO t ', 'INTO t (id, v) '),
    ),
    text: `T1: UPDATE t SET v = w, w = v WHERE id = 1 -> 1
      T2: SELECT * FROM t -> 1,7,10 | 2,20,7`,
  },
  'BEGIN OPTIMISTIC, which locks nothing': {
    ...tidb,
    text: `T1: BEGIN OPTIMISTIC
      T1: SELECT * FROM t WHERE id = 1 FOR UPDATE -> 1,10
      T2: BEGIN PESSIMISTIC
      T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T2: COMMIT
      T1: COMMIT -> error serialization`,
  },
  'a transaction that reads the past': {
    ...tidb,
    text: `T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: START TRANSACTION READ ONLY AS OF TIMESTAMP '2026-01-01 00:00:00'
      T1: SELECT * FROM t -> 1,10 | 2,20
      T1: COMMIT`,
  },
  'texts that differ in trailing blanks': {
    ...hsqldb,
    setup: ['CREATE TABLE t (k VARCHAR(5) PRIMARY KEY, v INT)', "INSERT INTO t VALUES ('a', 10)"],
    text: `T1: UPDATE t SET v = 11 WHERE k = 'a ' -> 1
      T2: SELECT v FROM t WHERE k = 'a  ' -> 11`,
  },
  'a decimal without a scale': {
    ...hsqldb,
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL)', 'INSERT INTO t VALUES (1, 1.5)'],
    text: 'T1: SELECT id FROM t WHERE d = 1.0 -> 1',
  },
  'a column that HSQLDB numbers': {
    ...hsqldb,
    setup: ['CREATE TABLE t (id INT IDENTITY, v INT)', 'INSERT INTO t (v) VALUES (1)'],
    text: 'T1: SELECT id, v FROM t -> 0,1',
  },
  'savepoints whose names differ in quotes': {
    ...hsqldb,
    text: `T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
      T1: SAVEPOINT s
      T1: UPDATE t SET v = 12 WHERE id = 1 -> 1
      T1: SAVEPOINT "s"
      T1: ROLLBACK TO SAVEPOINT s
      T1: SELECT v FROM t WHERE id = 1 -> 11
      T1: ROLLBACK TO SAVEPOINT "s"
      T1: SELECT v FROM t WHERE id = 1 -> 12`,
  },
};

it.each(Object.entries(stories))('%s', (_title, { dialect, contract, target, setup, text }) => {
  const told = story(text, { dialect, ...(setup && { setup }) });
  const name = target ?? contract.split(':')[0]!;
  const history = { ...told, header: { ...told.header, target: { name, version: '1.0.0' } } };
  const promised = findContract(contract)!;
  const { findings } = verifyMechanism(history, promised);
  expect([...findings, ...brokenConstraints(history, promised)].map(explain)).toEqual([]);
});
