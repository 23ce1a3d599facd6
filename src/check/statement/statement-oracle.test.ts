import { describe, expect, it } from 'vitest';
import { parseScript } from '../../cases/index.js';
import { findContract } from '../../contracts/index.js';
import { runScheduled } from '../../execute/index.js';
import type { ErrorClass, History, Operation } from '../../histories/index.js';
import { openTarget } from '../../targets/index.js';
import type { JudgeContext } from '../oracle.js';
import { statementOracle } from './statement-oracle.js';

const scheduled = parseScript(
  `CREATE TABLE t (id INT, v INT);
  INSERT INTO t VALUES (1, 1), (2, 2);
  CREATE TABLE u (w INT);
  INSERT INTO u VALUES (7);
  T1: BEGIN
  T2: BEGIN
  T1: UPDATE t SET v = 10 WHERE id = 1
  T2: SELECT id, v FROM t WHERE v < 5
  T1: COMMIT
  T2: SELECT w FROM u
  T2: COMMIT`,
  { file: 'case.sql' },
);

/** Changes a history; `nth`: the how manieth of its kind it is, from 0. */
type Change = (history: History, nth: number) => History;
const same: Change = (history) => history;

/** Judges the case; changes are done to the histories of what runs without transactions, and with them. */
async function judged(change: Change, inside = same) {
  const target = await openTarget('duckdb:');
  try {
    const scratch = await target.createScratch();
    const contract = findContract('duckdb:snapshot')!;
    const runs = { alone: 0, inside: 0 };
    const run = async (program: typeof scheduled) => {
      const history = await runScheduled(scratch, program, { target });
      return program.case.sessions[0]?.name === 'alone'
        ? change(history, runs.alone++)
        : inside(history, runs.inside++);
    };
    const context: JudgeContext = { contract, target, execute: run };
    const { program, plan } = statementOracle.prepare!(scheduled, { target, contract });
    return await statementOracle.judge!(await run(program), plan, context);
  } finally {
    await target.close();
  }
}

/** The operations that a text is part of, changed. */
const changing = (text: string, to: (operation: Operation) => Operation): Change => {
  return (history) => ({
    ...history,
    operations: history.operations.map((each) => (each.sql?.includes(text) === true ? to(each) : each)),
  });
};

const failed =
  (errorClass: ErrorClass) =>
  (operation: Operation): Operation => {
    const { rows: _, columns: __, ...rest } = operation;
    return { ...rest, outcome: 'error', error: { class: errorClass, message: 'internal error' } };
  };

it('says what it compared', async () => {
  const { valid, findings, checked } = await judged(same);
  expect({ valid, findings }).toEqual({ valid: true, findings: [] });
  expect(checked).toMatchObject({ transactions: 2, reads: 2, rows: 3, writes: 1 });
});

it('a crash without transactions is told of the statement in its transaction, by finding and history alike', async () => {
  for (const [at, sql, name] of [
    ['v < 5', 'SELECT id, v FROM t WHERE v < 5', 'T2'],
    ['SET v = 10', 'UPDATE t SET v = 10 WHERE id = 1', 'T1'],
    // The final state is read: the last statement has to answer for it.
    ['isolde_wl FROM u', 'SELECT w FROM u', 'T2'],
  ] as const) {
    const { findings, history } = await judged(changing(at, failed('crash')));
    expect(findings.map(({ kind }) => kind)).toEqual(['server-crash']);
    const [operation] = findings[0]!.operations;
    expect(operation!.text).toBe(sql);
    expect(history.operations[operation!.index]).toMatchObject({ sql, error: { class: 'crash' } });
    expect(findings[0]!.transactions).toMatchObject([{ id: operation!.transaction, session: name }]);
  }
});

describe('a difference', () => {
  const other = changing('v < 5', (operation) => ({ ...operation, rows: [] }));

  it('is a finding if every order without transactions shows it', async () => {
    const { findings } = await judged(other);
    expect(findings.map(({ kind }) => kind)).toEqual(['result-differs']);
  });

  it('is none if another order does not show it', async () => {
    const inFirstOrder: Change = (history, nth) => (nth === 0 ? other(history, nth) : history);
    expect(await judged(inFirstOrder)).toMatchObject({
      valid: 'unknown',
      findings: [],
      unknownReasons: ['a difference from the order without transactions did not come back'],
    });
  });

  it.each(['busy', 'lock-timeout', 'statement-timeout', 'cancelled', 'deadlock'] as const)(
    'is not what a statement without transactions makes by %s',
    async (errorClass) => {
      expect(await judged(changing('v < 5', failed(errorClass)))).toMatchObject({
        valid: 'unknown',
        findings: [],
        unknownReasons: [`a statement without transactions was not executed (${errorClass})`],
      });
    },
  );

  it('is what one makes by an error of its own', async () => {
    const { findings } = await judged(changing('v < 5', failed('data')));
    expect(findings.map(({ kind }) => kind)).toEqual(['error-differs']);
  });

  it('is not known where the final state without transactions cannot be read', async () => {
    expect(await judged(changing('isolde_wl FROM u', failed('other')))).toMatchObject({
      valid: 'unknown',
      findings: [],
      unknownReasons: ['the final state without transactions could not be read'],
    });
  });
});

