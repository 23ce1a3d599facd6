import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScript, type StatementRef, scheduleProblem } from '../cases/index.js';
import { type Candidate, candidateOf, contentKey, setupRows, sizeOf } from './candidate.js';
import {
  allOperations,
  keepStatements,
  mapSchedule,
  modelOf,
  restrictTo,
  statementsOf,
} from './case-model.js';
import { arbitraryCase } from './fake-oracle.case.js';

function candidate(text: string): Candidate {
  return candidateOf(parseScript(text, { file: 'test.sql', dialect: 'postgres' }));
}

const options = { seed: 81, numRuns: 150 };
const caseAndSubset = arbitraryCase.chain(({ candidate: given, count }) =>
  fc
    .subarray(Array.from({ length: count }, (_, id) => id))
    .map((keep) => ({ given, keep, model: modelOf(given) })),
);

describe('a subset of the operations of a case', () => {
  it('is a case that can run, with these operations in their order', () => {
    fc.assert(
      fc.property(caseAndSubset, ({ keep, model }) => {
        const { case: program, schedule } = restrictTo(model, keep);
        expect(scheduleProblem(program, schedule)).toBeUndefined();
        const left = schedule.batches.flat().map(([s, p]) => program.sessions[s]!.statements[p]!);
        const sent = model.operations.flatMap(({ sql }, id) => (keep.includes(id) ? [sql] : []));
        expect(left.filter((sql) => sql.startsWith('OP'))).toEqual(sent);
      }),
      options,
    );
  });

  it('keeps BEGIN and COMMIT of exactly the transactions that have an operation left', () => {
    fc.assert(
      fc.property(caseAndSubset, ({ keep, model }) => {
        const alive = model.transactions.filter(
          ({ explicit, operations }) => explicit && operations.some((id) => keep.includes(id)),
        ).length;
        const texts = restrictTo(model, keep).case.sessions.flatMap(({ statements }) => statements);
        expect(texts.filter((sql) => sql === 'BEGIN')).toHaveLength(alive);
        expect(texts.filter((sql) => sql === 'COMMIT')).toHaveLength(alive);
      }),
      options,
    );
  });

  it('has the statements that `statementsOf` names, and no session without any', () => {
    fc.assert(
      fc.property(caseAndSubset, ({ given, keep, model }) => {
        const named = statementsOf(model, keep).map((refs) =>
          refs.map(([s, p]) => given.case.sessions[s]!.statements[p]!),
        );
        expect(restrictTo(model, keep).case.sessions.map(({ statements }) => statements)).toEqual(named);
      }),
      options,
    );
  });

  it('of all operations is the case itself', () => {
    fc.assert(
      fc.property(caseAndSubset, ({ given, model }) => {
        expect(restrictTo(model, allOperations(model))).toEqual(given);
      }),
      options,
    );
  });

  it('of a subset is the smaller subset of the whole', () => {
    fc.assert(
      fc.property(caseAndSubset, fc.nat(5), ({ keep, model }, dropped) => {
        const inner = modelOf(restrictTo(model, keep));
        const fewer = allOperations(inner).filter((id) => id !== dropped);
        const same = keep.filter((_, at) => at !== dropped);
        expect(restrictTo(inner, fewer)).toEqual(restrictTo(model, same));
      }),
      options,
    );
  });
});

describe('the model of a case', () => {
  it('numbers operations by the schedule and names the transaction of every statement', () => {
    const model = modelOf(
      candidate(`
CREATE TABLE t (a INT);
A: BEGIN;
B: SELECT 1;
A: UPDATE t SET a = 1;
A: ROLLBACK;
A: SELECT 2;`),
    );
    expect(model.operations.map(({ sql, kind, transaction }) => `${transaction} ${kind} ${sql}`)).toEqual([
      '2 select SELECT 1',
      '0 update UPDATE t SET a = 1',
      '1 select SELECT 2',
    ]);
    const statements: StatementRef[] = [
      [0, 0],
      [0, 1],
      [0, 2],
      [0, 3],
      [1, 0],
      [7, 0],
    ];
    expect(statements.map((ref) => model.operationOf(ref))).toEqual([-1, 1, -1, 2, 0, -1]);
    expect(statements.map((ref) => model.transactionOf(ref))).toEqual([0, 0, 0, 1, 2, -1]);
  });

  it('keeps no COMMIT for a transaction that has none', () => {
    const open = candidate('A: BEGIN;\nA: SELECT 1;\nA: SELECT 2;');
    expect(restrictTo(modelOf(open), [1]).case.sessions[0]!.statements).toEqual(['BEGIN', 'SELECT 2']);
  });
});

