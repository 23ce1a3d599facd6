/**
 * A program for bursts: one short transaction, and what must hold however many of them run at once. A race inside a statement has no
 * order that could be written down, so nothing is replayed: a run either keeps the fact or breaks it.
 *
 * Statements whose outcome nobody knows (a lost connection) may or may not count.
 */
import type { Contract } from '../../contracts/index.js';
import type { Feature } from '../../generate/index.js';
import type { History, KvHistory, Operation } from '../../histories/index.js';
import type { Dialect, Value } from '../../sql/index.js';

export interface BurstProgram {
  readonly name: string;
  /** The fact, for people. */
  readonly fact: string;
  /** The clause of a contract that demands it; undefined: the contract does not. */
  readonly clause: (contract: Contract) => string | undefined;
  /** What the database must be able to run. */
  readonly needs?: Feature;
  readonly setup: readonly string[];
  /** One transaction: the `repeat`-th of a session. */
  readonly transaction: (place: BurstTurn) => readonly string[];
  /** Statements that may be left out, by name: the fact holds without them, too. */
  readonly parts?: BurstParts;
  /** Queries that show the state at the end. */
  readonly final: readonly string[];
  readonly judge: (run: BurstRun) => BurstOutcome;
  /** What the transactions read and wrote, key by key, for the dependency graph; only of programs that are sent statement by statement. */
  readonly graph?: (history: History) => KvHistory;
}

/** Statements by the name under which they are left out together. */
export type BurstParts = Readonly<Record<string, RegExp>>;

/** Whose turn it is to send a transaction. */
export interface BurstTurn {
  readonly session: number;
  readonly repeat: number;
  /** A number of this transaction alone; 0 where transactions with the same text are to be the same. */
  readonly tag: number;
  readonly dialect: Dialect;
  /** Stands before the WHERE of a query that reads no table. */
  readonly oneRow: string;
  /** What the database is known to refuse. */
  readonly lacks: ReadonlySet<Feature>;
}

/** Without them each statement is a transaction alone, also where the program sends several, and none is rolled back: only for facts that hold then, too. */
export const begun: BurstParts = { begin: /^(?:BEGIN|COMMIT|ROLLBACK)$/ };
/** Of reads that only show more: the state at the end is judged as well. */
export const reads: BurstParts = { reads: /^SELECT\b/ };

/** What happened in one run. */
export interface BurstRun {
  readonly history: History;
  /** Answers to the program's `final` queries; undefined: one of them failed. */
  readonly final: readonly (readonly (readonly Value[])[])[] | undefined;
}

export interface BurstOutcome {
  readonly kind: 'kept' | 'broken' | 'unknown';
  /** Short, and the same for runs that ended in the same way. */
  readonly text: string;
}

export const kept: BurstOutcome = { kind: 'kept', text: 'as it must be' };

export function unreadable(): BurstOutcome {
  return { kind: 'unknown', text: 'the state at the end could not be read' };
}

/** A number as engines return it (a SUM may be a decimal); undefined: it is none, and nothing follows from it. */
export function numberOf(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const text = 'decimal' in value ? value.decimal : 'int' in value ? value.int : '';
  return /^-?\d+(?:\.0*)?$/.test(text) ? Number(text) : undefined;
}

/** The clause that forbids an anomaly, if the contract does. */
export const forbidding = (anomaly: Contract['forbids'][number]) => (contract: Contract) =>
  contract.forbids.includes(anomaly) ? `forbids ${anomaly}` : undefined;

/** How each transaction ended. */
export function endsOf({ operations }: History): ReadonlyMap<number, Operation['ends']> {
  const ends = new Map<number, Operation['ends']>();
  for (const { transaction, ends: end } of operations) if (end !== undefined) ends.set(transaction, end);
  return ends;
}

const writeKinds: ReadonlySet<Operation['kind']> = new Set([
  ...(['insert', 'update', 'delete', 'merge', 'other'] as const),
]);

/** It is a write of the program, or a whole transaction in one text: a block, a call, several statements. */
const writes = ({ kind, sql = '' }: Operation): boolean => writeKinds.has(kind) || sql.includes(';');

/** How many of the program's writes took effect: at least, and at most. */
export function effects(history: History): { readonly least: number; readonly most: number } {
  const ends = endsOf(history);
  let [least, most] = [0, 0];
  for (const op of history.operations) {
    if (!writes(op) || op.outcome === 'error') continue;
    const end = ends.get(op.transaction);
    if (end === 'rollback') continue;
    most++;
    if (op.outcome === 'ok' && end === 'commit') least++;
  }
  return { least, most };
}
