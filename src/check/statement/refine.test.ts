import { expect, it } from 'vitest';
import { type Case, type StatementRef, totalOrder } from '../../cases/index.js';
import { findContract } from '../../contracts/index.js';
import { runScheduled } from '../../execute/index.js';
import type { History } from '../../histories/index.js';
import { openTarget } from '../../targets/index.js';
import { stripResults } from '../instrument/strip-results.js';
import { type Execute, refine } from './refine.js';
import { planCase } from './statement-plan.js';

/** Statements of the sessions in turns, so that something always comes between a statement and the reads around it. */
function inTurns({ sessions }: Case): StatementRef[] {
  const longest = Math.max(...sessions.map(({ statements }) => statements.length));
  return Array.from({ length: longest }, (_, position) =>
    sessions.flatMap(({ statements }, s): StatementRef[] =>
      position < statements.length ? [[s, position]] : [],
    ),
  ).flat();
}

it('what it gives up on has the plan that the history ran by: answers stay with their statements', async () => {
  const target = await openTarget('duckdb:');
  try {
    const scratch = await target.createScratch();
    const execute: Execute = ({ case: program }) =>
      runScheduled(scratch, { case: program, schedule: totalOrder(inTurns(program)) }, { target });
    const sessions = [0, 1].map((s) => ({
      name: `S${s}`,
      statements: [0, 1, 2].flatMap((i) => [
        `INSERT INTO t (id, v) VALUES (${10 * s + i}, 0)`,
        `UPDATE t SET v = v + 1 WHERE id >= ${10 * s} AND id < ${10 * s + 10}`,
      ]),
    }));
    const written = sessions.flatMap(({ statements }) => statements);
    const program = { name: 'in turns', setup: ['CREATE TABLE t (id INT, v INT)'], sessions };
    const asked = planCase({ case: program }, 'duckdb', findContract('duckdb:snapshot')!);
    expect(asked.refused).toBe(undefined);
    for (const mostRounds of [1, 2]) {
      const refined = await refine(await execute(asked.program), asked, execute, mostRounds);
      expect(refined).toHaveProperty('why');
      const { history } = stripResults(refined.history, refined.plan.instrumented);
      expect(history.operations.map(({ sql }) => sql).sort()).toEqual(written.sort());
      const inserts = history.operations.filter(({ sql }) => sql?.startsWith('INSERT') === true);
      expect(inserts.map(({ matched }) => matched)).toEqual(inserts.map(() => 1));
    }
  } finally {
    await target.close();
  }
});

it('does not take for the final state what was read while statements waited', async () => {
  const target = await openTarget('duckdb:');
  try {
    const scratch = await target.createScratch();
    const execute: Execute = (program) => runScheduled(scratch, program, { target });
    const sessions = [
      { name: 'S0', statements: ['INSERT INTO t (id, v) VALUES (1, 0)'] },
      { name: 'S1', statements: ['BEGIN', 'ROLLBACK'] },
    ];
    const program = { name: 'early', setup: ['CREATE TABLE t (id INT, v INT)'], sessions };
    const schedule = totalOrder([
      [1, 0],
      [0, 0],
      [1, 1],
    ]);
    const asked = planCase({ case: program, schedule }, 'duckdb', findContract('duckdb:snapshot')!);
    /** As if the session had waited until after the last reads. */
    const late = (history: History): History => {
      const end = Math.max(...history.operations.map((operation) => operation.end!)) + 1;
      const operations = history.operations.map((operation) =>
        operation.kind === 'rollback' ? { ...operation, end } : operation,
      );
      return { ...history, operations };
    };
    const first = await execute(asked.program);
    expect(await refine(first, asked, execute)).not.toHaveProperty('why');
    expect(await refine(late(first), asked, execute)).not.toHaveProperty('why');
    const always = await refine(late(first), asked, async (each) => late(await execute(each)));
    expect(always).toMatchObject({ why: 'the final state was read while statements waited' });
  } finally {
    await target.close();
  }
});
