/** Names in faults of keys and deletes: spelt in another case, and quoted where that makes them others. */
import { describe, expect, it } from 'vitest';
import { duckdbDriver } from '../duckdb/index.js';
import { postgresAvailable, postgresDriver } from '../postgres/index.js';
import type { Session, TargetOpener } from '../target.js';
import { parseFault } from './fault-spec.js';
import { withFault } from './faulty-target.js';

interface Run {
  readonly driver: TargetOpener;
  readonly url: string;
  readonly fault: string;
  readonly setup: readonly string[];
}

/** What two sessions of a faulty target answer. */
async function withSessions<T>(
  { driver, url, fault, setup }: Run,
  use: (a: Session, b: Session) => Promise<T>,
): Promise<T> {
  const target = await driver.open(url, {});
  const scratch = await withFault(target, parseFault(fault)).createScratch();
  try {
    await scratch.reset(setup);
    const options = { level: target.levels.at(-1)!.level, statementTimeoutMs: 10_000, lockTimeoutMs: 5000 };
    return await use(await scratch.openSession(options), await scratch.openSession(options));
  } finally {
    await scratch.drop();
    await target.close();
  }
}

async function send(session: Session, ...statements: readonly string[]) {
  let rows: unknown;
  for (const sql of statements) {
    const answer = await session.execute(sql);
    expect([sql, answer.error]).toEqual([sql, undefined]);
    rows = answer.rows;
  }
  return rows;
}

const duckdb = { driver: duckdbDriver, url: 'duckdb:' };
const postgres = { driver: postgresDriver, url: 'postgres:' };

describe('names that differ in case alone', () => {
  const setup = ['CREATE TABLE tab (id INT, v INT, PRIMARY KEY (ID))', 'INSERT INTO tab VALUES (1, 10)'];

  it('are one for key-of-uncommitted-delete', async () => {
    const rows = await withSessions(
      { ...duckdb, fault: 'key-of-uncommitted-delete', setup },
      async (a, b) => {
        await send(a, 'BEGIN', 'DELETE FROM TAB WHERE id = 1');
        return send(b, 'INSERT INTO Tab (Id, v) VALUES (1, 30)', 'SELECT * FROM tab ORDER BY v');
      },
    );
    expect(rows).toEqual([
      [1, 10],
      [1, 30],
    ]);
  });

  it.each([
    'visible-committed-delete',
    'visible-committed-delete(key=ID)',
    'visible-committed-delete(key=V)',
  ])('are one for %s', async (fault) => {
    const rows = await withSessions({ ...duckdb, fault, setup }, (a, b) =>
      send(a, 'DELETE FROM tab WHERE id = 1', 'INSERT INTO tab VALUES (1, 11)').then(() =>
        send(b, 'SELECT v FROM TAB ORDER BY v'),
      ),
    );
    expect(rows).toEqual(fault.includes('key=V') ? [[10], [11]] : [[11]]);
  });
});

const missing = postgresAvailable();
describe.skipIf(missing !== undefined)(`PostgreSQL's quoted names ${missing ?? ''}`, () => {
  const setup = [
    'CREATE TABLE "Tab" (id INT, "ID" INT, "V" INT, PRIMARY KEY ("ID"))',
    'INSERT INTO "Tab" VALUES (7, 1, 10)',
  ];

  it('are told from unquoted ones by key-of-uncommitted-delete', async () => {
    const rows = await withSessions(
      { ...postgres, fault: 'key-of-uncommitted-delete', setup },
      async (a, b) => {
        await send(a, 'BEGIN', 'DELETE FROM "Tab" WHERE "ID" = 1');
        await send(b, 'INSERT INTO "Tab" (id, "ID", "V") VALUES (7, 2, 20)');
        return send(b, 'INSERT INTO "Tab" VALUES (8, 1, 30)', 'SELECT id, "V" FROM "Tab" ORDER BY "V"');
      },
    );
    expect(rows).toEqual([
      [7, 10],
      [7, 20],
      [8, 30],
    ]);
  });

  it('are written so by the others', async () => {
    const resurrected = await withSessions({ ...postgres, fault: 'resurrected-row', setup }, (a, b) =>
      send(a, 'DELETE FROM "Tab" WHERE "ID" = 1').then(() => send(b, 'SELECT "ID" FROM "Tab"')),
    );
    expect(resurrected).toEqual([[1]]);
    const counted = [
      'CREATE TABLE "Tab" ("V" INT, "Id" SERIAL PRIMARY KEY)',
      'INSERT INTO "Tab" ("V") VALUES (1)',
    ];
    const reused = await withSessions(
      { ...postgres, fault: 'automatic-key-reused', setup: counted },
      (a, b) =>
        send(a, 'INSERT INTO "Tab" ("V") VALUES (2)').then(() =>
          send(b, 'SELECT "Id", "V" FROM "Tab" ORDER BY "V"'),
        ),
    );
    expect(reused).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });
});
