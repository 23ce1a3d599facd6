/** What the conformance suite does not ask: MariaDB's own errors, transaction states, types and waits. */
import { describe, expect, it } from 'vitest';
import { isValue } from '../../sql/index.js';
import { WireConnection } from '../mysql/mysql-wire.js';
import { mariadbDriver } from './index.js';
import { describeLive, until } from './live-mariadb.case.js';

const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'];

describeLive('MariaDB', (live) => {
  describe('errors and transaction states', () => {
    it('a lock time-out keeps the transaction open', async () => {
      await live().scratch.reset(setup);
      const [a, b] = [await live().session(), await live().session({ lockTimeoutMs: 1 })];
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 1 WHERE id = 1');
      await b.execute('BEGIN');
      await b.execute('UPDATE t SET v = 2 WHERE id = 2');
      const late = await b.execute('UPDATE t SET v = 2 WHERE id = 1');
      expect(late).toMatchObject({ error: { class: 'lock-timeout', code: '1205' }, transaction: 'open' });
      expect(late.ended).toBeUndefined();
      expect((await b.execute('SELECT @@in_transaction')).rows).toEqual([[1]]);
      expect((await b.execute('SELECT v FROM t WHERE id = 2')).rows).toEqual([[2]]);
      const refused = await b.execute('SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT');
      expect(refused).toMatchObject({ error: { class: 'busy' }, transaction: 'open' });
      await Promise.all([a.close(), b.close()]);
    });

    it('a changed row under innodb_snapshot_isolation rolls everything back, and the next statement autocommits', async () => {
      await live().scratch.reset(setup);
      const [a, b] = [await live().session(), await live().session()];
      await b.execute('SET SESSION innodb_snapshot_isolation = ON');
      await b.execute('BEGIN');
      await b.execute('SELECT * FROM t');
      await a.execute('UPDATE t SET v = 11 WHERE id = 1');
      const conflict = await b.execute('UPDATE t SET v = 12 WHERE id = 1');
      expect(conflict).toMatchObject({
        error: { class: 'serialization', code: '1020' },
        transaction: 'none',
        ended: 'rollback',
      });
      expect((await b.execute('SELECT @@in_transaction')).rows).toEqual([[0]]);
      await b.execute('UPDATE t SET v = 13 WHERE id = 2');
      expect((await a.execute('SELECT v FROM t WHERE id = 2')).rows).toEqual([[13]]);
      await Promise.all([a.close(), b.close()]);
    });

    it('a deadlock of metadata locks rolls back too', async () => {
      await live().scratch.reset(['CREATE TABLE a (i INT)', 'CREATE TABLE b (i INT)']);
      const [one, two, alterA, alterB] = await Promise.all([0, 1, 2, 3].map(() => live().session()));
      await one!.execute('BEGIN');
      await one!.execute('INSERT INTO a VALUES (1)');
      await two!.execute('BEGIN');
      await two!.execute('INSERT INTO b VALUES (1)');
      const alters = [alterA!.execute('ALTER TABLE a ADD j INT'), alterB!.execute('ALTER TABLE b ADD j INT')];
      await until('both ALTERs wait', async () => (await live().scratch.waiting()).size === 2);
      const answers = [one!.execute('SELECT * FROM b'), two!.execute('SELECT * FROM a')];
      // The survivor may be answered first, so the victim is known by its error.
      const { victim, loser } = await Promise.any(
        answers.map(async (answer, i) => {
          const victim = await answer;
          if (victim.error === undefined) throw new Error('survived');
          return { victim, loser: [one!, two!][i]! };
        }),
      );
      expect(victim).toMatchObject({ error: { class: 'deadlock' }, transaction: 'none', ended: 'rollback' });
      expect((await loser.execute('SELECT @@in_transaction')).rows).toEqual([[0]]);
      await Promise.all([one!.execute('ROLLBACK'), two!.execute('ROLLBACK')]);
      await Promise.all([...alters, ...answers]);
      await Promise.all([one, two, alterA, alterB].map((session) => session!.close()));
    });

    it('DDL that fails has committed what was open; DDL that is no SQL has not', async () => {
      await live().scratch.reset(setup);
      const session = await live().session();
      await session.execute('BEGIN');
      await session.execute('UPDATE t SET v = 77 WHERE id = 1');
      const malformed = await session.execute('CREATE TABEL x (i INT)');
      expect(malformed).toMatchObject({ error: { class: 'syntax' }, transaction: 'open' });
      const failed = await session.execute('CREATE TABLE t (i INT)');
      expect(failed).toMatchObject({ error: { code: '1050' }, transaction: 'none', ended: 'commit' });
      await session.execute('ROLLBACK');
      expect((await session.execute('SELECT v FROM t WHERE id = 1')).rows).toEqual([[77]]);
      await session.close();
    });

    it('follows autocommit = 0, COMMIT AND CHAIN and BEGIN inside a transaction', async () => {
      await live().scratch.reset(setup);
      const session = await live().session();
      expect((await session.execute('SET autocommit = 0')).transaction).toBe('none');
      expect((await session.execute('SELECT * FROM t')).transaction).toBe('open');
      expect(await session.execute('COMMIT AND CHAIN')).toMatchObject({
        transaction: 'open',
        ended: 'commit',
      });
      expect(await session.execute('BEGIN')).toMatchObject({ transaction: 'open', ended: 'commit' });
      expect(await session.execute('SET autocommit = 1')).toMatchObject({ transaction: 'none' });
      await session.close();
    });

    it.each([
      ['INSERT INTO c VALUES (1, 99)', 'constraint'],
      ['DELETE FROM t WHERE id = 1', 'constraint'],
      ["INSERT INTO t VALUES (3, 'x')", 'data'],
      ['INSERT INTO t VALUES (3, 99999999999)', 'data'],
      ['SELECT * FROM missing', 'other'],
      ['SELECT nothing FROM t', 'other'],
      ['SELECT id FROM t WHERE id IN (SELECT id FROM t LIMIT 1)', 'unsupported'],
    ])('%s is answered with class %s', async (sql, name) => {
      await live().scratch.reset([
        ...setup,
        'CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES t (id))',
        'INSERT INTO c VALUES (5, 1)',
      ]);
      const session = await live().session();
      await session.execute('BEGIN');
      expect(await session.execute(sql)).toMatchObject({ error: { class: name }, transaction: 'open' });
      await session.close();
    });

    it('answers a procedure call with its rows and the state it left', async () => {
      await live().scratch.reset([
        ...setup,
        'CREATE PROCEDURE p() BEGIN START TRANSACTION; SELECT v FROM t; END',
      ]);
      const session = await live().session();
      const answer = await session.execute('CALL p()');
      expect(answer).toMatchObject({ columns: ['v'], rows: [[10], [20]], transaction: 'open' });
      await session.close();
    });
  });

  describe('values', () => {
    it('keeps every type as canonical data', async () => {
      const columns: readonly (readonly [type: string, literal: string, value: unknown])[] = [
        ['TINYINT(1)', 'TRUE', 1],
        ['BIGINT UNSIGNED', '18446744073709551615', { int: '18446744073709551615' }],
        ['INT(8) ZEROFILL', '42', 42],
        ['DECIMAL(30,10)', '12345678901234567890.1', { decimal: '12345678901234567890.1000000000' }],
        ['DOUBLE', '0.1', 0.1],
        ['DOUBLE', '5e-324', 5e-324],
        ['FLOAT', '1.5', 1.5],
        ['DATE', "'0001-01-01'", { date: '0001-01-01' }],
        ['TIME(3)', "'-838:59:58.123'", { time: '-838:59:58.123' }],
        ['DATETIME(6)', "'2024-02-29 13:45:00.000001'", { timestamp: '2024-02-29 13:45:00.000001' }],
        ['TIMESTAMP NULL', "'2024-02-29 13:45:00'", { timestamp: '2024-02-29 13:45:00+00' }],
        ['YEAR', '2024', 2024],
        ['CHAR(3)', "'ab'", 'ab'],
        ['VARCHAR(9) CHARACTER SET latin1', "'é'", 'é'],
        ['TEXT', "'🦆'", '🦆'],
        ['BINARY(3)', "x'01'", { bytes: '010000' }],
        ['BLOB', "x'00ff'", { bytes: '00ff' }],
        ['BLOB', "''", { bytes: '' }],
        ['BIT(9)', "b'100000001'", { bytes: '0101' }],
        ["ENUM('x','y')", "'y'", 'y'],
        ["SET('x','y')", "'x,y'", 'x,y'],
        ['JSON', '\'{"a": 1}\'', { other: '{"a": 1}' }],
        ['UUID', "'123e4567-e89b-12d3-a456-426655440000'", '123e4567-e89b-12d3-a456-426655440000'],
        ['INT', 'NULL', null],
      ];
      const types = columns.map(([type], i) => `c${i} ${type}`).join(', ');
      await live().scratch.reset([`CREATE TABLE x (${types})`]);
      const session = await live().session();
      const inserted = await session.execute(
        `INSERT INTO x VALUES (${columns.map(([, text]) => text).join(', ')})`,
      );
      expect(inserted.error).toBeUndefined();
      const { rows } = await session.execute('SELECT * FROM x');
      expect(rows).toEqual([columns.map(([, , value]) => value)]);
      expect(rows![0]!.every(isValue)).toBe(true);
      await session.close();
    });

    it('counts the rows of RETURNING', async () => {
      await live().scratch.reset(setup);
      const session = await live().session();
      const answer = await session.execute('DELETE FROM t WHERE id > 0 RETURNING id');
      expect(answer).toMatchObject({ rows: [[1], [2]], matched: 2, changed: 2, transaction: 'none' });
      await session.close();
    });
  });

  describe('waiting', () => {
    it('sees waits in milliseconds, of its own scratch only', async () => {
      const other = await live().target.createScratch();
      await Promise.all([live().scratch.reset(setup), other.reset(setup)]);
      const [a, b] = [await live().session(), await live().session()];
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 1 WHERE id = 1');
      const pending = b.execute('UPDATE t SET v = 2 WHERE id = 1');
      await until('b waits', async () => (await live().scratch.waiting()).has(b), 500);
      // A statement of the other scratch that is busy, not blocked.
      const busy = await other.openSession({
        level: 'serializable',
        statementTimeoutMs: 9000,
        lockTimeoutMs: 9000,
      });
      const sleeping = busy.execute('SELECT SLEEP(5)');
      for (let i = 0; i < 20; i++) expect((await other.waiting()).size).toBe(0);
      const start = performance.now();
      for (let i = 0; i < 20; i++) expect([...(await live().scratch.waiting())]).toEqual([b]);
      expect((performance.now() - start) / 20).toBeLessThan(20);
      await a.execute('ROLLBACK');
      expect((await pending).error).toBeUndefined();
      expect((await live().scratch.waiting()).size).toBe(0);
      await other.drop();
      expect((await sleeping).transaction).toBe('lost');
      await Promise.all([a.close(), b.close()]);
    });

    it('sees waits for metadata locks and user locks', async () => {
      await live().scratch.reset(setup);
      const [a, b, c] = [await live().session(), await live().session(), await live().session()];
      await a.execute('BEGIN');
      await a.execute('SELECT * FROM t');
      await a.execute("SELECT GET_LOCK('isolde', 1)");
      const pending = [b.execute('ALTER TABLE t ADD w INT'), c.execute("SELECT GET_LOCK('isolde', 5)")];
      await until('both wait', async () => (await live().scratch.waiting()).size === 2);
      await a.close();
      for (const answer of await Promise.all(pending)) expect(answer.error).toBeUndefined();
      await Promise.all([b.close(), c.close()]);
    });

    it('closing a session that waits frees what it holds', async () => {
      await live().scratch.reset(setup);
      const [a, b, c] = [await live().session(), await live().session(), await live().session()];
      await a.execute('BEGIN');
      await a.execute('UPDATE t SET v = 1 WHERE id = 1');
      await b.execute('BEGIN');
      await b.execute('UPDATE t SET v = 2 WHERE id = 2');
      const pending = b.execute('UPDATE t SET v = 2 WHERE id = 1');
      await until('b waits', async () => (await live().scratch.waiting()).has(b));
      await b.close();
      expect(await pending).toMatchObject({
        error: { class: 'connection-lost' },
        transaction: 'lost',
        ended: 'rollback',
      });
      expect((await c.execute('UPDATE t SET v = 3 WHERE id = 2')).error).toBeUndefined();
      await Promise.all([a.close(), c.close()]);
    });
  });

  describe('reset', () => {
    it('is quick when the schema is unchanged', async () => {
      const tables = ['a', 'b', 'c'].flatMap((name) => [
        `CREATE TABLE ${name} (id INT PRIMARY KEY, v INT)`,
        `INSERT INTO ${name} VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)`,
      ]);
      await live().scratch.reset(tables);
      await live().scratch.reset(tables);
      const times: number[] = [];
      for (let i = 0; i < 21; i++) {
        const start = performance.now();
        await live().scratch.reset(tables);
        times.push(performance.now() - start);
      }
      expect(times.sort((x, y) => x - y)[10]!).toBeLessThan(10);
    });

    it('does not fire triggers, and rebuilds generated columns and views', async () => {
      const all = [
        'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT AS (v * 2) STORED)',
        'CREATE TABLE log (i INT)',
        'CREATE VIEW big AS SELECT * FROM t WHERE v > 10',
        'INSERT INTO t (id, v) VALUES (1, 10), (2, 20)',
      ];
      const triggered = [
        ...all,
        'CREATE TRIGGER g AFTER DELETE ON t FOR EACH ROW INSERT INTO log VALUES (OLD.id)',
      ];
      for (const setup of [all, triggered]) {
        await live().scratch.reset(setup);
        const session = await live().session();
        await session.execute('UPDATE t SET v = 1');
        await session.execute('DELETE FROM t WHERE id = 1');
        await live().scratch.reset(setup);
        expect((await session.execute('SELECT * FROM log')).rows).toEqual([]);
        expect((await session.execute('SELECT * FROM t')).rows).toEqual([
          [1, 10, 20],
          [2, 20, 40],
        ]);
        expect((await session.execute('SELECT id FROM big')).rows).toEqual([[2]]);
        await session.close();
      }
    });

    it('says who holds locks when it cannot go on', async () => {
      await live().scratch.reset(setup);
      const session = await live().session();
      await session.execute('BEGIN');
      await session.execute('UPDATE t SET v = 0');
      await expect(live().scratch.reset(setup)).rejects.toThrow(
        new RegExp(`Session ${session.id} of this scratch still holds locks`),
      );
      await session.execute('ROLLBACK');
      await live().scratch.reset(setup);
      expect((await session.execute('SELECT v FROM t')).rows).toEqual([[10], [20]]);
      await session.close();
    });

    it('leaves no variable of a set-up behind', async () => {
      await live().scratch.reset(["SET sql_mode = 'ANSI_QUOTES'", 'CREATE TABLE "t" (id INT)']);
      await expect(live().scratch.reset(['CREATE TABLE "t" (id INT)'])).rejects.toThrow(/CREATE TABLE "t"/);
    });
  });

  describe('a server that belongs to somebody', () => {
    it('is not sent statements that reach beyond the scratch', async () => {
      await live().scratch.reset(setup);
      const session = await live().session();
      expect(await session.execute('DROP DATABASE mysql')).toMatchObject({
        error: { class: 'unsupported' },
        transaction: 'none',
      });
      await expect(live().scratch.reset(['CREATE DATABASE shop'])).rejects.toMatchObject({ code: 'safety' });
      await session.close();
    });

    it('has a script for a login that may change the scratch alone', async () => {
      const reach = await live().target.reach!();
      if (reach.kind !== 'beyond') throw new Error(reach.kind);
      const [, ...script] = reach.advice.replace('…', 'its password').split('\n');
      const root = await WireConnection.open(live().server.address);
      for (const sql of script) expect((await root.query(sql)).error).toBeUndefined();
      await root.quit();
      const user = /CREATE USER '(.*?)'/.exec(reach.advice)![1]!;
      const target = await mariadbDriver.open(live().url('', `${user}:its%20password`), {});
      try {
        expect(await target.reach!()).toEqual({ kind: 'scratch' });
        const scratch = await target.createScratch();
        await scratch.reset(setup);
        expect(await target.reach!()).toEqual({ kind: 'scratch' });
        const options = { level: target.defaultLevel, statementTimeoutMs: 5000, lockTimeoutMs: 1000 };
        const session = await scratch.openSession(options);
        expect((await session.execute('SELECT COUNT(*) FROM t')).rows).toEqual([[2]]);
      } finally {
        await target.close();
      }
    });

    it('keeps the lock of a deleted row as long as it keeps the row from being purged', async () => {
      const { scratch } = live();
      await scratch.reset(setup);
      const level = 'read committed' as const;
      const [a, b, c] = [
        await live().session({ level }),
        await live().session({ level }),
        await live().session({ level }),
      ];
      const letPurge = await scratch.keepHistory!();
      for (const one of [a, b, c]) await one.execute('BEGIN');
      await a.execute('DELETE FROM t WHERE id = 1');
      const [second, third] = [b, c].map((one) => one.execute('UPDATE t SET v = 5 WHERE id = 1'));
      let answered = false;
      void third!.then(() => {
        answered = true;
      });
      await until('both wait', async () => (await scratch.waiting()).size === 2);
      await a.execute('COMMIT');
      expect(await second).toMatchObject({ matched: 0 });
      // Long enough for a purge that nothing keeps back.
      await b.execute('SELECT SLEEP(0.2)');
      expect(answered).toBe(false);
      await letPurge();
      await until('the row is purged, and its lock gone', () => answered);
      for (const one of [a, b, c]) await one.close();
    });

    it('works with two hundred sessions', async () => {
      await live().scratch.reset(setup);
      const sessions = await Promise.all(Array.from({ length: 200 }, () => live().session()));
      const answers = await Promise.all(sessions.map((session) => session.execute('SELECT COUNT(*) FROM t')));
      expect(answers.every(({ rows }) => rows?.[0]?.[0] === 2)).toBe(true);
      await Promise.all(sessions.map((session) => session.close()));
    });

    it('keeps nothing of a dropped scratch', async () => {
      const scratch = await live().target.createScratch();
      await scratch.reset(setup);
      await scratch.drop();
      const wire = await WireConnection.open(live().server.address);
      const { rows } = await wire.query(`SHOW DATABASES LIKE '${scratch.namespace}%'`);
      expect(rows).toEqual([]);
      await wire.quit();
    });
  });
});
