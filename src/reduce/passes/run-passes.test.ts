/** What holds of every pass, on programs made at random and predicates made from them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScript, scheduleProblem } from '../../cases/index.js';
import { type Candidate, candidateOf, contentKey } from '../candidate.js';
import type { TrialOracle } from '../trial.js';
import { Trials } from '../trials.js';
import { type Passes, passes, runPasses } from './index.js';
import { isSmaller, measurer } from './measure.js';
import type { Pass, PassContext } from './pass.js';

const context: PassContext = {
  dialect: 'postgres',
  levels: ['read committed', 'repeatable read', 'serializable'],
  level: 'serializable',
};

const statements = [
  'SELECT id, v FROM t WHERE id = 1',
  'SELECT * FROM t WHERE v > 10 ORDER BY id',
  'UPDATE t SET v = 4711 WHERE id = 2',
  'UPDATE t SET v = v + 1, w = 7 WHERE id = 1 AND v < 100',
  "INSERT INTO t VALUES (9, 90, 'nine')",
  'DELETE FROM t WHERE id = 3',
  'SELECT COUNT(*) FROM other',
];
const setup = [
  'CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)',
  'CREATE TABLE other (k INT)',
  'CREATE INDEX by_v ON t (v)',
  'INSERT INTO t VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)',
];

const transaction = fc.record({
  session: fc.constantFrom('A', 'B', 'C'),
  body: fc.array(fc.constantFrom(...statements), { minLength: 1, maxLength: 3 }),
  explicit: fc.boolean(),
});
const program: fc.Arbitrary<Candidate> = fc
  .array(transaction, { minLength: 1, maxLength: 4 })
  .map((transactions) => {
    const lines = transactions.flatMap(({ session, body, explicit }) =>
      (explicit ? ['BEGIN', ...body, 'COMMIT'] : body).map((sql) => `${session}: ${sql};`),
    );
    const text = [...setup.map((sql) => `${sql};`), ...lines].join('\n');
    return candidateOf(parseScript(text, { file: 'test.sql', dialect: 'postgres' }));
  });

const first = (list: readonly string[]) => list.map((sql) => sql.split(' ')[0]!);
const kindsOf = ({ case: given }: Candidate) =>
  given.sessions.flatMap((session) => first(session.statements));

/** A finding that needs so many statements of one kind, and perhaps a transaction around something. */
function shows(start: Candidate, kind: string, isInTransaction: boolean): (given: Candidate) => boolean {
  const needed = Math.min(2, kindsOf(start).filter((each) => each === kind).length);
  const begins = isInTransaction && kindsOf(start).includes('BEGIN') ? 1 : 0;
  return (given) => {
    const kinds = kindsOf(given);
    const count = (wanted: string) => kinds.filter((each) => each === wanted).length;
    return count(kind) >= needed && count('BEGIN') >= begins && given.case.setup.length > 0;
  };
}

async function simplified(start: Candidate, test: (given: Candidate) => boolean, some: Passes) {
  const seen = new Set<string>();
  const oracle: TrialOracle = {
    lanes: 1,
    run: async (given) => {
      expect(scheduleProblem(given.case, given.schedule)).toBeUndefined();
      expect(seen.has(contentKey(given))).toBe(false);
      seen.add(contentKey(given));
      return { verdict: test(given) ? 'same' : 'none' };
    },
  };
  const trials = new Trials(start, { oracle });
  await runPasses(some, trials, context);
  return trials.best;
}

const finding = fc.record({
  start: program,
  kind: fc.constantFrom('SELECT', 'UPDATE', 'INSERT', 'DELETE'),
  inTransaction: fc.boolean(),
});
const options = { seed: 101, numRuns: 25 };
const measure = measurer(context);

describe('all passes together', () => {
  it('end with a case that still shows the finding and is not larger', async () => {
    await fc.assert(
      fc.asyncProperty(finding, async ({ start, kind, inTransaction }) => {
        const test = shows(start, kind, inTransaction);
        const best = await simplified(start, test, passes);
        expect(test(best)).toBe(true);
        expect(isSmaller(measure(start), measure(best))).toBe(false);
      }),
      options,
    );
  });

  it('leave nothing that they could take away in a second run', async () => {
    const taking: Passes = { ...passes, cosmetic: [] };
    await fc.assert(
      fc.asyncProperty(finding, async ({ start, kind, inTransaction }) => {
        const test = shows(start, kind, inTransaction);
        const once = await simplified(start, test, taking);
        expect(await simplified(once, test, taking)).toEqual(once);
      }),
      options,
    );
  });

  it('leave no statement that could go alone', async () => {
    await fc.assert(
      fc.asyncProperty(finding, async ({ start, kind }) => {
        const best = await simplified(start, shows(start, kind, false), passes);
        const needed = Math.min(2, kindsOf(start).filter((each) => each === kind).length);
        // With nothing needed a last statement may stay.
        expect(kindsOf(best).length).toBeLessThanOrEqual(Math.max(needed, 1));
      }),
      options,
    );
  });
});

describe.each(
  Object.values(passes)
    .flat()
    .map((pass: Pass) => [pass.name, pass] as const),
)('%s', (_, pass) => {
  it('proposes cases that can be scheduled, and does not change what it was given', () => {
    fc.assert(
      fc.property(program, (start) => {
        const before = JSON.stringify(start);
        for (const propose of pass.proposals(start, context)) {
          const made = propose();
          if (made !== undefined) expect(scheduleProblem(made.case, made.schedule)).toBeUndefined();
        }
        expect(JSON.stringify(start)).toBe(before);
      }),
      options,
    );
  });
});

describe('the measure of a case', () => {
  const given = (text: string) => candidateOf(parseScript(text, { file: 'test.sql', dialect: 'postgres' }));
  const table = 'CREATE TABLE t (a INT);\n';

  it.each<[string, string, string]>([
    [
      'fewer statements, however long',
      `A: SELECT a, a, a, a FROM t WHERE a = 123456;`,
      'A: SELECT 1;\nA: SELECT 2;',
    ],
    ['fewer transactions', 'A: BEGIN;\nA: SELECT 1;\nA: COMMIT;', 'A: SELECT 1;\nA: SELECT 2;\nA: SELECT 3;'],
    ['fewer sessions', 'A: SELECT 1;\nA: SELECT 2;', 'A: SELECT 1;\nB: SELECT 2;'],
    [
      'fewer rows of set-up',
      'INSERT INTO t VALUES (100);\nA: SELECT 1;',
      'INSERT INTO t VALUES (1), (2);\nA: SELECT 1;',
    ],
    ['plain names of sessions', 'T1: SELECT 1;', 'reader: SELECT 1;'],
    ['shorter statements', 'T1: SELECT 9;', 'T1: SELECT 1, 1;'],
    ['smaller values', 'T1: SELECT 1;', 'T1: SELECT 2;'],
  ])('prefers %s', (_, smaller, larger) => {
    expect(isSmaller(measure(given(table + smaller)), measure(given(table + larger)))).toBe(true);
    expect(isSmaller(measure(given(table + larger)), measure(given(table + smaller)))).toBe(false);
  });

  it('is never smaller than itself', () => {
    fc.assert(
      fc.property(program, (start) => {
        expect(isSmaller(measure(start), measure(start))).toBe(false);
      }),
      options,
    );
  });
});
