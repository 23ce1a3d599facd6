import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History } from '../../histories/index.js';
import { check } from '../check.js';
import { explain } from '../explain.js';
import { story } from '../mechanism/story.case.js';
import { brokenConstraints } from './constraint-oracle.js';

const contractOf = (id: string) => findContract(id)!;

function found(history: History, contract = 'postgres:repeatable-read'): string[] {
  const target = { name: contract.split(':')[0]!, version: '1.0.0' };
  return brokenConstraints({ ...history, header: { ...history.header, target } }, contractOf(contract)).map(
    ({ kind, clause }) => `${kind}: ${clause}`,
  );
}

const withNulls = (history: History): History => ({
  ...history,
  operations: history.operations.map(({ rows, ...rest }) => ({
    ...rest,
    ...(rows && { rows: rows.map((row) => row.map((cell) => (cell === 'NULL' ? null : cell))) }),
  })),
});

const keyed = ['CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v INT)', 'INSERT INTO t VALUES (1, 10, 0)'];

describe('rows of one result that share a declared key', () => {
  it('are found for primary, unique and composite keys, and for unique indexes', () => {
    expect(found(story('T1: SELECT * FROM t -> 1,10,0 | 1,11,0', { setup: keyed }))).toEqual([
      'duplicate-key: declared primary key',
    ]);
    expect(found(story('T1: SELECT u FROM t -> 10 | 10', { setup: keyed }))).toEqual([
      'duplicate-key: declared unique key',
    ]);
    const pair = ['CREATE TABLE p (a INT, b TEXT, PRIMARY KEY (a, b))', 'CREATE UNIQUE INDEX i ON p (b)'];
    expect(found(story('T1: SELECT * FROM p -> 1,x | 1,y | 1,x', { setup: pair }))).toEqual([
      'duplicate-key: declared primary key',
      'duplicate-key: declared unique key',
    ]);
    expect(found(story('T1: SELECT a FROM p -> 1 | 1', { setup: pair }))).toEqual([]);
  });

  it('are not looked for in a parent and its children', () => {
    const setup = [...keyed, 'CREATE TABLE c (w INT) INHERITS (t)'];
    expect(found(story('T1: SELECT * FROM t -> 1,10,0 | 1,10,0', { setup }))).toEqual([]);
  });

  it('name the INSERTs of the rows', () => {
    const history = story('T1: INSERT INTO t VALUES (7, 1, 0) -> 1\nT2: SELECT * FROM t -> 7,1,0 | 7,2,0', {
      setup: keyed,
    });
    const [finding] = brokenConstraints(history, contractOf('postgres:repeatable-read'));
    expect(finding!.operations.map(({ index }) => index)).toEqual([1, 0]);
    expect(explain(finding!)).toContain('two rows of the result have the key (7)');
  });

  it('are not looked for where a key may be checked late, in parts, or where NULL repeats', () => {
    for (const definition of [
      'a INT UNIQUE DEFERRABLE INITIALLY DEFERRED',
      'a DOUBLE PRECISION UNIQUE',
      'a INT, UNIQUE (a) DEFERRABLE',
      'a INT',
    ])
      expect(
        found(story('T1: SELECT a FROM p -> 1 | 1', { setup: [`CREATE TABLE p (${definition})`] })),
      ).toEqual([]);
    const partial = ['CREATE TABLE p (a INT, b INT)', 'CREATE UNIQUE INDEX i ON p (a) WHERE b > 0'];
    expect(found(story('T1: SELECT a FROM p -> 1 | 1', { setup: partial }))).toEqual([]);
    expect(found(withNulls(story('T1: SELECT u FROM t -> NULL | NULL', { setup: keyed })))).toEqual([]);
    expect(found(story('T1: DROP INDEX x\nT2: SELECT u FROM t -> 1 | 1', { setup: keyed }))).toEqual([]);
    expect(found(story('T1: SELECT t.u FROM t, t AS s -> 1 | 1', { setup: keyed }))).toEqual([]);
  });

  it('are allowed in a snapshot older than the transaction’s own row', () => {
    const both = `
      T1: BEGIN
      T1: SELECT * FROM t -> 1,10,0
      T2: DELETE FROM t WHERE id = 1 -> 1
      T1: INSERT INTO t VALUES (1, 10, 5) -> 1
      T1: SELECT * FROM t -> 1,10,0 | 1,10,5
      T1: COMMIT`;
    expect(found(story(both, { setup: keyed }))).toEqual([]);
    // Without the other transaction there is no such excuse.
    expect(found(story(both.replace(/\s*T2.*/, ''), { setup: keyed }))).toContain(
      'duplicate-key: declared primary key',
    );
  });

  it('are allowed to a transaction whose own keys are compared at COMMIT, and to nobody else', () => {
    const late = `
      T1: BEGIN
      T1: INSERT INTO t VALUES (2, 10, 5) -> 1
      T1: SELECT * FROM t -> 1,10,0 | 2,10,5`;
    const judged = (text: string, contract: string) =>
      found(story(text, { setup: keyed, dialect: 'mysql' }), contract);
    for (const end of ['COMMIT -> error duplicate-key', 'ROLLBACK'])
      expect(judged(`${late}\nT1: ${end}`, 'tidb:snapshot+optimistic')).toEqual([]);
    const unique = 'declared unique key';
    expect(judged(`${late}\nT1: COMMIT`, 'tidb:snapshot+optimistic')).toEqual([`double-insert: ${unique}`]);
    expect(judged(`${late}\nT1: ROLLBACK`, 'tidb:repeatable-read')).toEqual([`duplicate-key: ${unique}`]);
    expect(judged('T2: SELECT * FROM t -> 1,10,0 | 2,10,5', 'tidb:snapshot+optimistic')).toEqual([
      `duplicate-key: ${unique}`,
    ]);
  });

  it('are allowed to a reader of uncommitted rows while others write', () => {
    const moving =
      '[10,40] T1: UPDATE t SET u = 10 WHERE id = 2 -> 1\n[20,30] T2: SELECT u FROM t -> 10 | 10';
    expect(found(story(moving, { setup: keyed, dialect: 'mysql' }), 'mariadb:read-uncommitted')).toEqual([]);
    expect(found(story(moving, { setup: keyed, dialect: 'mysql' }), 'mariadb:read-committed')).toEqual([
      'duplicate-key: declared unique key',
    ]);
  });
});

