/**
 * What "simpler" means: candidates compare by these numbers, the first that differs decides. A pass may only lead to
 * something smaller, so a chain of passes ends, and two passes cannot undo each other's work for ever.
 */
import { transactionsOf } from '../../cases/index.js';
import { tokenize } from '../../sql/index.js';
import { type Candidate, setupRows } from '../candidate.js';
import { quietUpdates } from './canonical-values.js';
import { namesOf, plainName, plainSession } from './names.js';
import type { PassContext } from './pass.js';

type Measure = readonly number[];

/** Measures candidates; what was found out about a statement is remembered. */
export function measurer(context: PassContext): (candidate: Candidate) => Measure {
  const quiet = quietUpdates(context);
  const weights = new Map<string, readonly [length: number, weight: number]>();
  const weigh = (sql: string) => {
    const weight = weights.get(sql) ?? weighSql(sql, context);
    weights.set(sql, weight);
    return weight;
  };
  return ({ case: program, schedule }) => {
    const all = [...program.setup, ...program.sessions.flatMap(({ statements }) => statements)].map(weigh);
    const levels = program.sessions.map(({ level }) => level ?? program.level ?? context.level);
    return [
      program.sessions.reduce((sum, { statements }) => sum + statements.length, 0),
      program.sessions.reduce((sum, _, s) => sum + transactionsOf(program, s).length, 0),
      program.sessions.length,
      schedule.batches.reduce((sum, batch) => sum + batch.length - 1, 0),
      setupRows(program),
      program.setup.length,
      quiet({ case: program, schedule }),
      uglyNames(program, context),
      all.reduce((sum, [length]) => sum + length, 0),
      all.reduce((sum, [, weight]) => sum + weight, 0),
      levels.reduce((sum, level) => sum + (level === undefined ? 0 : context.levels.indexOf(level)), 0),
    ];
  };
}

export function isSmaller(a: Measure, b: Measure): boolean {
  const differs = a.findIndex((number, i) => number !== b[i]);
  return differs >= 0 && a[differs]! < b[differs]!;
}

function weighSql(sql: string, { dialect }: PassContext): readonly [number, number] {
  let weight = 0;
  for (const { kind, text } of tokenize(sql, dialect)) {
    if (kind === 'number') weight += Math.min(Number(text) || 0, 1e9);
    else if (kind === 'string') for (const char of text) weight += char.charCodeAt(0) / 1000;
  }
  return [sql.length, weight];
}

function uglyNames(program: Candidate['case'], { dialect }: PassContext): number {
  const sessions = program.sessions.filter(({ name }, s) => name !== plainSession(name, s)).length;
  return sessions + namesOf(program, dialect).filter((name) => !plainName.test(name)).length;
}
