/** Random cases for properties: odd names, quotes, line breaks and semicolons in literals, schedules with batches. */
import fc from 'fast-check';
import { levels } from '../contracts/index.js';
import { normalizeSql } from '../sql/index.js';
import type { Case, StatementRef } from './case.js';
import { caseDialects } from './case-file.js';
import type { ScheduledCase } from './schedule.js';

const oddText = fc.oneof(
  fc.constantFrom(
    'T1',
    'writer',
    'two words',
    'a:b',
    '"q"',
    "it's",
    ' edge ',
    'x\ny',
    '\\',
    'é😀',
    '-- name: x',
    '',
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const fragment = fc.oneof(
  fc.constantFrom(
    'SELECT 1',
    'BEGIN',
    'UPDATE t SET a = a + 1',
    'T1: x',
    'DELIMITER //',
    '/*+ HINT(t) */',
    '/*! 50000 x */',
    '-- note\n',
    '#',
    '{ a: 1 }',
    '| T2: y',
    '//',
    ';',
    ' ',
    '\r\n',
    "'",
    '"',
    '$$',
    '[',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `'${text.replaceAll("'", "''")}'`),
  fc.constantFrom("'T2: BEGIN;\nT1: COMMIT'", '"a;\nb: "', '`x``y;`', "'\\'", "''"),
  fc.string({ maxLength: 6 }),
);

const anySql = fc.array(fragment, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(' '));

/** A case whose SQL is normalised, with a schedule or without. */
export const anyScheduledCase: fc.Arbitrary<ScheduledCase> = fc
  .record({
    name: oddText,
    description: fc.option(oddText, { nil: undefined }),
    dialect: fc.option(fc.constantFrom(...caseDialects), { nil: undefined }),
    level: fc.option(fc.constantFrom(...levels), { nil: undefined }),
    setup: fc.array(anySql, { maxLength: 3 }),
    sessions: fc.uniqueArray(
      fc.record({
        name: oddText.filter((name) => name !== ''),
        level: fc.option(fc.constantFrom(...levels), { nil: undefined }),
        statements: fc.array(anySql, { maxLength: 4 }),
      }),
      { maxLength: 4, selector: (session) => session.name },
    ),
    picks: fc.option(fc.array(fc.tuple(fc.nat(3), fc.boolean()), { maxLength: 40 }), { nil: undefined }),
  })
  .map(({ picks, ...raw }) => {
    const normal = (each: readonly string[]) =>
      each.map((sql) => normalizeSql(sql, raw.dialect)).filter((sql) => sql !== '');
    const program = dropUndefined({
      ...raw,
      setup: normal(raw.setup),
      sessions: raw.sessions.map((each) => dropUndefined({ ...each, statements: normal(each.statements) })),
    }) as Case;
    return picks === undefined
      ? { case: program }
      : { case: program, schedule: { batches: batchesOf(program, picks) } };
  });

function batchesOf(program: Case, picks: readonly (readonly [number, boolean])[]): StatementRef[][] {
  const next = program.sessions.map(() => 0);
  const batches: StatementRef[][] = [];
  const take = (session: number, together: boolean) => {
    if (next[session] === undefined || next[session]! >= program.sessions[session]!.statements.length) return;
    const last = batches.at(-1);
    const ref: StatementRef = [session, next[session]!++];
    if (together && last !== undefined && !last.some(([other]) => other === session)) last.push(ref);
    else batches.push([ref]);
  };
  for (const [session, together] of picks) take(session, together);
  program.sessions.forEach((each, s) => {
    for (let i = 0; i < each.statements.length; i++) take(s, false);
  });
  return batches;
}

function dropUndefined<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
