import { describe, expect, it } from 'vitest';
import type { Finding } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { runScheduled } from '../execute/index.js';
import type { History, Operation } from '../histories/index.js';
import { openTarget } from '../targets/index.js';
import { postgresAvailable } from '../targets/postgres/index.js';
import { reproduce } from './reproduction.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : postgresAvailable();

/** Two transactions update each other's rows, and both get the answer that it worked: no order brings that back. */
function forged(): History {
  const rows: readonly (readonly [session: number, sql: string, extra?: Partial<Operation>])[] = [
    [0, 'BEGIN'],
    [1, 'BEGIN'],
    [0, 'UPDATE t SET v = 1 WHERE id = 1', { matched: 1 }],
    [1, 'UPDATE t SET v = 2 WHERE id = 2', { matched: 1 }],
    [0, 'UPDATE t SET v = 3 WHERE id = 2', { matched: 1 }],
    [1, 'UPDATE t SET v = 4 WHERE id = 1', { matched: 1 }],
    [0, 'COMMIT', { ends: 'commit' }],
    [1, 'COMMIT', { ends: 'commit' }],
  ];
  return {
    header: {
      sessions: ['T1', 'T2'],
      dialect: 'postgres',
      level: 'read committed',
      setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
    },
    operations: rows.map(([session, sql, extra], index) => ({
      ...{ index, session, transaction: session, sql, start: index * 10, end: index * 10 + 5 },
      kind: sql.split(' ')[0]!.toLowerCase() as Operation['kind'],
      outcome: 'ok',
      ...extra,
    })),
  };
}

/** DuckDB #17223: an update of a row that another transaction has deleted. */
function overlapping(): History {
  const rows: readonly (readonly [
    session: number,
    start: number,
    sql: string,
    extra?: Partial<Operation>,
  ])[] = [
    [0, 0, 'BEGIN'],
    [0, 10, 'SELECT id, v FROM t', { columns: ['id', 'v'], rows: [[1, 10]] }],
    [1, 20, 'DELETE FROM t WHERE id = 1', { matched: 1, ends: 'commit' }],
    [0, 30, 'UPDATE t SET v = 11 WHERE id = 1', { matched: 1 }],
    [0, 40, 'COMMIT', { ends: 'commit' }],
  ];
  return {
    header: {
      sessions: ['T1', 'T2'],
      ...{ dialect: 'duckdb', level: 'snapshot' },
      setup: ['CREATE TABLE t (id INT, v INT)', 'INSERT INTO t VALUES (1, 10)'],
    },
    operations: rows.map(([session, start, sql, extra], index) => ({
      ...{ index, session, transaction: session, sql, start, end: start + 5 },
      kind: sql.split(' ')[0]!.toLowerCase() as Operation['kind'],
      outcome: 'ok',
      ...extra,
    })),
  };
}

describe('reproduce', () => {
  it('counts what the same write shows more sharply in order, and tells it apart', async () => {
    const target = await openTarget('duckdb:');
    try {
      const history = overlapping();
      const about = (kind: string, run: History, sql: string): Finding => {
        const operations = run.operations.filter((op) => op.sql!.startsWith(sql));
        return { kind, operations } as unknown as Finding;
      };
      const reproduced = async (write: string) => {
        const scratch = await target.createScratch();
        const seen = about('missing-row', history, 'UPDATE');
        return reproduce(history, seen, findContract('duckdb:snapshot')!, {
          ...{ runs: 2, mode: 'batch', otherOrders: 0 },
          observe: async (program) => {
            const run = await runScheduled(scratch, program, { target });
            return { history: run, findings: [about('lost', run, write)] };
          },
          identity: ({ kind }) => kind,
        });
      };
      expect(await reproduced('UPDATE')).toMatchObject({
        ...{ runs: 2, reproduced: 2, others: [] },
        sharper: [{ kind: 'lost', runs: 2 }],
      });
      expect(await reproduced('DELETE')).toMatchObject({
        ...{ runs: 2, reproduced: 0, sharper: [] },
        others: [{ kind: 'lost', runs: 2 }],
      });
    } finally {
      await target.close();
    }
  });

  it('does not count a replay that was cut short', async () => {
    const target = await openTarget('duckdb:');
    try {
      const history = overlapping();
      const stop = new AbortController();
      const finding = { kind: 'missing-row', operations: [] } as unknown as Finding;
      let checked = 0;
      const scratch = await target.createScratch();
      const result = await reproduce(history, finding, findContract('duckdb:snapshot')!, {
        ...{ runs: 5, mode: 'batch', signal: stop.signal },
        observe: async (program) => {
          const run = await runScheduled(scratch, program, { target });
          if (++checked === 3) stop.abort();
          return { history: run, findings: [finding] };
        },
        identity: ({ kind }) => kind,
      });
      expect(result).toMatchObject({ runs: 2, reproduced: 2 });
    } finally {
      await target.close();
    }
  });

  it.skipIf(missing !== undefined)(
    `reports a schedule that cannot run as infeasible, says where it diverges, and ends${missing === undefined ? '' : ` (${missing})`}`,
    async () => {
      const target = await openTarget('postgres:');
      try {
        const history = forged();
        const finding = { kind: 'lock-violated' } as unknown as Finding;
        const scratch = await target.createScratch();
        const limits = { statementTimeoutMs: 4_000, lockTimeoutMs: 2_000 };
        const result = await reproduce(history, finding, findContract('postgres:read-committed')!, {
          ...{ runs: 2, mode: 'batch' },
          observe: async (program) => ({
            history: await runScheduled(scratch, program, { target, level: 'read committed', ...limits }),
            findings: [],
          }),
          identity: ({ kind }) => kind,
        });
        expect(result).toMatchObject({ runs: 2, reproduced: 0, identical: 0 });
        expect(result.infeasible).toMatch(/UPDATE t SET v = \d WHERE id = \d: it waited/);
        expect(result.divergences[0]!.first.was).toBe('1 row');
        expect(result.inferred.unexplained.length).toBeGreaterThan(0);
      } finally {
        await target.close();
      }
    },
    60_000,
  );
});