describe('two committed INSERTs of one key', () => {
  const insert = (key: number) => `INSERT INTO t VALUES (${key}, ${key}, 0) -> 1`;

  it('are found when they overlap, follow each other, or meet an initial row', () => {
    expect(found(story(`[10,50] T1: ${insert(5)}\n[20,40] T2: ${insert(5)}`, { setup: keyed }))).toEqual([
      'double-insert: declared primary key',
      'double-insert: declared unique key',
    ]);
    expect(found(story('T1: INSERT INTO t VALUES (1, 3, 0) -> 1', { setup: keyed }))).toEqual([
      'double-insert: declared primary key',
    ]);
  });

  it('are right where something may have freed the key', () => {
    for (const freeing of [
      'DELETE FROM t WHERE id = 5 -> 1',
      'DELETE FROM t WHERE v = 0 -> 1',
      'UPDATE t SET id = 6, u = 6 WHERE id = 5 -> 1',
      'TRUNCATE t',
      'INSERT INTO t VALUES (5, 9, 9) ON CONFLICT (id) DO UPDATE SET id = 9, u = 9',
    ])
      expect(found(story(`T1: ${insert(5)}\nT2: ${freeing}\nT3: ${insert(5)}`, { setup: keyed }))).toEqual(
        [],
      );
  });

  it('are right where a statement inside another one may have freed the key', () => {
    const setup = [...keyed, 'CREATE TABLE log (id INT, u INT, v INT)'];
    const moved = 'WITH d AS (DELETE FROM t WHERE id = 5 RETURNING *) INSERT INTO log SELECT * FROM d -> 1';
    expect(found(story(`T1: ${insert(5)}\nT2: ${moved}\nT3: ${insert(5)}`, { setup }))).toEqual([]);
  });

  it('are right where the key is computed and what it is computed from has changed', () => {
    const setup = [
      'CREATE TABLE g (id INT PRIMARY KEY, v INT, k INT GENERATED ALWAYS AS (v * 2) STORED UNIQUE)',
      'INSERT INTO g (id, v) VALUES (1, 10)',
    ];
    const again = 'T2: INSERT INTO g (id, v) VALUES (3, 10) -> 1';
    expect(found(story(`T1: UPDATE g SET v = 11 WHERE id = 1 -> 1\n${again}`, { setup }))).toEqual([]);
    expect(found(story(`T1: UPDATE g SET v = 11 WHERE id = 2 -> 0\n${again}`, { setup }))).toEqual([
      'double-insert: declared unique key',
    ]);
  });

  it('are right where the key was freed before the second one was committed', () => {
    const late = (between: string) => `T2: BEGIN\nT2: ${insert(5)}\nT1: ${insert(5)}\n${between}T2: COMMIT`;
    const freed = 'T1: DELETE FROM t WHERE id = 5 -> 1\n';
    expect(found(story(late(freed), { setup: keyed, dialect: 'duckdb' }), 'duckdb:snapshot')).toEqual([]);
    expect(found(story(late(''), { setup: keyed, dialect: 'duckdb' }), 'duckdb:snapshot')).toHaveLength(2);
  });

  it('are found where what ran between them cannot have freed it', () => {
    for (const harmless of [
      'DELETE FROM t WHERE id = 4 -> 0',
      'UPDATE t SET v = 6 WHERE id = 5 -> 1',
      'DELETE FROM t WHERE id = 5 -> error serialization',
      'INSERT INTO t VALUES (5, 9, 9) ON CONFLICT DO NOTHING',
    ])
      expect(
        found(story(`T1: ${insert(5)}\nT2: ${harmless}\nT3: ${insert(5)}`, { setup: keyed })).length,
      ).toBeGreaterThan(0);
  });

  it('are not both counted unless both are certainly committed', () => {
    const open = (end: string) => `T1: BEGIN\nT1: ${insert(5)}\n${end}T2: ${insert(5)}`;
    for (const end of [
      'T1: ROLLBACK\n',
      '',
      'T1: ROLLBACK TO s\nT1: COMMIT\n',
      'T1: SELECT 1 -> error other\nT1: COMMIT\n',
    ])
      expect(found(story(open(end), { setup: keyed }))).toEqual([]);
    expect(found(story(open('T1: COMMIT\n'), { setup: keyed }))).toHaveLength(2);
  });
});

