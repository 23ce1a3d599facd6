/** A private MySQL server: what it is held to, and what the SQL of cases cannot do on it. */
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Scratch, Session, Target } from '../target.js';
import { mysqlAvailable, mysqlDriver } from './index.js';
import { until } from './live-server.case.js';

const missing = mysqlAvailable();

describe.skipIf(missing !== undefined)(
  `a private MySQL server${missing === undefined ? '' : ` (${missing})`}`,
  () => {
    let folder: string;
    let target: Target;
    let scratch: Scratch;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'isolde-test-'));
      target = await mysqlDriver.open('mysql:?innodb_rollback_on_timeout=ON', { scratchFolder: folder });
      scratch = await target.createScratch();
    });
    afterAll(async () => {
      await target?.close();
      expect(readdirSync(folder)).toEqual([]);
      await rm(folder, { recursive: true, force: true });
    });
    const session = (): Promise<Session> =>
      scratch.openSession({ level: 'repeatable read', statementTimeoutMs: 20_000, lockTimeoutMs: 1000 });
    const setup = ['CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1)'];

    it('is held to the contracts of its levels, with the variables of the URL', () => {
      expect(target).toMatchObject({ name: 'mysql', defaultLevel: 'repeatable read' });
      expect(target.stamp.settings).toMatchObject({
        innodb_rollback_on_timeout: 'ON',
        default_storage_engine: 'InnoDB',
        transaction_isolation: 'REPEATABLE-READ',
      });
      for (const { level, contract } of target.levels) {
        expect(contract).toBe(`mysql:${level.replaceAll(' ', '-')}`);
        expect(findContract(contract)).toBeDefined();
      }
      expect(target.levels).toHaveLength(4);
    });

    it('lets cases reach nothing but their scratch', async () => {
      expect(await target.reach?.()).toEqual({ kind: 'scratch' });
      await scratch.reset(setup);
      const someone = await session();
      expect((await someone.execute("SELECT LOAD_FILE('/etc/hostname')")).rows ?? [[null]]).toEqual([[null]]);
      for (const sql of [
        "SELECT 1 INTO OUTFILE '/tmp/isolde-outfile'",
        'SELECT * FROM mysql.user',
        'CREATE DATABASE shop',
        'SET GLOBAL max_connections = 5',
        'SET PERSIST max_connections = 5',
        'SHUTDOWN',
        "CREATE USER mallory IDENTIFIED BY 'm'",
      ]) {
        expect((await someone.execute(sql)).error, sql).toBeDefined();
      }
      await someone.close();
    });

    it('sees waits for rows and for tables', async () => {
      await scratch.reset(setup);
      const [a, b] = [await session(), await session()];
      await a.execute('BEGIN');
      await a.execute('DELETE FROM t');
      for (const sql of ['DELETE FROM t', 'DROP TABLE t']) {
        const pending = b.execute(sql);
        await until(`${sql} waits`, async () => (await scratch.waiting()).has(b));
        expect((await pending).error).toMatchObject({ class: 'lock-timeout' });
      }
      await a.execute('ROLLBACK');
      await a.close();
      await b.close();
    });

    it('sees the waits of transactions that have written nothing', async () => {
      await scratch.reset(setup);
      const a = await session();
      await a.execute('BEGIN');
      await a.execute('DELETE FROM t');
      for (const [level, sql] of [
        ['serializable', 'SELECT * FROM t'],
        ['read committed', 'SELECT * FROM t FOR SHARE'],
      ] as const) {
        const b = await scratch.openSession({ level, statementTimeoutMs: 20_000, lockTimeoutMs: 10_000 });
        await b.execute('BEGIN');
        const pending = b.execute(sql);
        await until(`${sql} waits`, async () => (await scratch.waiting()).has(b));
        await b.cancel();
        expect((await pending).error).toMatchObject({ class: 'cancelled' });
        await b.close();
      }
      await a.close();
    });

    it('reuses its database for another set-up, and leaves nothing of the first behind', async () => {
      await scratch.reset([...setup, 'CREATE VIEW w AS SELECT id FROM t']);
      await scratch.reset(['CREATE TABLE u (id INT PRIMARY KEY AUTO_INCREMENT)', 'INSERT INTO u VALUES (7)']);
      const someone = await session();
      expect((await someone.execute('SHOW TABLES')).rows?.filter(([name]) => name !== 'isolde_mark')).toEqual(
        [['u']],
      );
      await someone.close();
    });
  },
);
