/** What PostgreSQL says that other engines do not: its types, its tags, its ways to wait. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { isValue } from '../../sql/index.js';
import { eventually, within } from '../conformance/lab.case.js';
import type { Scratch, Session, Target } from '../target.js';
import { postgresDriver } from './index.js';
import { describePostgres, openSession } from './postgres-lab.case.js';

describePostgres('a PostgreSQL session', () => {
  let target: Target;
  let scratch: Scratch;
  let a: Session;
  let b: Session;

  beforeAll(async () => {
    target = await postgresDriver.open('postgres:', {});
    scratch = await target.createScratch();
  });
  afterAll(() => target.close());
  beforeEach(async () => {
    await scratch.reset([
      'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
      'INSERT INTO t VALUES (1, 10), (2, 20)',
    ]);
    [a, b] = await Promise.all([openSession(scratch), openSession(scratch)]);
  });
  afterEach(async () => {
    await Promise.all([a.close(), b.close()]);
  });

  it('is as new after it was renewed', async () => {
    const settings = "SELECT name, setting FROM pg_settings WHERE name <> 'application_name' ORDER BY name";
    const fresh = (await b.execute(settings)).rows;
    for (const sql of [
      'SET enable_seqscan = off',
      'SET search_path = pg_catalog',
      'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY',
      'SET lock_timeout = 1',
      'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
      'CREATE TEMPORARY TABLE mine (id INT)',
      'PREPARE p AS SELECT 1',
      'SELECT pg_advisory_lock(1)',
    ])
      expect((await a.execute(sql)).error, sql).toBeUndefined();
    expect((await a.execute(settings)).rows).not.toEqual(fresh);
    expect(await a.renew!()).toBe(true);
    expect((await a.execute(settings)).rows).toEqual(fresh);
    expect((await a.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[10]]);
    expect((await a.execute('SELECT * FROM mine')).error?.code).toBe('42P01');
    expect((await a.execute('EXECUTE p')).error).toBeDefined();
    expect((await b.execute('SELECT pg_try_advisory_lock(1)')).rows).toEqual([[true]]);
  });

  it('cannot be renewed inside a transaction', async () => {
    await a.execute('BEGIN');
    expect(await a.renew!()).toBe(false);
  });

  it.each([
    ['1::int2', 1],
    ['(-2147483648)::int4', -2147483648],
    ['9007199254740993::int8', { int: '9007199254740993' }],
    ['(-9007199254740991)::int8', -9007199254740991],
    ['1.10::numeric', { decimal: '1.10' }],
    ["'NaN'::numeric", { decimal: 'NaN' }],
    ['0.1::float4', 0.1],
    ['0.1::float8 + 0.2', 0.30000000000000004],
    ["'-Infinity'::float8", { double: '-Infinity' }],
    ['true', true],
    ['NULL::int', null],
    ["'grün'::text", 'grün'],
    ["'x'::char(3)", 'x  '],
    ["'untyped'", 'untyped'],
    ["'\\x00ff'::bytea", { bytes: '00ff' }],
    ["'2024-02-29'::date", { date: '2024-02-29' }],
    ["'13:45:00.5'::time", { time: '13:45:00.5' }],
    ["'13:45:00+02'::timetz", { time: '13:45:00+02' }],
    ["'2024-02-29 13:45:00.5'::timestamp", { timestamp: '2024-02-29 13:45:00.5' }],
    ["'2024-02-29 13:45:00.5+02'::timestamptz", { timestamp: '2024-02-29 11:45:00.5+00' }],
    ["'1 day 2 hours'::interval", { other: '1 day 02:00:00' }],
    ['ARRAY[1,2]', { other: '{1,2}' }],
    [`'{"a": 1}'::jsonb`, { other: '{"a": 1}' }],
    ["'6f3c4a52-9c0f-4f0e-8d6f-0a1b2c3d4e5f'::uuid", { other: '6f3c4a52-9c0f-4f0e-8d6f-0a1b2c3d4e5f' }],
    ["'[1,3)'::int4range", { other: '[1,3)' }],
    ['ROW(1, NULL)', { other: '(1,)' }],
  ])('reads %s as a canonical value', async (sql, expected) => {
    const { error, rows } = await a.execute(`SELECT ${sql}`);
    expect(error).toBeUndefined();
    expect(rows).toEqual([[expected]]);
    expect(isValue(rows?.[0]?.[0])).toBe(true);
  });

  it('answers a text of several statements with the last one', async () => {
    const answer = await a.execute('SELECT 1 AS x; UPDATE t SET v = v + 1');
    expect(answer).toEqual({ matched: 2, transaction: 'none' });
    expect(await a.execute('UPDATE t SET v = 0; SELECT 2 AS y')).toEqual({
      columns: ['y'],
      rows: [[2]],
      transaction: 'none',
    });
    expect(await a.execute('')).toEqual({ transaction: 'none' });
  });

  it('refuses COPY FROM STDIN instead of waiting for data, and shows COPY TO STDOUT as rows', async () => {
    const refused = await within(5000, 'the refusal', a.execute('COPY t FROM STDIN'));
    expect([refused.error?.class, refused.transaction]).toEqual(['unsupported', 'none']);
    expect((await a.execute('COPY t TO STDOUT')).rows).toEqual([['1\t10'], ['2\t20']]);
  });

  it('tells NOWAIT from a lock time-out', async () => {
    await a.execute('BEGIN');
    await a.execute('SELECT * FROM t WHERE id = 1 FOR UPDATE');
    const { error } = await b.execute('SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT');
    expect([error?.class, error?.code]).toEqual(['busy', '55P03']);
  });

  it('follows chained transactions and savepoints by what ended', async () => {
    await a.execute('BEGIN');
    await a.execute('SAVEPOINT s');
    expect(await a.execute('ROLLBACK TO s')).toEqual({ transaction: 'open' });
    expect(await a.execute('COMMIT AND CHAIN')).toEqual({ transaction: 'open', ended: 'commit' });
    await a.execute('SELECT 1/0');
    expect(await a.execute('COMMIT AND CHAIN')).toEqual({ transaction: 'open', ended: 'rollback' });
    expect(await a.execute('ROLLBACK')).toEqual({ transaction: 'none', ended: 'rollback' });
    expect(await a.execute('COMMIT')).toEqual({ transaction: 'none' });
  });

  it('says that COMMIT rolled back when serializability forbids it', async () => {
    const [x, y] = [
      await openSession(scratch, { level: 'serializable' }),
      await openSession(scratch, { level: 'serializable' }),
    ];
    for (const session of [x, y]) {
      await session.execute('BEGIN');
      await session.execute('SELECT sum(v) FROM t');
    }
    await x.execute('UPDATE t SET v = 0 WHERE id = 1');
    await y.execute('UPDATE t SET v = 0 WHERE id = 2');
    expect((await x.execute('COMMIT')).ended).toBe('commit');
    const loser = await y.execute('COMMIT');
    expect([loser.error?.class, loser.transaction, loser.ended]).toEqual([
      'serialization',
      'none',
      'rollback',
    ]);
    await Promise.all([x.close(), y.close()]);
  });

  it.each([
    ['a row', 'UPDATE t SET v = 1 WHERE id = 1', 'DELETE FROM t WHERE id = 1'],
    ['a unique key', 'INSERT INTO t VALUES (7, 7)', 'INSERT INTO t VALUES (7, 8)'],
    ['a table', 'LOCK TABLE t IN SHARE MODE', 'UPDATE t SET v = 1 WHERE id = 2'],
    ['an advisory lock', 'SELECT pg_advisory_xact_lock(42)', 'SELECT pg_advisory_xact_lock(42)'],
  ])('is seen to wait for %s, and no more once it goes on', async (_what, holding, wanting) => {
    await a.execute('BEGIN');
    await a.execute(holding);
    const pending = b.execute(wanting);
    await eventually(2000, 'it waits', async () => (await scratch.waiting()).has(b));
    await a.execute('ROLLBACK');
    await within(5000, 'it goes on', pending);
    expect((await scratch.waiting()).size).toBe(0);
  });

  it('is seen to wait for a safe snapshot', async () => {
    const [writer, reader] = [
      await openSession(scratch, { level: 'serializable' }),
      await openSession(scratch, { level: 'serializable' }),
    ];
    await writer.execute('BEGIN');
    await writer.execute('UPDATE t SET v = 1 WHERE id = 1');
    await reader.execute('BEGIN READ ONLY DEFERRABLE');
    const pending = reader.execute('SELECT * FROM t');
    await eventually(2000, 'it waits', async () => (await scratch.waiting()).has(reader));
    await writer.execute('COMMIT');
    expect((await within(5000, 'it goes on', pending)).error).toBeUndefined();
    await Promise.all([writer.close(), reader.close()]);
  });

  it('does not count a running statement as waiting, nor the waits of another scratch', async () => {
    const other = await target.createScratch();
    await other.reset(['CREATE TABLE t (id INT)', 'INSERT INTO t VALUES (1)']);
    const [c, d] = [await openSession(other), await openSession(other)];
    await c.execute('BEGIN');
    await c.execute('UPDATE t SET id = 2');
    const blocked = d.execute('UPDATE t SET id = 3');
    const sleeping = a.execute('SELECT pg_sleep(10)');
    await eventually(2000, 'the other scratch sees its own', async () => (await other.waiting()).has(d));
    expect((await scratch.waiting()).size).toBe(0);
    await a.cancel();
    expect((await sleeping).error?.class).toBe('cancelled');
    await other.drop();
    expect((await blocked).transaction).not.toBe('open');
  });

  it('closes at once while it waits for a lock, and leaves no lock behind', async () => {
    await a.execute('BEGIN');
    await a.execute('UPDATE t SET v = 1 WHERE id = 1');
    await b.execute('BEGIN');
    await b.execute('UPDATE t SET v = 2 WHERE id = 2');
    const pending = b.execute('UPDATE t SET v = 2 WHERE id = 1');
    await eventually(2000, 'it waits', async () => (await scratch.waiting()).has(b));
    await within(1500, 'it closes', b.close());
    expect((await pending).error).toBeDefined();
    expect((await a.execute('SELECT v FROM t WHERE id = 2 FOR UPDATE NOWAIT')).rows).toEqual([[20]]);
  });

  it('stays inside its schema after RESET ALL and DISCARD ALL', async () => {
    for (const sql of ['SET search_path = public', 'DISCARD ALL']) await a.execute(sql);
    expect((await a.execute('SHOW search_path')).rows).toEqual([[scratch.namespace]]);
    expect((await a.execute('SHOW default_transaction_isolation')).rows).toEqual([['read committed']]);
  });

  it('whose connection an administrator ends answers connection-lost, with what became of the transaction', async () => {
    await a.execute('BEGIN');
    const pending = a.execute('SELECT pg_sleep(20)');
    await b.execute(`SELECT pg_terminate_backend(${a.id})`);
    const answer = await within(5000, 'the answer', pending);
    expect([answer.error?.class, answer.error?.code, answer.transaction, answer.ended]).toEqual([
      'connection-lost',
      '57P01',
      'lost',
      'rollback',
    ]);
    expect((await a.execute('SELECT 1')).transaction).toBe('lost');
  });

  it('that the server never answers is given up', async () => {
    const stuck = await openSession(scratch, { statementTimeoutMs: 50 });
    await stuck.execute('SET statement_timeout = 0');
    const answer = await within(10_000, 'giving up', stuck.execute('SELECT pg_sleep(60)'));
    expect([answer.error?.class, answer.transaction, answer.ended]).toEqual([
      'connection-lost',
      'lost',
      'unknown',
    ]);
  });
});