describe('conditions of a table', () => {
  const setup = ['CREATE TABLE c (id INT, n INT NOT NULL, m INT CHECK (m > 0))'];
  it('hold for every row that is shown', () => {
    expect(found(withNulls(story('T1: SELECT * FROM c -> 1,NULL,1', { setup })))).toEqual([
      'broken-constraint: declared not null',
    ]);
    expect(found(story('T1: SELECT * FROM c -> 1,1,0', { setup }))).toEqual([
      'broken-constraint: declared check',
    ]);
    expect(found(withNulls(story('T1: SELECT * FROM c -> 1,1,NULL', { setup })))).toEqual([]);
  });

  it('that divide are judged only on the engine whose dialect it is', () => {
    const divided = ['CREATE TABLE c (id INT PRIMARY KEY, v INT, CHECK (v / 3.0 <= 3.3))'];
    const history = story('T1: SELECT * FROM c -> 1,10', { setup: divided });
    expect(found(history, 'postgres:read-committed')).toEqual(['broken-constraint: declared check']);
    for (const contract of ['hsqldb:read-committed+locks', 'h2:read-committed', 'derby:serializable'])
      expect(found(history, contract)).toEqual([]);
  });

  it('are not judged where the engine does not check them, or not always', () => {
    const broken = story('T1: SELECT * FROM c -> 1,1,0', { setup, dialect: 'mysql' });
    expect(found(broken, 'tidb:repeatable-read')).toEqual([]);
    expect(found(broken, 'mysql:repeatable-read')).toEqual([]);
    expect(
      found(
        story('T1: SET check_constraint_checks = 0\nT1: SELECT * FROM c -> 1,1,0', {
          setup,
          dialect: 'mysql',
        }),
        'mariadb:repeatable-read',
      ),
    ).toEqual([]);
    const joined = 'T1: SELECT c.n FROM d LEFT JOIN c ON c.id = d.id -> NULL';
    expect(found(withNulls(story(joined, { setup: [...setup, 'CREATE TABLE d (id INT)'] })))).toEqual([]);
  });
});

