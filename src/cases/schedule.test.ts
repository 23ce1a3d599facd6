/** Cases and orders for them: which transactions a text has, and when a schedule fits a case. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Case, countStatements, namedNode, type StatementRef, transactionsOf } from './case.js';
import { type Schedule, scheduleProblem, serialOrder, totalOrder } from './schedule.js';

const caseOf = (...sessions: readonly string[][]): Case => ({
  name: 'c',
  setup: [],
  sessions: sessions.map((statements, s) => ({ name: `T${s + 1}`, statements })),
});

describe('the transactions of a session', () => {
  /** `BEGIN..COMMIT` as `0-2 commit`, single statements as `3 autocommit`. */
  const spans = (...statements: string[]) =>
    transactionsOf(caseOf(statements), 0 as never).map(({ first, last, explicit, end }) =>
      explicit ? `${first}-${last} ${end}` : `${first} ${end}`,
    );

  it.each<[statements: string[], spans: string[]]>([
    [[], []],
    [['SELECT 1'], ['0 autocommit']],
    [['BEGIN', 'SELECT 1', 'COMMIT'], ['0-2 commit']],
    [['START TRANSACTION', 'ROLLBACK'], ['0-1 rollback']],
    [['begin', 'END'], ['0-1 commit']],
    [['BEGIN', 'SELECT 1'], ['0-1 open']],
    [['BEGIN'], ['0-0 open']],
    [
      ['BEGIN', 'COMMIT', 'SELECT 1', 'BEGIN', 'ROLLBACK'],
      ['0-1 commit', '2 autocommit', '3-4 rollback'],
    ],
    // Rolling back to a savepoint ends nothing.
    [['BEGIN', 'SAVEPOINT a', 'ROLLBACK TO a', 'COMMIT'], ['0-3 commit']],
    [['BEGIN', 'RELEASE SAVEPOINT a', 'COMMIT'], ['0-2 commit']],
    // Chained transactions cannot be taken apart.
    [['BEGIN', 'COMMIT AND CHAIN', 'SELECT 1', 'ROLLBACK AND CHAIN', 'COMMIT'], ['0-4 commit']],
    // The words inside of quotes and comments are no statements.
    [['BEGIN', "SELECT 'COMMIT'", 'COMMIT'], ['0-2 commit']],
    [['/* COMMIT */ SELECT 1'], ['0 autocommit']],
    [['BEGIN', 'BEGIN', 'COMMIT'], ['0-2 commit']],
  ])('%j', (statements, expected) => {
    expect(spans(...statements)).toEqual(expected);
  });

  it('are none for a session that is not there', () => {
    expect(transactionsOf(caseOf(['SELECT 1']), 5 as never)).toEqual([]);
  });

  it('cover every statement once, in order', () => {
    const words = fc.constantFrom(
      'BEGIN',
      'COMMIT',
      'ROLLBACK',
      'SELECT 1',
      'UPDATE t SET a = 1',
      'SAVEPOINT s',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (statements) => {
        const found = transactionsOf(caseOf(statements), 0 as never);
        const covered = found.flatMap(({ first, last }) =>
          Array.from({ length: last - first + 1 }, (_, i) => first + i),
        );
        expect(covered).toEqual(statements.map((_, i) => i));
      }),
    );
  });
});

describe('the node of a session', () => {
  it.each([
    ['T1', undefined],
    ['T1@standby', 'standby'],
    ['a@b@2', '2'],
    ['T1@', undefined],
    ['@n', 'n'],
  ])('of %s is %s', (name, node) => {
    expect(namedNode(name)).toBe(node);
  });
});

describe('a schedule', () => {
  const program = caseOf(['a', 'b'], ['c']);
  const refs = (...batches: readonly (readonly [number, number])[][]): Schedule => ({
    batches: batches as unknown as readonly (readonly StatementRef[])[],
  });

  it.each<[schedule: Schedule, problem: string | undefined]>([
    [refs([[0, 0]], [[1, 0]], [[0, 1]]), undefined],
    [
      refs(
        [
          [0, 0],
          [1, 0],
        ],
        [[0, 1]],
      ),
      undefined,
    ],
    [refs([], [[0, 0]], [[0, 1]], [[1, 0]]), undefined],
    [refs([[0, 0]], [[0, 1]]), '1 statements of session T2 are in no batch'],
    [refs(), '2 statements of session T1 are in no batch'],
    [refs([[2, 0]]), 'batch 0 names session 2; the case has 2 sessions'],
    [refs([[0, 1]]), 'batch 0 holds statement 1 of session T1, where statement 0 is next'],
    [refs([[0, 0]], [[0, 0]]), 'batch 1 holds statement 0 of session T1, where statement 1 is next'],
    [refs([[1, 0]], [[1, 1]]), 'batch 1 holds statement 1 of session T2, which has 1 statements'],
    [
      refs(
        [
          [0, 0],
          [0, 1],
        ],
        [[1, 0]],
      ),
      'batch 0 holds two statements of session T1',
    ],
  ])('%j', (schedule, problem) => {
    expect(scheduleProblem(program, schedule)).toBe(problem);
  });

  const programs = fc
    .array(fc.array(fc.constant('SELECT 1'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((sessions) => caseOf(...sessions));

  /** A case with a random order of its statements that keeps each session's. */
  const ordered = programs.chain((each) =>
    fc
      .shuffledSubarray(
        each.sessions.flatMap(({ statements }, s) => statements.map(() => s)),
        {
          minLength: countStatements(each),
        },
      )
      .map((picks) => {
        const next = each.sessions.map(() => 0);
        return { each, order: picks.map((s) => [s, next[s]!++] as unknown as StatementRef) };
      }),
  );

  it('of the sessions one after another always fits', () => {
    fc.assert(fc.property(programs, (each) => scheduleProblem(each, serialOrder(each)) === undefined));
  });

  it('of any merge of the sessions fits, and with one statement less it does not', () => {
    fc.assert(
      fc.property(ordered, fc.nat(), ({ each, order }, at) => {
        expect(scheduleProblem(each, totalOrder(order))).toBeUndefined();
        if (order.length === 0) return;
        const less = order.filter((_, i) => i !== at % order.length);
        expect(scheduleProblem(each, totalOrder(less))).toBeDefined();
      }),
    );
  });
});
