/** Plans as data: printed for people, stored as a file that anybody can replay, and read back with suspicion. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError, IsoldeError } from '../errors.js';
import { type CounterexampleFile, parseCounterexample, printCounterexample } from './counterexample-file.js';
import { endsTransactions, faultKinds } from './fault-kinds.js';
import { type Check, describeCheck, type Interaction, printPlan, resultsOf } from './interaction.js';
import { knownDifference, knownDifferences } from './known-differences.js';
import { isProperty, property, that } from './property.js';

const checks: readonly (readonly [check: Check, words: string, results: readonly number[]])[] = [
  [{ type: 'same', left: 1, right: 2 }, '#1 and #2 have the same rows', [1, 2]],
  [{ type: 'contains', result: 3, row: [1, 'a', null] }, '#3 contains the row (1, a, NULL)', [3]],
  [{ type: 'lacks', result: 3, row: [{ bytes: '00' }] }, '#3 does not contain the row (0x00)', [3]],
  [{ type: 'differs', result: 4, rows: [[1], [2]] }, '#4 is not (1) (2)', [4]],
  [{ type: 'differs', result: 4, rows: [] }, '#4 is not empty', [4]],
  [{ type: 'equal', left: { rows: 1 }, right: 5 }, 'rows of #1 = 5', [1]],
  [
    { type: 'equal', left: { sum: [{ rows: 1 }, { trues: 2 }, 3] }, right: { trues: 4 } },
    'rows of #1 + true rows of #2 + 3 = true rows of #4',
    [1, 2, 4],
  ],
  [{ type: 'fails', result: 6 }, '#6 fails', [6]],
  [{ type: 'fails', result: 6, classes: ['deadlock', 'busy'] }, '#6 fails with deadlock or busy', [6]],
  [{ type: 'works', result: 6 }, '#6 works', [6]],
  [{ type: 'one-fails', results: [1, 2] }, 'one of #1, #2 fails', [1, 2]],
  [{ type: 'other-count', result: 7, count: 0 }, '#7 does not match 0 rows', [7]],
  [{ type: 'predicted', result: 8 }, '#8 is what the statements before it give', [8]],
];

describe('a check', () => {
  it.each(checks)('%j in words', (check, words, results) => {
    expect(describeCheck(check)).toBe(words);
    expect(resultsOf(check)).toEqual(results);
  });

  it('is made by the words of a property', () => {
    const [a, b] = [{ id: 1 }, { id: 2 }];
    const row = { table: 't', values: [5], value: () => 5 };
    expect(that.same(a, b)).toEqual({ type: 'same', left: 1, right: 2 });
    expect(that.contains(a, row)).toEqual(that.contains(a, [5]));
    expect(that.fails(a)).toEqual({ type: 'fails', result: 1 });
    expect(that.fails(a, 'busy')).toEqual({ type: 'fails', result: 1, classes: ['busy'] });
    expect(that.equal(that.sum(that.rows(a), that.trues(b)), 3)).toEqual({
      type: 'equal',
      left: { sum: [{ rows: 1 }, { trues: 2 }] },
      right: 3,
    });
    expect(that.oneFails(a, b)).toEqual({ type: 'one-fails', results: [1, 2] });
  });
});

describe('a plan for people', () => {
  it('brackets properties and says who sends what', () => {
    const interactions: Interaction[] = [
      { type: 'statement', group: 0, id: 0, session: 0, sql: 'CREATE TABLE t (a INT)' },
      { type: 'statement', group: 1, id: 1, session: 1, sql: 'SELECT a FROM t' },
      { type: 'fault', group: 1, fault: 'reconnect', session: 1 },
      { type: 'assert', group: 1, check: { type: 'works', result: 1 }, says: 'it reads' },
      { type: 'statement', group: 2, id: 2, session: 0, sql: 'DROP TABLE t' },
    ];
    expect(printPlan({ seed: 's', interactions, properties: new Map([[1, 'reads']]) })).toBe(
      [
        'CREATE TABLE t (a INT); -- session 0, #0',
        "-- begin of 'reads'",
        'SELECT a FROM t; -- session 1, #1',
        '-- fault: reconnect (session 1)',
        '-- assert: #1 works (it reads)',
        "-- end of 'reads'",
        'DROP TABLE t; -- session 0, #2',
        '',
      ].join('\n'),
    );
  });

  it('of a property at its end closes it', () => {
    const one: Interaction = { type: 'statement', group: 3, id: 0, session: 0, sql: 'SELECT 1' };
    expect(printPlan({ seed: '', interactions: [one], properties: new Map([[3, 'p']]) })).toContain(
      "-- end of 'p'",
    );
  });
});

describe('a counterexample', () => {
  const grouped = { group: fc.nat(5) };
  const interaction: fc.Arbitrary<Interaction> = fc.oneof(
    fc.record({
      type: fc.constant('statement' as const),
      ...grouped,
      id: fc.nat(50),
      session: fc.nat(3),
      sql: fc.string(),
    }),
    fc.record({
      type: fc.constant('fault' as const),
      ...grouped,
      session: fc.nat(3),
      fault: fc.constantFrom(...faultKinds),
    }),
    fc.record({
      type: fc.constantFrom('assert' as const, 'assume' as const),
      ...grouped,
      check: fc.constantFrom(...checks.map(([check]) => check)),
      says: fc.string(),
    }),
  );

  it('comes back from its file', () => {
    fc.assert(
      fc.property(fc.array(interaction, { maxLength: 8 }), fc.string(), (interactions, seed) => {
        const groups = new Set(interactions.map(({ group }) => group));
        const file: CounterexampleFile = {
          plan: { seed, interactions, properties: new Map([...groups].map((group) => [group, `p${group}`])) },
          dialect: 'sqlite',
          level: 'serializable',
          identity: 'assertion p',
          message: 'it is wrong',
        };
        expect(parseCounterexample(printCounterexample(file), 'f')).toEqual(file);
      }),
    );
  });

  it('keeps no code, and no names of properties that are not in it', () => {
    const check: Check = { type: 'that', results: [0], holds: () => true };
    const text = printCounterexample({
      plan: {
        seed: 's',
        interactions: [{ type: 'assert', group: 0, check, says: 'own' }],
        properties: new Map([
          [0, 'here'],
          [9, 'gone'],
        ]),
      },
      dialect: 'duckdb',
      level: 'snapshot',
      identity: 'i',
      message: 'm',
    });
    expect(text).not.toContain('holds');
    expect(text).not.toContain('gone');
    expect(parseCounterexample(text, 'f').plan.interactions[0]).toMatchObject({
      check: { type: 'that', results: [0] },
    });
  });

  const good = {
    format: 'isolde-counterexample',
    version: 1,
    dialect: 'sqlite',
    level: 'serializable',
    identity: 'i',
    message: 'm',
    seed: 's',
    properties: [[0, 'p']],
    interactions: [{ type: 'statement', group: 0, id: 0, session: 0, sql: 'SELECT 1' }],
  };
  const [first] = good.interactions;
  const assertion = (check: object) => ({ interactions: [{ type: 'assert', group: 0, says: '', check }] });

  it.each<[change: object, field: string]>([
    [{ format: 'isolde-case' }, 'format'],
    [{ version: 2 }, 'version'],
    [{ extra: 1 }, 'extra'],
    [{ dialect: 'oracle' }, 'dialect'],
    [{ level: 'chaos' }, 'level'],
    [{ seed: 5 }, 'seed'],
    [{ properties: [[0]] }, 'properties[0]'],
    [{ properties: [['x', 'p']] }, 'properties[0]'],
    [{ interactions: [{ ...first, type: 'exec' }] }, 'interactions[0].type'],
    [{ interactions: [{ ...first, session: 100 }] }, 'interactions[0].session'],
    [{ interactions: [{ ...first, session: -1 }] }, 'interactions[0].session'],
    [{ interactions: [{ ...first, sql: null }] }, 'interactions[0].sql'],
    [{ interactions: [{ ...first, mayFail: false }] }, 'interactions[0].mayFail'],
    [{ interactions: [{ type: 'fault', group: 0, session: 0, fault: 'rm -rf' }] }, 'interactions[0].fault'],
    [assertion({ type: 'eval' }), 'interactions[0].check.type'],
    [assertion({ type: 'contains', result: 0, row: [{ int: 'x' }] }), 'interactions[0].check.row[0]'],
    [assertion({ type: 'works', result: 'x' }), 'interactions[0].check.result'],
    [assertion({ type: 'equal', left: {}, right: 1 }), 'interactions[0].check.left'],
  ])('%j is refused', (change, field) => {
    const thrown = (() => {
      try {
        return parseCounterexample(JSON.stringify({ ...good, ...change }), 'c.json');
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(FileError);
    expect((thrown as FileError).message).toContain(field);
  });

  it('of which nothing is wrong is read', () => {
    expect(parseCounterexample(JSON.stringify(good), 'c.json').plan.interactions).toEqual(good.interactions);
  });
});

describe('a property', () => {
  it('has a name, a function, and what it sends', () => {
    const act = () => undefined;
    expect(property('p', act)).toEqual({
      name: 'p',
      sends: { read: 1, write: 0, create: 0 },
      needs: {},
      act,
    });
    expect(property('p', { sends: { write: 2 }, says: 'x', anyState: true }, act)).toMatchObject({
      sends: { read: 0, write: 2, create: 0 },
      says: 'x',
      anyState: true,
    });
  });

  it.each<[what: string, make: () => unknown]>([
    ['no name', () => property('', () => undefined)],
    ['a name of blanks', () => property('  ', () => undefined)],
    ['no function', () => property('p', {} as never)],
  ])('with %s is refused', (_, make) => {
    expect(make).toThrow(IsoldeError);
    expect(make).toThrow('a property needs a name and a function');
  });

  it('is told from whatever else a file exports', () => {
    expect(isProperty(property('p', () => undefined))).toBe(true);
    for (const thing of [null, undefined, 5, {}, { name: 'p' }, { act: () => undefined }, () => undefined])
      expect(isProperty(thing)).toBe(false);
  });
});

describe('a documented difference', () => {
  it.each<[left: string, right: string, sql: string, known: boolean]>([
    ['mariadb', 'mysql', 'INSERT INTO t VALUES (1) RETURNING a', true],
    ['mysql', 'mariadb', 'insert into t values (1) returning a', true],
    ['mysql', 'mysql', 'INSERT INTO t VALUES (1) RETURNING a', false],
    ['mariadb', 'tidb', 'INSERT INTO t VALUES (1) RETURNING a', false],
    ['mariadb', 'mysql', 'SELECT returning_date FROM t', false],
    ['mariadb', 'mysql', 'SELECT 1 EXCEPT SELECT 2', true],
    ['mariadb', 'mysql', 'UPDATE t SET a = (SELECT MAX(a) FROM t)', true],
    ['mariadb', 'mysql', 'DELETE FROM `t` WHERE a IN (SELECT a FROM `t`)', true],
    ['mariadb', 'mysql', 'UPDATE t SET a = (SELECT MAX(a) FROM u)', false],
    ['mariadb', 'mysql', 'UPDATE t SET a = (SELECT MAX(a) FROM t2)', false],
    ['mariadb', 'mysql', 'SELECT a FROM t', false],
  ])('between %s and %s explains %s: %s', (left, right, sql, known) => {
    expect(knownDifference(left, right, sql) !== undefined).toBe(known);
  });

  it('says why and where that is written', () => {
    for (const { why, source } of knownDifferences) {
      expect(why.length).toBeGreaterThan(10);
      expect(source).toMatch(/^https:\/\//);
    }
  });
});

it('every fault says which transactions it ends', () => {
  const ends = Object.fromEntries(faultKinds.map((fault) => [fault, endsTransactions(fault)]));
  expect(ends).toEqual({
    reconnect: 'one',
    'reconnect-all': 'all',
    reopen: 'all',
    kill: 'all',
    cancel: 'none',
    'write-error': 'none',
    checkpoint: 'none',
    vacuum: 'none',
  });
});