describe('references', () => {
  const setup = [
    'CREATE TABLE p (id INT PRIMARY KEY)',
    'CREATE TABLE c (id INT, p INT, FOREIGN KEY (p) REFERENCES p (id))',
  ];
  const dangling = 'T1: SELECT * FROM c -> 1,7\nT1: SELECT * FROM p -> 1 | 2';
  it('lead to rows that exist, while nobody changes the tables', () => {
    expect(found(story(dangling, { setup }))).toEqual(['dangling-reference: declared foreign key']);
    expect(found(withNulls(story(dangling.replace('1,7', '1,NULL'), { setup })))).toEqual([]);
    expect(found(story(dangling.replace('| 2', '| 7'), { setup }))).toEqual([]);
  });

  it('are not judged by reads of different states, of parts, or where nobody checks them', () => {
    const between =
      'T1: SELECT * FROM c -> 1,7\nT2: DELETE FROM p WHERE id = 7 -> 1\nT1: SELECT * FROM p -> 1';
    expect(found(story(between, { setup }))).toEqual([]);
    expect(
      found(story('T1: SELECT * FROM c -> 1,7\nT1: SELECT * FROM p WHERE id < 5 -> 1', { setup })),
    ).toEqual([]);
    expect(found(story(dangling, { setup, dialect: 'sqlite' }), 'turso:snapshot+mvcc')).toEqual([]);
    const replica = "T1: SELECT set_config('session_replication_role', 'replica', false) -> replica";
    expect(found(story(`${replica}\n${dangling}`, { setup }))).toEqual([]);
    expect(found(story(`T2: SELECT id INTO TEMP p FROM c\n${dangling}`, { setup }))).toEqual([]);
  });
});

describe('the count of an INSERT', () => {
  it('is that of its VALUES', () => {
    const run = (count: number) =>
      found(story(`T1: INSERT INTO t VALUES (5, 5, 0), (6, 6, 0) -> ${count}`, { setup: keyed }));
    expect(run(2)).toEqual([]);
    expect(run(1)).toEqual(['short-insert: always']);
  });

  it('is judged in a table without constraints and without rows', () => {
    const insert = (count: number) => `T1: INSERT INTO plain VALUES (5, 5), (6, 6) -> ${count}`;
    const setup = ['CREATE TABLE plain (a INT, b INT)'];
    expect(found(story(insert(2), { setup }))).toEqual([]);
    expect(found(story(insert(1), { setup }))).toEqual(['short-insert: always']);
  });

  it('is not judged where rows may be left out', () => {
    const ignoring = 'T1: INSERT INTO t VALUES (5, 5, 0), (6, 6, 0) ON CONFLICT DO NOTHING -> 1';
    expect(found(story(ignoring, { setup: keyed }))).toEqual([]);
    const triggered = [...keyed, 'CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()'];
    expect(found(story('T1: INSERT INTO t VALUES (5, 5, 0) -> 0', { setup: triggered }))).toEqual([]);
  });
});

describe('a recorded history', () => {
  it('is held to its declared constraints by `check`, whichever oracle judges the rest', () => {
    const history = story(
      'T1: INSERT INTO t VALUES (7, 7, 0) -> 1\nT2: INSERT INTO t VALUES (7, 8, 0) -> 1',
      { setup: keyed },
    );
    const { valid, findings } = check(history, 'postgres:repeatable-read');
    expect(valid).toBe(false);
    expect(findings.map(({ kind, oracle }) => [kind, oracle])).toContainEqual([
      'double-insert',
      'constraints',
    ]);
  });
});
