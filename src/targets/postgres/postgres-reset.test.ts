/** Reset brings back exactly what the set-up built, by restoring where it can and by building where it must. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Scratch, Session, Target } from '../target.js';
import {
  connectOutsider,
  createOrdinaryUser,
  describePostgres,
  failureOf,
  openOwning,
  openSession,
  startServer,
} from './postgres-lab.case.js';

const setup = [
  'CREATE TABLE parent (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT)',
  `CREATE TABLE child (id SERIAL PRIMARY KEY, parent INT REFERENCES parent (id), n INT,
     double INT GENERATED ALWAYS AS (n * 2) STORED)`,
  'CREATE TABLE "Odd ""name""" (id INT, "a b" TEXT[], d DATE, f FLOAT8)',
  'CREATE TABLE emptied (id INT)',
  `INSERT INTO parent (name) VALUES ('a'), (NULL)`,
  'INSERT INTO child (parent, n) VALUES (1, 10), (2, 20), (2, 30)',
  `INSERT INTO "Odd ""name""" VALUES (1, '{x,"y z"}', '2024-02-29', 0.1)`,
];
const contents = [
  'SELECT * FROM parent',
  'SELECT * FROM child',
  'SELECT * FROM "Odd ""name"""',
  'TABLE emptied',
];

async function readAll(session: Session, queries = contents): Promise<unknown> {
  const answers = [];
  for (const sql of queries) answers.push(await session.execute(sql));
  return answers;
}

/** The number of the table tells a restore (same) from a build (new). */
async function tableNumber(session: Session, table = 'parent'): Promise<unknown> {
  return (await session.execute(`SELECT '${table}'::regclass::oid`)).rows?.[0]?.[0];
}

