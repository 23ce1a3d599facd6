import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import type { Scratch, Session, Target } from '../target.js';
import { tursoAvailable, tursoDriver } from './index.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : tursoAvailable();
const twoRows = [
  'CREATE TABLE t(id INTEGER PRIMARY KEY, v INTEGER CHECK (v < 1000))',
  'INSERT INTO t VALUES (1, 10), (2, 20)',
];

const ownThread = {
  reason: 'a statement holds the thread until it ends, so nothing else can run meanwhile',
  unrun: true,
} as const;

for (const url of ['turso:', 'turso:?mode=mvcc']) {
  describe(url, () => {
    describeConformance({
      open: () => tursoDriver.open(url, {}),
      available: tursoAvailable,
      skips: {
        'statements of different sessions overlap in time': ownThread,
        ...(url === 'turso:?mode=mvcc' && {
          'DDL rolls back, or commits implicitly and says so, as declared':
            'Turso refuses DDL inside BEGIN CONCURRENT; inside a plain BEGIN it rolls back',
        }),
      },
    });
  });
}

describe.skipIf(missing !== undefined).each(['wal', 'mvcc'] as const)('Turso in mode %s', (mode) => {
  let target: Target;
  let scratch: Scratch;
  let a: Session;
  let b: Session;
  let begin: string;

  beforeAll(async () => {
    target = await tursoDriver.open(`turso:?mode=${mode}`, {});
    begin = target.levels[0]!.begin;
  });

  afterAll(() => target.close());

  beforeEach(async () => {
    scratch = await target.createScratch();
    const options = { level: target.defaultLevel, statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };
    a = await scratch.openSession(options);
    b = await scratch.openSession(options);
    await scratch.reset(twoRows);
  });

  afterEach(() => scratch.drop());

  it('ends the transaction by itself on a conflict in MVCC, and keeps it in WAL', async () => {
    for (const session of [a, b]) {
      await session.execute(begin);
      await session.execute('SELECT * FROM t');
    }
    await a.execute('UPDATE t SET v = 11 WHERE id = 1');
    const lost = await b.execute('UPDATE t SET v = 12 WHERE id = 1');
    expect(lost).toMatchObject(
      mode === 'mvcc'
        ? { error: { class: 'serialization' }, transaction: 'none', ended: 'rollback' }
        : { error: { class: 'busy' }, transaction: 'open' },
    );
    expect(await a.execute('COMMIT')).toMatchObject({ transaction: 'none', ended: 'commit' });
    if (mode === 'wal') {
      const stale = await b.execute('UPDATE t SET v = 12 WHERE id = 1');
      expect(stale).toMatchObject({ error: { class: 'serialization' }, transaction: 'open' });
      expect(await b.execute('COMMIT')).toMatchObject({ transaction: 'none', ended: 'commit' });
    }
    expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
  });

  it.runIf(mode === 'mvcc')(
    'refuses DDL in a concurrent transaction, and rolls it back in a plain one',
    async () => {
      await a.execute(begin);
      const refused = await a.execute('CREATE TABLE made(x INTEGER)');
      expect([refused.error?.class, refused.transaction]).toEqual(['unsupported', 'open']);
      await a.execute('ROLLBACK');
      await a.execute('BEGIN');
      expect((await a.execute('CREATE TABLE made(x INTEGER)')).transaction).toBe('open');
      await a.execute('ROLLBACK');
      expect((await a.execute('SELECT * FROM made')).error).toBeDefined();
    },
  );

  it.runIf(mode === 'mvcc')(
    'lets one plain BEGIN write at a time, which reads from its first statement on',
    async () => {
      await a.execute('BEGIN');
      await b.execute('BEGIN');
      await b.execute('UPDATE t SET v = 11 WHERE id = 1');
      expect((await a.execute('UPDATE t SET v = 12 WHERE id = 2')).error?.class).toBe('busy');
      await b.execute('COMMIT');
      await a.execute('ROLLBACK');
      await a.execute('BEGIN');
      await b.execute('UPDATE t SET v = 13 WHERE id = 1');
      expect((await a.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[13]]);
    },
  );

  it.runIf(mode === 'mvcc')('reports a conflict found at COMMIT as a rollback', async () => {
    await a.execute(begin);
    await b.execute(begin);
    await a.execute('INSERT INTO t VALUES (7, 7)');
    await b.execute('INSERT INTO t VALUES (7, 8)');
    await a.execute('COMMIT');
    expect(await b.execute('COMMIT')).toMatchObject({
      error: { class: 'serialization' },
      transaction: 'none',
      ended: 'rollback',
    });
  });

  it.each([
    ['INSERT INTO t VALUES (1, 1)', 'duplicate-key'],
    ['INSERT INTO t VALUES (3, 5000)', 'constraint'],
    ['SELEC 1', 'syntax'],
    ['SELECT * FROM nosuch', 'syntax'],
    ['-- nothing', 'syntax'],
    ['BEGIN', 'other'],
  ])('answers %s with class %s and keeps the transaction', async (sql, errorClass) => {
    await a.execute(begin);
    await a.execute('UPDATE t SET v = 11 WHERE id = 1');
    const answer = await a.execute(sql);
    expect([answer.error?.class, answer.transaction]).toEqual([errorClass, 'open']);
    expect((await a.execute('COMMIT')).ended).toBe('commit');
    expect((await b.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[11]]);
  });

  it('tells integers from reals, and keeps both exact', async () => {
    const sql = "SELECT 1, 1.0, 9007199254740993, 9e999, x'aa00', NULL, 'é', '1'";
    expect((await a.execute(sql)).rows).toEqual([
      [1, 1, { int: '9007199254740993' }, { double: 'Infinity' }, { bytes: 'aa00' }, null, 'é', '1'],
    ]);
  });

  it('counts rows with RETURNING too, and not for other statements', async () => {
    expect(await a.execute('UPDATE t SET v = v RETURNING id')).toEqual({
      columns: ['id'],
      rows: [[1], [2]],
      matched: 2,
      transaction: 'none',
    });
    expect(await a.execute('CREATE TABLE u(x INTEGER)')).toEqual({ transaction: 'none' });
  });

  it('resets in milliseconds with eight sessions open', async () => {
    const options = { level: target.defaultLevel, statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };
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
    const options = { level: target.defaultLevel, statementTimeoutMs: 5_000, lockTimeoutMs: 1_000 };
    const sessions = await Promise.all(Array.from({ length: 200 }, () => scratch.openSession(options)));
    const answers = await Promise.all(sessions.map((session) => session.execute('SELECT count(*) FROM t')));
    expect(answers.every((answer) => answer.rows?.[0]?.[0] === 2)).toBe(true);
  });
});

describe.skipIf(missing !== undefined)('where Turso puts its files', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'isolde-turso-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is a folder of our own in the folder of the URL, and drop removes it', async () => {
    const target = await tursoDriver.open(`turso:${folder}/`, {});
    const scratch = await target.createScratch();
    await scratch.reset(twoRows);
    expect(readdirSync(folder)).toEqual([scratch.namespace]);
    await target.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is never a file of the user', async () => {
    const file = join(folder, 'mine.db');
    writeFileSync(file, 'precious');
    await expect(tursoDriver.open(`turso:${file}`, {})).rejects.toMatchObject({ code: 'safety' });
    expect(existsSync(file)).toBe(true);
  });

  it('and a mode or package that does not exist is refused', async () => {
    await expect(tursoDriver.open('turso:?mode=fast', {})).rejects.toThrow(/wal, mvcc/);
    await expect(tursoDriver.open('turso:?package=isolde-no-such-package', {})).rejects.toMatchObject({
      code: 'engine-missing',
    });
  });
});
