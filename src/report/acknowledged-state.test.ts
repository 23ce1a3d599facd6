import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Answered, Database, historyOf, simulate } from '../check/mechanism/simulate.case.js';
import {
  choices,
  chooser,
  programs,
  simulatedContracts,
} from '../check/mechanism/simulated-programs.case.js';
import { story } from '../check/mechanism/story.case.js';
import { findContract } from '../contracts/index.js';
import { acknowledgedReads } from './acknowledged-state.js';

const seed = Number(process.env.ISOLDE_SEED ?? 20_261_116);
const snapshot = findContract('duckdb:snapshot')!;
const innodb = findContract('mariadb:repeatable-read')!;

const expectedOf = (text: string, contract = snapshot, setup?: readonly string[]) =>
  acknowledgedReads(story(text, setup === undefined ? {} : { setup }), contract).map(
    ({ expected }) => expected,
  );

describe.each(simulatedContracts)('$id', (contract) => {
  it(`expects what a correct database returns at the end (seed ${seed})`, () => {
    let decided = 0;
    fc.assert(
      fc.property(programs(3), choices, (sessions, stream) => {
        const answered = simulate(contract, sessions, chooser(stream), true);
        const database = new Database(contract.mechanism!);
        for (const step of answered)
          if ('error' in step.answer) database.abort(step.session);
          else database.run(step);
        const read = { session: 9, action: { type: 'read', least: -1000 } } as const;
        const answer = database.run(read) as { rows: readonly (readonly [number, number])[] };
        const start = Math.max(0, ...answered.map(({ end }) => end)) + 10;
        const closing: Answered = { ...read, answer, start, end: start + 1 };
        for (const { expected, operation } of acknowledgedReads(
          historyOf([...answered, closing]),
          contract,
        )) {
          decided++;
          expect(expected.toSorted((a, b) => Number(a[0]) - Number(b[0]))).toEqual(operation.rows);
        }
      }),
      { numRuns: 100, seed },
    );
    // A model that decides nothing would agree with anything.
    expect(decided).toBeGreaterThan(contract.mechanism!.snapshotMoves === true ? -1 : 5);
  });
});

describe('a conflict that was passed over', () => {
  const passed = (first: string, second: string) => `
    T2: BEGIN
    T2: SELECT * FROM t -> 1,10 | 2,20
    T1: ${first} -> 1
    T2: ${second} -> 1
    T2: COMMIT
    after: SELECT * FROM t -> 2,20`;

  it('leaves the accepted UPDATE of a row that was deleted meanwhile', () => {
    const text = passed('DELETE FROM t WHERE id = 1', 'UPDATE t SET v = 11 WHERE id = 1');
    expect(expectedOf(text)).toEqual([
      [
        [1, 11],
        [2, 20],
      ],
    ]);
    expect(acknowledgedReads(story(text), snapshot)[0]!.writers).toEqual([0]);
  });

  it('leaves both increments', () => {
    const text = passed('UPDATE t SET v = v + 1 WHERE id = 1', 'UPDATE t SET v = v + 1 WHERE id = 1');
    expect(expectedOf(text)[0]).toContainEqual([1, 12]);
  });

  it('leaves nothing certain where the newest version is not what was looked for', () => {
    const text = passed('UPDATE t SET v = 5 WHERE id = 1', 'UPDATE t SET v = 11 WHERE v = 10');
    expect(expectedOf(text)).toEqual([]);
  });
});

