/**
 * The lattice of isolation levels, and what breaking each means. Twelve base levels; where it matters whether
 * sessions or the clock count, a level has a `strong session` and a `strong` (real-time) variant.
 *
 * What each level demands of a history of reads and writes (committed transactions only):
 * - read uncommitted, read committed, repeatable read, serializable: Adya's PL-1, PL-2, PL-2.99 and PL-3;
 * - cursor stability: PL-CS, where every read of a key that the same transaction later writes counts as made
 *   through a cursor, since key-value histories have no other cursors;
 * - monotonic atomic view, read atomic, causal: the axioms that Biswas & Enea (OOPSLA 2019) call RC, RA and CC,
 *   session order included;
 * - prefix and snapshot: there are points at which transactions read and commit, reads see exactly what was
 *   committed before, and (snapshot) no two concurrent transactions write the same key.
 *
 * The strong variants demand in addition that the order of sessions, or that of non-overlapping intervals, is kept.
 */
import { IsoldeError } from '../errors.js';

export type BaseLevel =
  | 'read uncommitted'
  | 'read committed'
  | 'monotonic atomic view'
  | 'read atomic'
  | 'causal'
  | 'cursor stability'
  | 'prefix'
  | 'repeatable read'
  | 'snapshot'
  | 'serializable';

/** Which order between transactions a level keeps besides their dependencies. */
export type LevelOrder = 'none' | 'session' | 'real-time';

export type CheckLevel =
  | BaseLevel
  | 'strong session read uncommitted'
  | 'strong read uncommitted'
  | 'strong session read committed'
  | 'strong read committed'
  | 'strong session prefix'
  | 'strong session repeatable read'
  | 'strong repeatable read'
  | 'strong session snapshot'
  | 'strong snapshot'
  | 'strong session serializable'
  | 'strict serializable';

interface LevelEntry {
  readonly base: BaseLevel;
  readonly order: LevelOrder;
  /** The levels directly below. */
  readonly over: readonly CheckLevel[];
}

/** Weakest first: every level comes after those it is over. */
const table: Readonly<Record<CheckLevel, LevelEntry>> = {
  'read uncommitted': { base: 'read uncommitted', order: 'none', over: [] },
  'strong session read uncommitted': {
    base: 'read uncommitted',
    order: 'session',
    over: ['read uncommitted'],
  },
  'strong read uncommitted': {
    base: 'read uncommitted',
    order: 'real-time',
    over: ['strong session read uncommitted'],
  },
  'read committed': { base: 'read committed', order: 'none', over: ['read uncommitted'] },
  'strong session read committed': {
    base: 'read committed',
    order: 'session',
    over: ['read committed', 'strong session read uncommitted'],
  },
  'strong read committed': {
    base: 'read committed',
    order: 'real-time',
    over: ['strong session read committed', 'strong read uncommitted'],
  },
  'monotonic atomic view': {
    base: 'monotonic atomic view',
    order: 'session',
    over: ['strong session read committed'],
  },
  'read atomic': { base: 'read atomic', order: 'session', over: ['monotonic atomic view'] },
  causal: { base: 'causal', order: 'session', over: ['read atomic'] },
  'cursor stability': { base: 'cursor stability', order: 'none', over: ['read committed'] },
  prefix: { base: 'prefix', order: 'none', over: ['read committed'] },
  'strong session prefix': { base: 'prefix', order: 'session', over: ['prefix', 'causal'] },
  'repeatable read': { base: 'repeatable read', order: 'none', over: ['cursor stability'] },
  'strong session repeatable read': {
    base: 'repeatable read',
    order: 'session',
    over: ['repeatable read', 'strong session read committed'],
  },
  'strong repeatable read': {
    base: 'repeatable read',
    order: 'real-time',
    over: ['strong session repeatable read', 'strong read committed'],
  },
  snapshot: { base: 'snapshot', order: 'none', over: ['prefix', 'cursor stability'] },
  'strong session snapshot': {
    base: 'snapshot',
    order: 'session',
    over: ['snapshot', 'strong session prefix'],
  },
  'strong snapshot': {
    base: 'snapshot',
    order: 'real-time',
    over: ['strong session snapshot', 'strong read committed'],
  },
  serializable: { base: 'serializable', order: 'none', over: ['snapshot', 'repeatable read'] },
  'strong session serializable': {
    base: 'serializable',
    order: 'session',
    over: ['serializable', 'strong session snapshot', 'strong session repeatable read'],
  },
  'strict serializable': {
    base: 'serializable',
    order: 'real-time',
    over: ['strong session serializable', 'strong snapshot', 'strong repeatable read'],
  },
};

