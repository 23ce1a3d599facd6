import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contracts, findContract, type Pivot, pivots } from '../../contracts/index.js';
import { showObservation } from '../observation.js';
import type { AccessStep } from './access-step.js';
import { expectedAccess, expectedUnderPivots } from './expected-access.js';
import { historyOf, simulate } from './simulate.case.js';
import { choices, chooser, programs, simulatedContracts } from './simulated-programs.case.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const show = (step: AccessStep) =>
  step.rows.map(
    ({ object, actual, expected, agrees }) =>
      `${object}: ${actual ? showObservation(actual.value) : '-'}${agrees === false ? ' !' : ''} of ${expected.map(({ value, name, initial }) => `${showObservation(value)}${initial ? ' initial' : ` ${name}`}`).join(' or ')}`,
  );

/** Between the five moments a version each is committed, and one is not. */
const fiveMoments = story(
  `
  T1: BEGIN
  T2: UPDATE t SET v = 2 WHERE id = 1 -> 1
  T1: UPDATE t SET v = 0 WHERE id = 2 -> 1
  T2: UPDATE t SET v = 3 WHERE id = 1 -> 1
  T1: SELECT id, v FROM t WHERE id = 1 -> 1,3
  T2: UPDATE t SET v = 4 WHERE id = 1 -> 1
  T3: BEGIN
  T3: UPDATE t SET v = 5 WHERE id = 1 -> 1
  T1: SELECT id, v FROM t WHERE id = 1 -> 1,3
  T3: COMMIT
  T1: COMMIT
  `,
  {
    dialect: 'mysql',
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 1), (2, 1)'],
  },
);