describe('a transaction that fails and should not', () => {
  /** A statement of a transaction, and with it the rest of the transaction. */
  const dooming = (text: string, errorClass: ErrorClass): Change => {
    return (history, nth) => {
      const changed = changing(text, failed(errorClass))(history, nth);
      const doomed = changed.operations.find(({ error }) => error !== undefined)!.transaction;
      const operations = changed.operations.map((each) =>
        each.transaction === doomed && each.kind === 'commit' ? { ...each, ends: 'rollback' as const } : each,
      );
      return { ...changed, operations };
    };
  };
  const commitFails: Change = (history) => {
    const at = history.operations.find(({ kind, session }) => kind === 'commit' && session === 0)!.index;
    const { ends: _, ...commit } = history.operations[at]!;
    return {
      ...history,
      operations: history.operations.with(at, { ...failed('other')(commit), ends: 'rollback' }),
    };
  };

  it.each([
    ['a query', changing('v < 5', failed('other')), 'SELECT id, v FROM t WHERE v < 5', 'committed'],
    ['a query that dooms it', dooming('v < 5', 'other'), 'SELECT id, v FROM t WHERE v < 5', 'aborted'],
    ['a write', dooming('SET v = 10', 'other'), 'UPDATE t SET v = 10 WHERE id = 1', 'aborted'],
    ['its COMMIT', commitFails, 'COMMIT', 'aborted'],
  ] as const)('by %s is a finding of its own kind', async (_, inside, text, status) => {
    const { findings } = await judged(same, inside);
    expect(findings).toMatchObject([
      { kind: 'unexpected-error', operations: [{ text }], transactions: [{ status }] },
    ]);
  });

  it('is none by a COMMIT behind a ROLLBACK TO, or another such statement, that failed', async () => {
    const behindFailure: Change = (history, nth) => {
      const { operations, ...rest } = commitFails(history, nth);
      const at = operations.findIndex(({ kind, session }) => kind === 'begin' && session === 0);
      return { ...rest, operations: operations.with(at, failed('other')(operations[at]!)) };
    };
    expect((await judged(same, behindFailure)).findings).toEqual([]);
  });

  it('is none if it fails without, too, or does not fail again', async () => {
    const fails = changing('v < 5', failed('other'));
    expect(await judged(fails, fails)).toMatchObject({ valid: true, findings: [] });
    const once: Change = (history, nth) => (nth === 0 ? fails(history, nth) : history);
    expect(await judged(same, once)).toMatchObject({ valid: 'unknown', findings: [] });
  });

  it.each(['busy', 'lock-timeout', 'serialization', 'data', 'constraint', 'cancelled'] as const)(
    'is none if the error is %s',
    async (errorClass) => {
      expect((await judged(same, changing('v < 5', failed(errorClass)))).findings).toEqual([]);
      expect((await judged(same, dooming('SET v = 10', errorClass))).findings).toEqual([]);
    },
  );
});

it('keeps the answers of what it refuses beforehand as they are', async () => {
  const target = await openTarget('duckdb:');
  try {
    const scratch = await target.createScratch();
    const contract = findContract('duckdb:snapshot')!;
    const program = parseScript(
      `CREATE TABLE t (id INT, v INT, w INT);
      INSERT INTO t VALUES (1, 1, 1);
      T1: BEGIN
      T1: SELECT id, v, w FROM t
      T1: CREATE INDEX i ON t (v)
      T1: INSERT INTO t VALUES (2, 2, 2), (3, 3, 3)
      T1: COMMIT`,
      { file: 'case.sql' },
    );
    const { program: sent, plan } = statementOracle.prepare!(program, { target, contract });
    const raw = await runScheduled(scratch, sent, { target });
    const { valid, history, unknownReasons } = await statementOracle.judge!(raw, plan, { contract, target });
    expect({ valid, unknownReasons }).toEqual({
      valid: 'unknown',
      unknownReasons: ['it also says CREATE INDEX i ON t (v)'],
    });
    expect(history.operations.map(({ kind }) => kind)).toEqual([
      'begin',
      'select',
      'ddl',
      'insert',
      'commit',
    ]);
    expect(history.operations[1]!.rows).toEqual([[1, 1, 1]]);
    expect(history.operations[3]!.matched).toBe(2);
    expect(statementOracle.asWritten!(raw, plan)).toEqual(history);
  } finally {
    await target.close();
  }
});
