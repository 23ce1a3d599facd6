/** Plans as people read them, and which answers a check looks at. */
import { describe, expect, it } from 'vitest';
import { endsTransactions, faultKinds } from './fault-kinds.js';
import { type Check, describeCheck, type Interaction, printPlan, resultsOf } from './interaction.js';
import { isProperty, property, that } from './property.js';

const [r1, r2] = [{ id: 1 }, { id: 2 }];
const row = { table: 't', values: [1, null], value: () => null };

/** How a property writes a check, which answers it looks at, and how it reads. */
const written: readonly [Check, readonly number[], string][] = [
  [that.same(r1, r2), [1, 2], '#1 and #2 have the same rows'],
  [that.contains(r1, row), [1], '#1 contains the row (1, NULL)'],
  [that.lacks(r2, ['a']), [2], '#2 does not contain the row (a)'],
  [that.differs(r1, [[1], [2]]), [1], '#1 is not (1) (2)'],
  [that.differs(r1, []), [1], '#1 is not empty'],
  [
    that.equal(that.sum(that.rows(r1), that.trues(r2), 3), that.rows(r2)),
    [1, 2, 2],
    'rows of #1 + true rows of #2 + 3 = rows of #2',
  ],
  [that.equal(1, 1), [], '1 = 1'],
  [that.fails(r1), [1], '#1 fails'],
  [that.fails(r1, 'busy', 'deadlock'), [1], '#1 fails with busy or deadlock'],
  [that.works(r2), [2], '#2 works'],
  [that.oneFails(r1, r2), [1, 2], 'one of #1, #2 fails'],
  [that.otherCount(r1, 4), [1], '#1 does not match 4 rows'],
  [that.predicted(r2), [2], '#2 is what the statements before it give'],
  [that.holds(() => true, r2, r1), [2, 1], 'the property’s own check of #2, #1 holds'],
];

describe('a check', () => {
  it.each(written)('%j looks at %j', (check, results, words) => {
    expect(resultsOf(check)).toEqual(results);
    expect(describeCheck(check)).toBe(words);
  });

  it('is data, but for a function of a property’s own', () => {
    for (const [check] of written)
      if (check.type !== 'that') expect(JSON.parse(JSON.stringify(check))).toEqual(check);
  });
});

describe('a plan in print', () => {
  const statement = (id: number, group: number, session = 0): Interaction => ({
    ...{ type: 'statement', id, group, session, sql: `SELECT ${id}` },
  });

  it('brackets the instances of properties, and those alone', () => {
    const interactions: Interaction[] = [
      statement(1, 1),
      statement(2, 2, 1),
      { type: 'fault', fault: 'kill', session: 1, group: 2 },
      { type: 'assert', check: that.works(r2), says: 'it stays', group: 2 },
      statement(3, 3),
    ];
    expect(printPlan({ seed: '', interactions, properties: new Map([[2, 'kept']]) }).split('\n')).toEqual([
      'SELECT 1; -- session 0, #1',
      "-- begin of 'kept'",
      'SELECT 2; -- session 1, #2',
      '-- fault: kill (session 1)',
      '-- assert: #2 works (it stays)',
      "-- end of 'kept'",
      'SELECT 3; -- session 0, #3',
      '',
    ]);
  });

  it('tells two instances of one property apart, and closes the last', () => {
    const interactions = [statement(1, 1), statement(2, 2)];
    const properties = new Map([
      [1, 'p'],
      [2, 'p'],
    ]);
    expect(printPlan({ seed: '', interactions, properties }).match(/begin of|end of/g)).toEqual([
      ...['begin of', 'end of', 'begin of', 'end of'],
    ]);
  });
});

it('a fault of one session ends its transaction, one of the database all, and one of a statement none', () => {
  expect(Object.fromEntries(faultKinds.map((fault) => [fault, endsTransactions(fault)]))).toEqual({
    ...{ reconnect: 'one', 'reconnect-all': 'all', reopen: 'all', kill: 'all' },
    ...{ cancel: 'none', 'write-error': 'none', checkpoint: 'none', vacuum: 'none' },
  });
});

describe('a property', () => {
  const act = () => undefined;

  it('sends one read unless it says otherwise', () => {
    expect(property('p', act)).toEqual({
      ...{ name: 'p', needs: {}, act, sends: { read: 1, write: 0, create: 0 } },
    });
    expect(property('p', { sends: { write: 2 } }, act).sends).toEqual({ read: 0, write: 2, create: 0 });
  });

  it.each([
    ['no name', () => property('  ', act)],
    ['no function', () => property('p', {}, undefined as never)],
    ['a name that is no text', () => property(7 as never, act)],
  ])('is refused with %s', (_, make) => {
    expect(make).toThrow('a property needs a name and a function');
  });

  it.each([
    [property('p', act), true],
    [{ name: 'p', act: 'x' }, false],
    [{ act }, false],
    [null, false],
    [act, false],
  ])('is told from other exports: %j', (thing, is) => {
    expect(isProperty(thing)).toBe(is);
  });
});