describePostgres('reset', () => {
  describe.each(['a superuser', 'an ordinary user'])('by %s', (who) => {
    let target: Target;
    let scratch: Scratch;
    let session: Session;
    let url: string;

    beforeAll(async () => {
      const server = await startServer();
      url = await createOrdinaryUser(server);
      const { login, host, port } = server;
      const superuser = `postgres://${login.user}:${login.password}@${host}:${port}/shop`;
      target = await openOwning(who === 'a superuser' ? superuser : url, server);
      scratch = await target.createScratch();
      session = await openSession(scratch);
    });
    afterAll(() => target.close());

    it('restores rows, generated columns and sequences without building', async () => {
      await scratch.reset(setup);
      const before = await readAll(session);
      const table = await tableNumber(session);
      for (let round = 0; round < 3; round++) {
        for (const sql of [
          'DELETE FROM child WHERE n = 20',
          'UPDATE child SET n = 99',
          `INSERT INTO parent (name) VALUES ('new')`,
          'INSERT INTO child (parent) VALUES (3)',
          'DELETE FROM "Odd ""name"""',
          'INSERT INTO emptied VALUES (1)',
        ]) {
          expect((await session.execute(sql)).error, sql).toBeUndefined();
        }
        const keys = await session.execute(`INSERT INTO parent (name) VALUES ('next') RETURNING id`);
        expect(keys.rows, 'the sequence starts where the set-up left it').toEqual([[4]]);
        await scratch.reset(setup);
        expect(await readAll(session)).toEqual(before);
        expect(await tableNumber(session)).toBe(table);
      }
    });

    it('builds on a new connection after some hundred set-ups: an old one remembers every table', async () => {
      const builders = [];
      for (let i = 0; i < 202; i++) {
        await scratch.reset([`CREATE TABLE t${i} AS SELECT pg_backend_pid() AS pid`]);
        if (i === 0 || i >= 200)
          builders.push((await session.execute(`SELECT pid FROM t${i}`)).rows?.[0]?.[0]);
      }
      expect(new Set(builders).size).toBe(2);
      await scratch.reset(setup);
      expect((await session.execute('SELECT count(*) FROM parent')).rows).toEqual([[2]]);
    }, 60_000);

    it.each([
      'ALTER TABLE child ADD COLUMN extra INT',
      'ALTER TABLE child ALTER COLUMN n SET DEFAULT 5',
      'ALTER TABLE child ALTER COLUMN n SET NOT NULL',
      'ALTER TABLE child DROP CONSTRAINT child_parent_fkey',
      'ALTER TABLE child ADD CHECK (n > 0)',
      'ALTER TABLE child RENAME TO renamed',
      'ALTER TABLE emptied ENABLE ROW LEVEL SECURITY',
      'CREATE UNIQUE INDEX ON child (n)',
      'DROP TABLE child',
      'CREATE TABLE stray (id INT)',
      'CREATE VIEW stray AS SELECT 1',
      'CREATE FUNCTION stray() RETURNS INT LANGUAGE sql AS $$ SELECT 1 $$',
      'CREATE TYPE stray AS ENUM ($$a$$)',
      'CREATE RULE stray AS ON INSERT TO emptied DO INSTEAD NOTHING',
      'ALTER SEQUENCE child_id_seq INCREMENT BY 10',
      'DO $$ BEGIN CREATE TABLE stray (id INT); END $$',
      'DROP TABLE emptied; CREATE TABLE emptied (id INT)',
    ])('builds again after %s', async (ddl) => {
      await scratch.reset(setup);
      const before = await readAll(session);
      const table = await tableNumber(session);
      expect((await session.execute(ddl)).error).toBeUndefined();
      await scratch.reset(setup);
      expect(await tableNumber(session)).not.toBe(table);
      expect(await readAll(session)).toEqual(before);
      expect((await session.execute(`SELECT to_regclass('stray'), to_regtype('stray')`)).rows).toEqual([
        [null, null],
      ]);
    });

    it.each([
      ['TRUNCATE', 'TRUNCATE child, emptied'],
      ['ANALYZE', 'ANALYZE child'],
      ['VACUUM', 'VACUUM child'],
    ])('needs no building after %s', async (_name, sql) => {
      await scratch.reset(setup);
      const before = await readAll(session);
      const table = await tableNumber(session);
      expect((await session.execute(sql)).error).toBeUndefined();
      await scratch.reset(setup);
      expect(await readAll(session)).toEqual(before);
      expect(await tableNumber(session)).toBe(table);
    });

    it('honours foreign keys that form a circle, point to their own table, or cascade', async () => {
      const circle = [
        'CREATE TABLE x (id INT PRIMARY KEY, y INT)',
        'CREATE TABLE y (id INT PRIMARY KEY, x INT REFERENCES x ON DELETE CASCADE)',
        'ALTER TABLE x ADD FOREIGN KEY (y) REFERENCES y',
        'CREATE TABLE tree (id INT PRIMARY KEY, up INT REFERENCES tree ON DELETE CASCADE)',
        'INSERT INTO x VALUES (1, NULL)',
        'INSERT INTO y VALUES (1, 1)',
        'UPDATE x SET y = 1',
        'INSERT INTO tree VALUES (1, NULL), (2, 1), (3, 2)',
      ];
      await scratch.reset(circle);
      const queries = ['TABLE x', 'TABLE y', 'TABLE tree'];
      const before = await readAll(session, queries);
      expect(
        (await session.execute('UPDATE x SET y = NULL; DELETE FROM y; DELETE FROM tree')).error,
      ).toBeUndefined();
      await scratch.reset(circle);
      expect(await readAll(session, queries)).toEqual(before);
    });

    it('fires no trigger of the case, and restores partitions and materialised views', async () => {
      const special = [
        'CREATE TABLE t (id INT)',
        'CREATE TABLE log (what TEXT)',
        `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN INSERT INTO log VALUES (TG_OP); RETURN NEW; END $$`,
        'CREATE TRIGGER noting AFTER INSERT OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION note()',
        'CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY RANGE (id)',
        'CREATE TABLE part1 PARTITION OF parts FOR VALUES FROM (0) TO (10)',
        'CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (10) TO (20)',
        'INSERT INTO parts VALUES (1), (11)',
        'INSERT INTO t VALUES (1)',
      ];
      const queries = ['TABLE t', 'TABLE log', 'SELECT * FROM parts ORDER BY id'];
      for (const statements of [
        special,
        [...special, 'CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM t'],
      ]) {
        await scratch.reset(statements);
        const before = await readAll(session, queries);
        for (let round = 0; round < 2; round++) {
          await session.execute('INSERT INTO t VALUES (2); DELETE FROM parts; INSERT INTO parts VALUES (5)');
          await scratch.reset(statements);
          expect(await readAll(session, queries)).toEqual(before);
        }
      }
    });

    it('keeps rows in the order of insertion, however often it restores', async () => {
      await scratch.reset(setup);
      const before = await readAll(session);
      const table = await tableNumber(session);
      for (let round = 0; round < 400; round++) {
        if (round % 50 === 0) await session.execute('UPDATE child SET n = n + 1; VACUUM child');
        await scratch.reset(setup);
      }
      expect(await readAll(session)).toEqual(before);
      expect(await tableNumber(session)).toBe(table);
      const size = await session.execute(`SELECT pg_relation_size('child')`);
      expect(Number(size.rows?.[0]?.[0]), 'bytes on disk stay bounded').toBeLessThan(400_000);
    });

    it('says so, within seconds, when a session still holds a lock', async () => {
      await scratch.reset(setup);
      await session.execute('BEGIN');
      await session.execute('UPDATE parent SET name = NULL');
      const error = await failureOf(scratch.reset(setup));
      expect([error.code, error.message]).toEqual(['target', expect.stringContaining('still holds locks')]);
      await session.execute('ROLLBACK');
      await scratch.reset(setup);
    });

    it('refuses a set-up that leaves a transaction open, and keeps none of its settings', async () => {
      const error = await failureOf(scratch.reset(['BEGIN', 'CREATE TABLE t (id INT)']));
      expect(error.message).toContain('leaves a transaction open');
      await scratch.reset(['SET search_path = public', 'SELECT 1']);
      await scratch.reset(['CREATE TABLE t (id INT)']);
      expect((await session.execute(`SELECT to_regclass('t') IS NOT NULL`)).rows).toEqual([[true]]);
    });

    it('survives the loss of its own connection', async () => {
      await scratch.reset(setup);
      const before = await readAll(session);
      const user = await connectOutsider(url);
      const ended = await user.execute(
        `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid NOT IN (${session.id}, ${user.id}) AND usename = current_user`,
      );
      expect(ended.error).toBeUndefined();
      await user.close();
      await session.execute('DELETE FROM child');
      await scratch.reset(setup).catch(() => scratch.reset(setup));
      expect(await readAll(session)).toEqual(before);
    });
  });
});