describe('a schedule with statements renamed', () => {
  const schedule = {
    batches: [
      [
        [0, 0],
        [1, 0],
      ],
      [[0, 1]],
      [[1, 1]],
    ] as StatementRef[][],
    reasons: [
      { before: [0, 0] as const, after: [1, 1] as const, why: 'kept' },
      { before: [0, 1] as const, after: [1, 1] as const, why: 'gone' },
    ],
    cancelled: [
      [0, 1],
      [1, 1],
    ] as StatementRef[],
    keepsHistory: true as const,
  };

  it('loses what has no new name: batches, reasons and cancellations too', () => {
    const moved = ([s, p]: StatementRef): StatementRef | undefined =>
      s === 0 && p === 1 ? undefined : [s + 2, p];
    expect(mapSchedule(schedule, moved)).toEqual({
      batches: [
        [
          [2, 0],
          [3, 0],
        ],
        [[3, 1]],
      ],
      reasons: [{ before: [2, 0], after: [3, 1], why: 'kept' }],
      cancelled: [[3, 1]],
      keepsHistory: true,
    });
  });

  it('has no empty lists where nothing is left to say', () => {
    expect(mapSchedule(schedule, ([s, p]) => (s === 0 && p === 0 ? [0, 0] : undefined))).toEqual({
      batches: [[[0, 0]]],
      keepsHistory: true,
    });
  });

  it('moves the sessions after one that is left empty', () => {
    const given = candidate('A: SELECT 1;\nB: SELECT 2;\nA: SELECT 3;');
    const left = keepStatements(given, (s) => s === 1);
    expect(left.case.sessions).toEqual([{ name: 'B', statements: ['SELECT 2'] }]);
    expect(left.schedule.batches).toEqual([[[0, 0]]]);
  });
});

describe('the key of a candidate', () => {
  const base = candidate('CREATE TABLE t (a INT);\nA: SELECT 1;\nB: SELECT 2;');
  const program = base.case;
  const withSession = (change: object): Candidate => ({
    ...base,
    case: { ...program, sessions: program.sessions.with(0, { ...program.sessions[0]!, ...change }) },
  });

  it.each<[string, Candidate]>([
    ['names', { ...base, case: { ...program, name: 'another', description: 'of it' } }],
    ['names of sessions', withSession({ name: 'Z' })],
    [
      'reasons',
      { ...base, schedule: { ...base.schedule, reasons: [{ before: [0, 0], after: [1, 0], why: 'x' }] } },
    ],
  ])('does not depend on %s', (_, same) => {
    expect(contentKey(same)).toBe(contentKey(base));
  });

  it.each<[string, Candidate]>([
    ['a statement', withSession({ statements: ['SELECT 9'] })],
    ['a level of a session', withSession({ level: 'serializable' })],
    ['the level', { ...base, case: { ...program, level: 'serializable' } }],
    ['the set-up', { ...base, case: { ...program, setup: [] } }],
    ['the dialect', { ...base, case: { ...program, dialect: 'mysql' } }],
    ['the order', { ...base, schedule: { batches: base.schedule.batches.toReversed() } }],
    ['what is cancelled', { ...base, schedule: { ...base.schedule, cancelled: [[0, 0]] } }],
    ['whether deleted rows are kept', { ...base, schedule: { ...base.schedule, keepsHistory: true } }],
    ['what is sent together', { ...base, schedule: { batches: [base.schedule.batches.flat()] } }],
  ])('depends on %s', (_, other) => {
    expect(contentKey(other)).not.toBe(contentKey(base));
  });

  it('tells apart statements that only meet in another session', () => {
    const one = candidate('A: SELECT 1;\nA: SELECT 2;\nB: SELECT 3;');
    const other = candidate('A: SELECT 1;\nB: SELECT 2;\nB: SELECT 3;');
    expect(contentKey(one)).not.toBe(contentKey(other));
  });
});

describe('the size of a case', () => {
  it.each([
    ['INSERT INTO t VALUES (1), (2)', 2],
    ['insert into t (a) values (1)', 1],
    ['REPLACE INTO t VALUES (1)', 1],
    ['INSERT INTO t SELECT 1', 0],
    ["UPDATE t SET a = 'INSERT INTO t VALUES (1)'", 0],
  ])('counts the rows of %s', (sql, rows) => {
    expect(setupRows({ name: '', dialect: 'mysql', setup: [sql], sessions: [] })).toBe(rows);
  });

  it('counts statements, transactions and sessions', () => {
    const { case: program } = candidate('A: BEGIN;\nA: SELECT 1;\nA: COMMIT;\nA: SELECT 2;\nB: SELECT 3;');
    expect(sizeOf(program)).toEqual({ operations: 5, transactions: 3, sessions: 2, rows: 0 });
  });

  it('without a schedule the sessions run one after another', () => {
    const { case: program } = candidate('B: SELECT 1;\nA: SELECT 2;\nB: SELECT 3;');
    expect(candidateOf({ case: program }).schedule.batches).toEqual([[[0, 0]], [[0, 1]], [[1, 0]]]);
  });
});
