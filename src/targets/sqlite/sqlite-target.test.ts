import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import type { Scratch, Session, Target } from '../target.js';
import { sqliteAvailable, sqliteDriver } from './index.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : sqliteAvailable();
const twoRows = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER CHECK (v < 1000))',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
];
const options = { level: 'serializable', statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 } as const;

const ownThread = {
  reason: 'the driver is synchronous: a statement holds the thread until it ends',
  unrun: true,
} as const;

for (const url of ['sqlite:', 'sqlite:?journal=delete']) {
  describe(url, () => {
    describeConformance({
      open: () => sqliteDriver.open(url, {}),
      available: sqliteAvailable,
      skips: {
        'a statement that runs too long ends with statement-timeout': ownThread,
        'statements of different sessions overlap in time': ownThread,
      },
    });
  });
}

describe.skipIf(missing !== undefined).each(['wal', 'delete'] as const)(
  'SQLite with journal %s',
  (journal) => {
    let target: Target;
    let scratch: Scratch;
    let a: Session;
    let b: Session;

    beforeAll(async () => {
      target = await sqliteDriver.open(`sqlite:?journal=${journal}`, {});
    });

    afterAll(() => target.close());

    beforeEach(async () => {
      scratch = await target.createScratch();
      a = await scratch.openSession(options);
      b = await scratch.openSession(options);
      await scratch.reset(twoRows);
    });

    afterEach(() => scratch.drop());

    it('really uses the journal it was asked for', async () => {
      expect((await a.execute('PRAGMA journal_mode')).rows).toEqual([[journal]]);
    });

    it.each([
      'UPDATE t SET v = 12 WHERE id = 2',
      'UPDATE t SET v = 12 WHERE id = 2 RETURNING id',
      'INSERT INTO t VALUES (3, 30)',
    ])('answers busy to "%s", and COMMIT works afterwards', async (sql) => {
      await a.execute('BEGIN IMMEDIATE');
      await b.execute('BEGIN');
      await b.execute('SELECT * FROM t');
      for (let attempt = 0; attempt < 3; attempt++) {
        const busy = await b.execute(sql);
        expect(busy).toMatchObject({ error: { class: 'busy', code: 'SQLITE_BUSY' }, transaction: 'open' });
      }
      expect(await b.execute('COMMIT')).toEqual({ transaction: 'none', ended: 'commit' });
      await a.execute('ROLLBACK');
      expect((await b.execute(sql)).matched).toBe(1);
    });

    it('answers a write on a stale snapshot as serialization in WAL, and busy to the COMMIT without it', async () => {
      await b.execute('BEGIN');
      await b.execute('SELECT * FROM t');
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 11 WHERE id = 1');
      const commit = await a.execute('COMMIT');
      if (journal === 'wal') {
        expect(commit.ended).toBe('commit');
        for (const sql of ['UPDATE t SET v = 12', 'UPDATE t SET v = 12 RETURNING id']) {
          expect(await b.execute(sql)).toMatchObject({
            error: { class: 'serialization', code: 'SQLITE_BUSY_SNAPSHOT' },
            transaction: 'open',
          });
        }
        expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[10]]);
      } else {
        expect(commit).toMatchObject({ error: { class: 'busy' }, transaction: 'open' });
        // The pending lock now keeps new readers out; they must recover too.
        const reader = await scratch.openSession(options);
        await reader.execute('BEGIN');
        expect((await reader.execute('SELECT * FROM t')).error?.class).toBe('busy');
        expect((await reader.execute('COMMIT')).ended).toBe('commit');
      }
      expect(await b.execute('COMMIT')).toEqual({ transaction: 'none', ended: 'commit' });
      if (journal === 'delete') expect((await a.execute('COMMIT')).ended).toBe('commit');
      expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
    });

    it.each([
      ['INSERT INTO t VALUES (1, 1)', 'duplicate-key'],
      ['INSERT INTO t VALUES (1, 1) RETURNING id', 'duplicate-key'],
      ['INSERT INTO t VALUES (3, 5000)', 'constraint'],
      ['SELEC 1', 'syntax'],
      ['SELECT * FROM nosuch', 'syntax'],
      ['SELECT abs(-9223372036854775807 - 1)', 'data'],
      ['BEGIN', 'other'],
    ])('answers %s with class %s and keeps the transaction', async (sql, errorClass) => {
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 11 WHERE id = 1');
      const answer = await a.execute(sql);
      expect([answer.error?.class, answer.transaction]).toEqual([errorClass, 'open']);
      expect((await a.execute('COMMIT')).ended).toBe('commit');
      expect((await b.execute('SELECT v FROM t ORDER BY id')).rows).toEqual([[11], [20]]);
    });

    it('tells when a statement ends the transaction by itself', async () => {
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 11 WHERE id = 1');
      expect(await a.execute('INSERT OR ROLLBACK INTO t VALUES (2, 2) RETURNING id')).toMatchObject({
        error: { class: 'duplicate-key' },
        transaction: 'none',
        ended: 'rollback',
      });
      await a.execute('SAVEPOINT s');
      await a.execute('UPDATE t SET v = 13 WHERE id = 1');
      expect(await a.execute('RELEASE s')).toEqual({ transaction: 'none', ended: 'commit' });
      expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[13]]);
    });

    it('runs a write with RETURNING once, whatever its rehearsal did', async () => {
      await scratch.reset([
        'CREATE TABLE k(id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER)',
        'INSERT INTO k(n) VALUES (1)',
      ]);
      expect(await a.execute('INSERT INTO k(n) VALUES (2) RETURNING id')).toEqual({
        columns: ['id'],
        rows: [[2]],
        matched: 1,
        transaction: 'none',
      });
      await a.execute('BEGIN');
      expect((await a.execute('UPDATE k SET n = n + 1 RETURNING n')).rows).toEqual([[2], [3]]);
      await a.execute('COMMIT');
      expect((await b.execute('SELECT id, n FROM k')).rows).toEqual([
        [1, 2],
        [2, 3],
      ]);
      expect((await b.execute("SELECT seq FROM sqlite_sequence WHERE name = 'k'")).rows).toEqual([[2]]);
      expect((await a.execute("UPDATE k SET n = 5 WHERE 'returning' = ''")).matched).toBe(0);
    });

    it('tells integers from reals, and keeps both exact', async () => {
      const sql = "SELECT 1, 1.5, 9007199254740993, 9e999, x'aa00', NULL, 'é', '1'";
      expect((await a.execute(sql)).rows).toEqual([
        [1, 1.5, { int: '9007199254740993' }, { double: 'Infinity' }, { bytes: 'aa00' }, null, 'é', '1'],
      ]);
    });

    it('lets timers run while sessions are busy', async () => {
      let late = true;
      setTimeout(() => {
        late = false;
      }, 20);
      const limit = performance.now() + 5_000;
      while (late && performance.now() < limit) await a.execute('SELECT 1');
      expect(late).toBe(false);
    });

    it('resets in milliseconds with eight sessions open', async () => {
      for (let i = 0; i < 6; i++) await scratch.openSession(options);
      const times: number[] = [];
      for (let run = 0; run < 11; run++) {
        const start = performance.now();
        await scratch.reset(twoRows);
        times.push(performance.now() - start);
      }
      // The best of many, with room for a busy machine: idle, it is a few milliseconds.
      expect(Math.min(...times)).toBeLessThan(250);
    });

    it('opens 200 sessions that all answer', async () => {
      const sessions = await Promise.all(Array.from({ length: 200 }, () => scratch.openSession(options)));
      const answers = await Promise.all(sessions.map((session) => session.execute('SELECT count(*) FROM t')));
      expect(answers.every((answer) => answer.rows?.[0]?.[0] === 2)).toBe(true);
    });
  },
);

describe.skipIf(missing !== undefined)('where SQLite puts its files', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'isolde-sqlite-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is a folder of our own in the folder of the URL, with one database at a time, and drop removes it', async () => {
    const target = await sqliteDriver.open(`sqlite:${folder}`, {});
    const scratch = await target.createScratch();
    for (let run = 0; run < 3; run++) await scratch.reset(twoRows);
    expect(readdirSync(folder)).toEqual([scratch.namespace]);
    const databases = readdirSync(join(folder, scratch.namespace)).filter((name) => name.endsWith('.db'));
    expect(databases).toHaveLength(1);
    await target.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is never a file of the user', async () => {
    const file = join(folder, 'mine.db');
    writeFileSync(file, 'precious');
    await expect(sqliteDriver.open(`sqlite:${file}`, {})).rejects.toMatchObject({ code: 'safety' });
    await expect(sqliteDriver.open('sqlite:?journal=off', {})).rejects.toThrow(/wal, delete/);
  });
});