describe('nothing is expected', () => {
  const closing = 'after: SELECT * FROM t -> 1,10 | 2,20';
  it.each([
    [
      'two writers were open at once',
      'T1: BEGIN\nT2: BEGIN\nT1: UPDATE t SET v = 1 WHERE id = 1 -> 1\nT2: UPDATE t SET v = 2 WHERE id = 1 -> 1\nT1: COMMIT\nT2: COMMIT',
    ],
    ['a transaction is left open', 'T1: BEGIN\nT1: UPDATE t SET v = 1 WHERE id = 1 -> 1'],
    ['the count is not that of the condition', 'T1: UPDATE t SET v = 1 WHERE id = 1 -> 2'],
    [
      'a savepoint was set',
      'T1: BEGIN\nT1: SAVEPOINT s\nT1: UPDATE t SET v = 1 WHERE id = 1 -> 1\nT1: COMMIT',
    ],
    [
      'a statement failed before the COMMIT',
      'T1: BEGIN\nT1: UPDATE t SET v = 1 WHERE id = 1 -> error other\nT1: COMMIT',
    ],
    ['operations overlap', '[900,1011] T1: UPDATE t SET v = 1 WHERE id = 1 -> 1'],
    ['a value cannot be evaluated', 'T1: UPDATE t SET v = random() WHERE id = 1 -> 1'],
  ])('where %s', (_, text) => {
    expect(expectedOf(`${text}\n${closing}`)).toEqual([]);
  });

  it('where the contract says nothing of mechanisms', () => {
    expect(expectedOf(closing, findContract('adya:PL-3')!)).toEqual([]);
    expect(expectedOf(closing)).toHaveLength(1);
  });

  it('of a read inside a transaction', () => {
    expect(expectedOf(`T1: BEGIN\n${closing.replace('after', 'T1')}\nT1: COMMIT`)).toEqual([]);
  });
});

it('writes of InnoDB meet current rows', () => {
  const text = `
    T2: BEGIN
    T2: SELECT * FROM t -> 1,10 | 2,20
    T1: UPDATE t SET v = 15 WHERE id = 1 -> 1
    T2: UPDATE t SET v = v + 1 WHERE id = 1 -> 1
    T2: COMMIT
    after: SELECT v FROM t WHERE id = 1 -> 16`;
  expect(expectedOf(text, innodb)).toEqual([[[16]]]);
});

describe('a write whose condition matched other rows than it should have', () => {
  const setup = [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    'INSERT INTO t VALUES (1, 10), (2, 20)',
    'CREATE TABLE u (v INT)',
    'INSERT INTO u VALUES (15)',
  ];
  const text = `
    T2: BEGIN
    T2: SELECT * FROM u -> 15
    T1: INSERT INTO u VALUES (5) -> 1
    T2: UPDATE t SET v = 0 WHERE v <= (SELECT MIN(v) FROM u) -> 0
    T2: COMMIT
    after: SELECT * FROM t -> 1,10 | 2,20`;
  const reported = findContract('mariadb:repeatable-read+reported')!;
  const history = story(text, { setup });

  it('leaves what the right condition selects', () => {
    const update = history.operations.find(({ kind }) => kind === 'update')!;
    const [read] = acknowledgedReads(history, reported, new Map([[update.index, 1]]));
    expect(read!.expected).toEqual([
      [1, 0],
      [2, 20],
    ]);
  });

  it('decides nothing where nobody says what it should have matched, or what its subquery sees', () => {
    expect(acknowledgedReads(history, reported)).toEqual([]);
    expect(acknowledgedReads(history, innodb, new Map([[3, 1]]))).toEqual([]);
  });
});

describe('a table of 30,000 rows', () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => `(${i + 1}, 0)`).join(', ');
  const changed = 'T1: UPDATE t SET v = 1 WHERE id = 7 -> 1\nafter: SELECT * FROM t WHERE v = 1 -> 7,1';

  it.each([
    ['a key', 'id INT PRIMARY KEY, v INT'],
    ['no key', 'id INT, v INT'],
  ])('is decided at once with %s', { timeout: 10_000 }, (_, columns) => {
    const setup = [`CREATE TABLE t (${columns})`, `INSERT INTO t VALUES ${rows}`];
    expect(expectedOf(changed, snapshot, setup)).toEqual([[[7, 1]]]);
  });

  it('is undecided where two rows share a key', () => {
    const setup = ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 0), (2, 0)'];
    const twice = 'T1: UPDATE t SET id = 1 WHERE id = 2 -> 1\nafter: SELECT * FROM t -> 1,0 | 1,0';
    expect(expectedOf(twice, snapshot, setup)).toEqual([]);
    expect(expectedOf(twice.replaceAll('id = 1', 'id = 3'), snapshot, setup)).toHaveLength(1);
  });
});