/** Every level, weakest first. */
export const checkLevels = Object.keys(table) as readonly CheckLevel[];

export const baseOf = (level: CheckLevel): BaseLevel => table[level].base;
export const orderOf = (level: CheckLevel): LevelOrder => table[level].order;

/** Does whatever satisfies `strong` satisfy `weak`? */
export function implies(strong: CheckLevel, weak: CheckLevel): boolean {
  return strong === weak || table[strong].over.some((level) => implies(level, weak));
}

/** Those of `levels` that no other of them implies. */
export function strongestOf(levels: Iterable<CheckLevel>): CheckLevel[] {
  const all = [...new Set(levels)];
  return all.filter((level) => !all.some((other) => other !== level && implies(other, level)));
}

/** Those of `levels` that imply no other of them. */
export function weakestOf(levels: Iterable<CheckLevel>): CheckLevel[] {
  const all = [...new Set(levels)];
  return all.filter((level) => !all.some((other) => other !== level && implies(level, other)));
}

/** Every level that cannot hold when `broken` do not. */
export function ruledOut(broken: Iterable<CheckLevel>): Set<CheckLevel> {
  const all = [...broken];
  return new Set(checkLevels.filter((level) => all.some((weak) => implies(level, weak))));
}

/** The variant of a level that keeps `order` too; where there is none, the next stronger one that does. */
export function withOrder(level: CheckLevel, order: LevelOrder): CheckLevel {
  const rank = { none: 0, session: 1, 'real-time': 2 } as const;
  const candidates = checkLevels.filter(
    (other) => implies(other, level) && rank[orderOf(other)] >= rank[order],
  );
  const same = candidates.find((other) => baseOf(other) === baseOf(level));
  return same ?? candidates[0]!;
}

/**
 * What a level name means under the definitions in force. Biswas & Enea (and dbcop, Plume, PolySI, AWDIT after them)
 * count session order in every level, and their read committed is monotonic atomic view.
 */
export function levelUnder(level: CheckLevel, definitions: 'adya' | 'axiomatic'): CheckLevel {
  if (definitions === 'adya' || level === 'read uncommitted') return level;
  if (level === 'read committed') return 'monotonic atomic view';
  const ordered = orderOf(level) === 'none' ? withOrder(level, 'session') : level;
  // A level without a variant that keeps session order stays what it is: the next stronger one is another question.
  return baseOf(ordered) === baseOf(level) ? ordered : level;
}

const shorthands: Readonly<Record<string, CheckLevel>> = {
  ru: 'read uncommitted',
  rc: 'read committed',
  mav: 'monotonic atomic view',
  ra: 'read atomic',
  cc: 'causal',
  tcc: 'causal',
  'causal consistency': 'causal',
  cs: 'cursor stability',
  pc: 'prefix',
  'prefix consistency': 'prefix',
  rr: 'repeatable read',
  si: 'snapshot',
  'snapshot isolation': 'snapshot',
  'strong session snapshot isolation': 'strong session snapshot',
  'strong snapshot isolation': 'strong snapshot',
  ser: 'serializable',
  sr: 'serializable',
  sser: 'strict serializable',
  'strong serializable': 'strict serializable',
};

/** A level from what people write: any case, `-`, `_` or space between words, the usual abbreviations. */
export function parseCheckLevel(text: string): CheckLevel {
  const level = findCheckLevel(text);
  if (level !== undefined) return level;
  throw new IsoldeError('usage', `unknown level "${text}"; known levels: ${checkLevels.join(', ')}`);
}

/** The same; undefined: there is no such level. */
export function findCheckLevel(text: string): CheckLevel | undefined {
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/[-_\s]+/g, ' ');
  if (Object.hasOwn(shorthands, words)) return shorthands[words]!;
  return Object.hasOwn(table, words) ? (words as CheckLevel) : undefined;
}
