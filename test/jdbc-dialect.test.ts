/** Where JDBC databases read PostgreSQL's SQL otherwise, generated cases must do without it: it would look like a wrong read. */
import { describe, expect, it } from 'vitest';
import { findCapabilities } from '../src/generate/index.js';
import { openTarget } from '../src/targets/index.js';
import { missingJdbcEngine } from '../src/targets/jdbc/jdbc-adapter.js';
import { enginesRequired } from './isolde.js';

describe.each(['h2', 'hsqldb', 'derby'])('%s', (engine) => {
  it('gets no binary values: their literal means something else there', () => {
    expect(findCapabilities(engine)?.unsupported).toContain('type.binary');
  });
});

it.skipIf(missingJdbcEngine('h2') !== undefined && !enginesRequired)(
  'H2 takes the literal for a text',
  async () => {
    const target = await openTarget('h2:');
    try {
      const scratch = await target.createScratch();
      await scratch.reset(['CREATE TABLE t (c BYTEA)', String.raw`INSERT INTO t VALUES ('\x00'::BYTEA)`]);
      const level = target.defaultLevel;
      const session = await scratch.openSession({ level, statementTimeoutMs: 5000, lockTimeoutMs: 5000 });
      expect((await session.execute('SELECT c FROM t')).rows).toEqual([[{ bytes: '5c783030' }]]);
    } finally {
      await target.close();
    }
  },
  30_000,
);

it.skipIf(missingJdbcEngine('hsqldb') !== undefined && !enginesRequired)(
  'HSQLDB does not pad texts to the longest of several literals',
  async () => {
    const target = await openTarget('hsqldb:');
    try {
      const scratch = await target.createScratch();
      await scratch.reset([
        'CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(20))',
        "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
      ]);
      const level = target.defaultLevel;
      const session = await scratch.openSession({ level, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 });
      const choice = "CASE WHEN id = 1 THEN 'x' ELSE 'long' END";
      expect((await session.execute(`SELECT ${choice} FROM t ORDER BY id`)).rows).toEqual([['x'], ['long']]);
      await session.execute(`UPDATE t SET c = ${choice}`);
      expect((await session.execute("SELECT id FROM t WHERE CHAR_LENGTH(c) = 1 AND c = 'x'")).rows).toEqual([
        [1],
      ]);
    } finally {
      await target.close();
    }
  },
  60_000,
);
