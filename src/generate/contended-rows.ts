/**
 * Programs in which nearly every statement meets another: few rows of one table `t(id, v)`, many sessions, single-row and
 * whole-table statements, keys that are inserted and deleted again. Order inference is measured on them
 * (`npm run bench replays`) and tested on them, on real engines and on a simulated store; so statements are data, with one
 * way to write each as SQL.
 */
import type { Case } from '../cases/index.js';
import type { Random } from './random.js';

/** Rows of `t(id, v)` that satisfy all of these. */
export interface RowCondition {
  readonly id?: number;
  readonly below?: number;
  readonly least?: number;
}

/** A statement on `t(id, v)`. */
export type RowStatement =
  | { readonly type: 'begin' | 'commit' | 'rollback' }
  | { readonly type: 'select'; readonly where: RowCondition; readonly lock?: boolean }
  /** `more`: one more than before. */
  | { readonly type: 'update'; readonly where: RowCondition; readonly to: number | 'more' }
  | { readonly type: 'insert'; readonly id: number; readonly value: number }
  | { readonly type: 'delete'; readonly where: RowCondition };

export function sqlOfRowStatement(statement: RowStatement): string {
  switch (statement.type) {
    case 'begin':
    case 'commit':
    case 'rollback':
      return statement.type.toUpperCase();
    case 'select':
      return `SELECT id, v FROM t${whereText(statement.where)}${statement.lock === true ? ' FOR UPDATE' : ''}`;
    case 'update': {
      const to = statement.to === 'more' ? 'v + 1' : statement.to;
      return `UPDATE t SET v = ${to}${whereText(statement.where)}`;
    }
    case 'insert':
      return `INSERT INTO t VALUES (${statement.id}, ${statement.value})`;
    case 'delete':
      return `DELETE FROM t${whereText(statement.where)}`;
    default:
      return statement satisfies never;
  }
}

function whereText({ id, below, least }: RowCondition): string {
  const parts = [
    ...(id === undefined ? [] : [`id = ${id}`]),
    ...(below === undefined ? [] : [`v < ${below}`]),
    ...(least === undefined ? [] : [`v >= ${least}`]),
  ];
  return parts.length === 0 ? '' : ` WHERE ${parts.join(' AND ')}`;
}

export interface RowMix {
  readonly rows: number;
  readonly sessions: number;
  readonly transactions: number;
  /** How many different values are written; 0: each only once. */
  readonly values: number;
  /** Scans, inserts and deletes too. */
  readonly wide: boolean;
  /** Updates of all rows that satisfy a condition. */
  readonly rangeWrites?: boolean;
}

export interface RowProgram {
  readonly initial: ReadonlyMap<number, number>;
  readonly sessions: readonly (readonly RowStatement[])[];
}

export function contendedProgram(random: Random, mix: RowMix): RowProgram {
  let unique = 100;
  const value = () => (mix.values > 0 ? random.below(mix.values) : unique++);
  const where = () => ({ id: random.below(mix.rows) });
  const statement = (): RowStatement => {
    const roll = random.fraction();
    if (roll < 0.3) return { type: 'select', where: where() };
    if (roll < 0.4) return { type: 'select', where: where(), lock: true };
    if (roll < 0.65) return { type: 'update', where: where(), to: value() };
    if (roll < 0.72) return { type: 'update', where: where(), to: 'more' };
    if (!mix.wide) return { type: 'select', where: where() };
    if (roll < 0.82) return { type: 'select', where: random.chance(0.5) ? {} : { below: random.below(120) } };
    if (roll < 0.88) return { type: 'delete', where: where() };
    if (roll < 0.96) return { type: 'insert', ...where(), value: value() };
    return mix.rangeWrites === true
      ? { type: 'update', where: { below: random.below(120) }, to: value() }
      : { type: 'update', where: where(), to: value() };
  };
  const sessions = Array.from({ length: mix.sessions }, () =>
    Array.from({ length: mix.transactions }, (): RowStatement[] => {
      if (random.chance(0.15)) return [{ type: 'select', where: where() }];
      const body = Array.from({ length: 1 + random.below(4) }, statement);
      return [{ type: 'begin' }, ...body, { type: random.chance(0.85) ? 'commit' : 'rollback' }];
    }).flat(),
  );
  const initial = new Map<number, number>();
  for (let row = 0; row < mix.rows; row++)
    if (!mix.wide || random.chance(0.7)) initial.set(row, mix.values > 0 ? random.below(mix.values) : row);
  return { initial, sessions };
}

/** The same for real engines; without locking reads where an engine has none. */
export function caseOfRows(name: string, program: RowProgram, locking: boolean): Case {
  const plain = (one: RowStatement): RowStatement =>
    one.type === 'select' && !locking ? { ...one, lock: false } : one;
  return {
    name,
    setup: setupOfRows(program),
    sessions: program.sessions.map((statements, s) => ({
      name: `S${s}`,
      statements: statements.map((one) => sqlOfRowStatement(plain(one))),
    })),
  };
}

export function setupOfRows({ initial }: Pick<RowProgram, 'initial'>): string[] {
  return [
    'CREATE TABLE t (id INT PRIMARY KEY, v INT)',
    ...[...initial].map(([id, v]) => `INSERT INTO t VALUES (${id}, ${v})`),
  ];
}
