/** Every property that comes with Isolde finds a bug that was planted for it, and is silent where none was. */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../targets/index.js';
import { openTarget } from '../../targets/index.js';
import { type PlantedBug, withPlanted } from '../../targets/planted-target.case.js';
import { testProperties } from '../test-properties.js';
import { shippedProperties } from './index.js';

const ok: Answer = { transaction: 'none' };

/** A query that fits loses its last row. */
const losesRow = (fits: RegExp): PlantedBug => ({
  execute: async (sql, send) => {
    const answer = await send(sql);
    return answer.rows !== undefined && fits.test(sql)
      ? { ...answer, rows: answer.rows.slice(0, -1) }
      : answer;
  },
});

/** A statement that fits is not sent, and said to have worked. */
const ignores = (fits: RegExp): PlantedBug => ({
  execute: async (sql, send) => (fits.test(sql) ? ok : send(sql)),
});

/** A statement that fits is sent in another form. */
const sends = (fits: RegExp, instead: (sql: string) => string): PlantedBug => ({
  execute: async (sql, send) => send(fits.test(sql) ? instead(sql) : sql),
});

/** Transactions are not: each statement commits by itself. */
const autocommits: PlantedBug = {
  execute: async (sql, send) => {
    if (/^BEGIN/.test(sql)) return { transaction: 'open' };
    return /^(COMMIT|ROLLBACK)/.test(sql) ? ok : send(sql);
  },
};

/** Rows that the last INSERT brought are lost by whatever `when` says. */
const forgetsInsert = (when: 'close' | RegExp): PlantedBug => ({
  execute: async (sql, send, { database }) => {
    const [, table] = /^INSERT INTO (\w+)/.exec(sql) ?? [];
    const answer = await send(sql);
    if (table !== undefined && answer.error === undefined) database.set('table', table);
    if (when instanceof RegExp && when.test(sql) && database.has('table'))
      await send(`DELETE FROM ${String(database.get('table'))}`);
    return answer;
  },
  ...(when === 'close' && {
    close: async (send, { database }) => {
      if (!database.has('table')) return;
      await send('ROLLBACK');
      await send(`DELETE FROM ${String(database.get('table'))}`);
    },
  }),
});

/** An UPDATE of a transaction is kept back until it commits. */
const buffersWrites: PlantedBug = {
  execute: async (sql, send, { session }) => {
    if (/^BEGIN/.test(sql)) session.set('held', []);
    const held = session.get('held') as string[] | undefined;
    if (held !== undefined && /^(UPDATE|INSERT|DELETE)/.test(sql)) {
      held.push(sql);
      return { transaction: 'open', matched: 1 };
    }
    if (held !== undefined && /^(COMMIT|ROLLBACK)/.test(sql)) {
      session.delete('held');
      if (/^COMMIT/.test(sql)) for (const each of held) await send(each);
    }
    return send(sql);
  },
};

const planted: Readonly<Record<string, { readonly bug: PlantedBug; readonly url?: string }>> = {
  pqs: { bug: losesRow(/^SELECT .* WHERE/) },
  'pqs join': { bug: losesRow(/^SELECT \S+ AS a,.*WHERE/) },
  norec: { bug: losesRow(/^SELECT \* .* WHERE/) },
  'tlp where': { bug: losesRow(/UNION ALL/) },
  'tlp where extended': { bug: losesRow(/UNION ALL/) },
  'delete-select': { bug: ignores(/^DELETE/) },
  'union all': { bug: losesRow(/UNION ALL/) },
  'create twice': {
    bug: {
      execute: async (sql, send) => {
        const answer = await send(sql);
        return /^CREATE TABLE/.test(sql) && answer.error !== undefined ? ok : answer;
      },
    },
  },
  'insert-select': { bug: ignores(/^INSERT INTO \w+ .*VALUES \([^()]*\)$/) },
  'update-select': { bug: ignores(/^UPDATE/) },
  'drop-select': { bug: ignores(/^DROP TABLE/) },
  'shadow state': { bug: ignores(/^DELETE/) },
  'snapshot read': { bug: autocommits },
  'snapshot norec': { bug: autocommits },
  'snapshot tlp': { bug: autocommits },
  'own writes': { bug: buffersWrites },
  rollback: { bug: sends(/^ROLLBACK$/, () => 'COMMIT') },
  commit: { bug: sends(/^COMMIT$/, () => 'ROLLBACK') },
  uncommitted: { bug: autocommits },
  savepoints: { bug: ignores(/^ROLLBACK TO/) },
  reconnect: { bug: { close: async (send) => void (await send('COMMIT')) } },
  'reconnect-all': { bug: forgetsInsert('close') },
  checkpoint: { bug: forgetsInsert(/checkpoint/) },
  vacuum: { bug: forgetsInsert(/^VACUUM/) },
  reopen: { bug: { losesWhenOpened: 'DELETE FROM t0' } },
  kill: { bug: { losesWhenOpened: 'DELETE FROM t0' } },
  'write-error': { bug: { writeError: 'reported-only' } },
  // SQLite's driver holds the thread: nothing could be cancelled there.
  cancel: { bug: { cancel: 'reported-only' }, url: 'duckdb:' },
};

/** Stops when the property has failed. The comparison in the end sees some of these bugs, too, and may see them first. */
function plantedTest(name: string, url: string, bug: PlantedBug) {
  const found = new AbortController();
  return testProperties({
    open: async () => withPlanted(await openTarget(url), bug),
    properties: shippedProperties.filter((each) => each.name === name),
    seed: 'planted',
    plans: 40,
    length: 16,
    failures: 10,
    judgeReads: false,
    confirm: 1,
    shrink: false,
    signal: found.signal,
    onPlan: ({ failures }) => {
      if (failures.some(({ failure }) => failure.property === name)) found.abort();
    },
    now: () => 0,
  });
}

describe('properties that come with Isolde', () => {
  for (const [name, { bug, url = 'sqlite:' }] of Object.entries(planted)) {
    it(`${name} finds its planted bug`, { timeout: 60_000 }, async () => {
      const { failures, mistaken, unconfirmed } = await plantedTest(name, url, bug);
      expect(failures.map(({ failure }) => failure.property)).toContain(name);
      expect([mistaken, unconfirmed]).toEqual([[], 0]);
    });
  }

  it('each have a planted bug here', () => {
    expect(shippedProperties.map(({ name }) => name).filter((name) => !(name in planted))).toEqual([]);
  });

  for (const url of ['sqlite:', 'duckdb:']) {
    it(`are silent on ${url}`, { timeout: 120_000 }, async () => {
      const { failures, mistaken, counts } = await testProperties({
        open: () => openTarget(url),
        properties: shippedProperties,
        seed: 'silent',
        plans: url === 'sqlite:' ? 15 : 4,
        now: () => 0,
      });
      expect([failures, mistaken]).toEqual([[], []]);
      expect(counts.asserted).toBeGreaterThan(50);
    });
  }
});
