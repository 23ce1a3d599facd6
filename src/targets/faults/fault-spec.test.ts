import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levels } from '../../contracts/index.js';
import { faultNames, parseFault, showFault } from './fault-spec.js';
import { shapeOf } from './statement-shape.js';
import { Trigger } from './trigger.js';

describe('parseFault', () => {
  it('reads a name alone and with parameters', () => {
    expect(parseFault('dirty-read')).toEqual({ name: 'dirty-read' });
    expect(parseFault(' lost-update( table = t , nth=2 ) ')).toEqual({
      name: 'lost-update',
      table: 't',
      nth: 2,
    });
    expect(parseFault('weaker-level(level=rc)')).toEqual({ name: 'weaker-level', level: 'read committed' });
    expect(parseFault('lost-insert(match="values (1, 2)",every=3)')).toEqual({
      name: 'lost-insert',
      match: 'values (1, 2)',
      every: 3,
    });
  });

  it.each([
    ['lost-updates', /"lost-updates" is no fault. Faults are: weaker-level,/],
    ['lost-update(nth=0)', /nth=0 in the fault "lost-update\(nth=0\)" must be a whole number from 1/],
    ['lost-update(often=1)', /"often=1" .* is not understood; parameters are table=, kind=/],
    ['lost-update(match=[)', /must be a regular expression/],
    ['weaker-level(level=strong)', /must be an isolation level/],
    ['lost-update(table=)', /must be a name/],
  ])('refuses %s and says what is accepted', (text, message) => {
    expect(() => parseFault(text)).toThrow(message);
  });

  it('is the inverse of showFault', () => {
    const name = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/);
    const spec = fc.record(
      {
        name: fc.constantFrom(...faultNames),
        table: name,
        kind: fc.constantFrom('select', 'update'),
        match: fc.constantFrom('a,b', 'id = 1', '^x(y)$', 'plain'),
        nth: fc.integer({ min: 1, max: 99 }),
        every: fc.integer({ min: 1, max: 99 }),
        key: name,
        level: fc.constantFrom(...levels),
      },
      { requiredKeys: ['name'] },
    );
    fc.assert(
      fc.property(spec, (value) => {
        expect(parseFault(showFault(value))).toEqual(value);
      }),
    );
  });
});

it('every fault is documented, with what it does and what it models', () => {
  const page = readFileSync('docs/stages/faults.md', 'utf8');
  const table = (heading: string) => {
    const section = page.slice(page.indexOf(heading)).split('\n## ')[0]!;
    return [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  };
  expect(table('## The faults')).toEqual([...faultNames]);
  expect(table('## What each one models')).toEqual([...faultNames]);
});

describe('a trigger', () => {
  const statements = [
    'SELECT * FROM t',
    'UPDATE t SET v = 1',
    'SELECT * FROM u',
    'select v from T where id = 1',
    'INSERT INTO "T" VALUES (1)',
  ];
  const strikes = (text: string) => {
    const trigger = new Trigger(parseFault(`dirty-read${text}`));
    const once = () => statements.map((sql) => trigger.fires([shapeOf(sql, 'postgres')]));
    const first = once();
    trigger.reset();
    expect(once(), 'the same again after a reset').toEqual(first);
    return first.flatMap((fired, i) => (fired ? [i] : []));
  };

  it.each([
    ['', [0, 1, 2, 3, 4]],
    // In PostgreSQL "T" is another table.
    ['(table=t)', [0, 1, 3]],
    ['(kind=select)', [0, 2, 3]],
    ['(table=t,kind=select,nth=2)', [3]],
    ['(every=2)', [1, 3]],
    ['(match="where id")', [3]],
    ['(nth=9)', []],
  ])('%s strikes at %j', (text, expected) => {
    expect(strikes(text)).toEqual(expected);
  });
});