describe('the version an operation should access', () => {
  it.each<[Pivot, string]>([
    ['begin', '(1, 1)'],
    ['first-statement', '(1, 2)'],
    ['first-read', '(1, 3)'],
    ['statement', '(1, 4)'],
  ])('under pivot %s is the newest committed before it', (pivot, value) => {
    const { steps } = expectedAccess(fiveMoments, findContract('mariadb:repeatable-read')!, { pivot });
    const [row] = steps[8]!.rows;
    expect(row!.expected.map((version) => showObservation(version.value))).toEqual([value]);
    expect(row!.agrees).toBe(pivot === 'first-read');
    expect(showObservation(row!.actual!.value)).toBe('(1, 3)');
    const moment = { begin: 0, 'first-statement': 2, 'first-read': 4, statement: 8, uncommitted: 8 };
    expect(steps[8]!.pivot).toBe(moment[pivot]);
  });

  it('under pivot uncommitted is the newest, committed or not', () => {
    const { steps } = expectedAccess(fiveMoments, findContract('mariadb:read-uncommitted')!);
    const [row] = steps[8]!.rows;
    expect(row!.expected.map(({ value }) => showObservation(value))).toContain('(1, 5)');
    expect(row!.agrees).toBe(false);
    expect(steps[8]!.state).toBe('uncommitted');
  });

  it('is none after a DELETE of rows that others had deleted, which writes nothing', () => {
    const history = story(
      `
      T2: BEGIN
      T2: SELECT id, v FROM t -> 1,10
      T1: DELETE FROM t -> 1
      T2: DELETE FROM t -> 0
      T2: SELECT id, v FROM t -> 1,10
      T2: COMMIT`,
      {
        dialect: 'mysql',
        setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'],
      },
    );
    const { steps } = expectedAccess(history, findContract('mysql:repeatable-read+reported')!);
    expect(steps[3]!.rows.some(({ wrote }) => wrote !== undefined)).toBe(false);
    expect(show(steps[4]!)).toEqual(['t/1: (1, 10) ! of no row T2']);
  });

  it('is given for all five at once', () => {
    const all = expectedUnderPivots(fiveMoments, findContract('mariadb:repeatable-read')!);
    expect(all.map(({ pivot }) => pivot)).toEqual(pivots);
  });

  it('names the writers of what was met, and what is wrong', () => {
    const { steps } = expectedAccess(
      story(
        `
        T1: BEGIN
        T1: SELECT id, v FROM t -> 1,10 | 2,20
        T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: SELECT id, v FROM t -> 1,10 | 2,20
        T1: COMMIT
        `,
        { dialect: 'mysql' },
      ),
      findContract('mariadb:repeatable-read')!,
    );
    expect(steps.map(({ operation }) => operation)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(show(steps[4]!)).toEqual(['t/1: (1, 10) ! of (1, 11) T1', 't/2: (2, 20) of (2, 20) initial']);
    expect(steps[4]!.findings).toEqual(['own-write-missed']);
    expect(steps[3]!.rows).toMatchObject([{ object: 't/1', wrote: [{ as: 'values', text: '(1, 11)' }] }]);
    expect(steps[3]!.state).toBe('current');
  });

  it('of a row that must not be there is no row, of a missing one its values', () => {
    const { steps } = expectedAccess(
      story(`
        T1: BEGIN
        T1: SELECT id, v FROM t WHERE v > 15 -> 2,20
        T2: UPDATE t SET v = 16 WHERE id = 1 -> 1
        T1: SELECT id, v FROM t WHERE v > 15 -> 1,16
        T1: COMMIT
      `),
      findContract('postgres:repeatable-read')!,
    );
    expect(show(steps[3]!).sort()).toEqual([
      't/1: (1, 16) ! of (1, 10) initial',
      't/2: no row ! of (2, 20) initial',
    ]);
  });

  it('of an answer over whole tables is an answer', () => {
    const { steps } = expectedAccess(
      story(`
        T1: BEGIN
        T1: SELECT sum(v) FROM t -> 30
        T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
        T1: SELECT sum(v) FROM t -> 31
        T1: COMMIT
      `),
      findContract('postgres:repeatable-read')!,
    );
    expect(steps[1]!.answer).toEqual({ actual: '(30)', expected: ['(30)'], agrees: true });
    expect(steps[3]!.answer).toEqual({ actual: '(31)', expected: ['(30)'], agrees: false });
    expect(show(steps[3]!)).toEqual(['t/1: - of (1, 10) initial', 't/2: - of (2, 20) initial']);
  });

  it('is not given where the verifier cannot judge', () => {
    const { steps } = expectedAccess(
      story('T1: SELECT v FROM elsewhere -> 1'),
      findContract('postgres:repeatable-read')!,
    );
    expect(steps[0]!.notJudged).toHaveLength(1);
    expect(steps[0]!.rows).toEqual([]);
  });

  it('can be asked of every contract that says how an engine works', () => {
    for (const contract of contracts.filter(({ mechanism }) => mechanism !== undefined))
      expect(expectedAccess(fiveMoments, contract).steps).toHaveLength(11);
  });
});

describe.each(simulatedContracts)('a database that keeps $id', (contract) => {
  it('shows what is expected, and only that where instants are known', () => {
    fc.assert(
      fc.property(programs(2), choices, fc.boolean(), (sessions, stream, exact) => {
        const next = chooser(stream[Symbol.iterator]());
        const history = historyOf(simulate(contract, sessions, next, exact));
        const header = {
          ...history.header,
          setup: [
            'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
            'INSERT INTO t VALUES (1, 10), (2, 20), (3, 30)',
          ],
        };
        const told = { ...history, header };
        const { steps } = expectedAccess(told, contract);
        const sure = exact && verifyMechanism(told, contract).skipped.length === 0;
        for (const { rows } of steps)
          for (const { actual, expected, agrees } of rows) {
            if (actual === undefined) continue;
            expect(agrees).toBe(true);
            if (sure && contract.mechanism!.pivot !== 'uncommitted') expect(expected).toHaveLength(1);
            if (expected.length === 1 && actual.value.as === 'values' && sure)
              expect(expected[0]!.value).toEqual(actual.value);
          }
      }),
      { numRuns: 40, seed: 20_260_101 },
    );
  });
});
