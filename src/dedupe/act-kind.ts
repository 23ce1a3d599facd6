/**
 * What kind of statement something is, as data, and its two forms in words: one for signatures, which must never change because it is
 * hashed (`update of a key`), one for titles (`UPDATE of a key`).
 */
import type { StatementKind } from '../sql/index.js';

/** `upsert`: an INSERT that updates or passes over rows that are there. */
export type Verb = StatementKind | 'upsert';

/** Engines have code of their own for an update that assigns a key, returns its rows, or assigns NULL. */
export type Manner = 'key' | 'returning' | 'null';

export interface ActKind {
  readonly kind: Verb;
  /** The row lock a SELECT asks for. */
  readonly locks?: 'share' | 'update';
  readonly manner?: Manner;
}

const manners: Readonly<Record<Manner, { readonly line: string; readonly title: string }>> = {
  key: { line: ' of a key', title: ' of a key' },
  returning: { line: ' returning', title: ' RETURNING' },
  null: { line: ' to NULL', title: ' to NULL' },
};

/** `update of a key`, `select for update`. Part of what is hashed. */
export function kindLine({ kind, locks, manner }: ActKind): string {
  return `${kind}${locks === undefined ? '' : ` for ${locks}`}${manner === undefined ? '' : manners[manner].line}`;
}

/** `UPDATE of a key`, `SELECT FOR UPDATE`; several: `UPDATEs to NULL`. */
export function kindTitle({ kind, locks, manner }: ActKind, several = false): string {
  const verb = kind === 'upsert' ? kind : kind.toUpperCase();
  const rest = `${locks === undefined ? '' : ` FOR ${locks.toUpperCase()}`}${manner === undefined ? '' : manners[manner].title}`;
  return `${verb}${several ? 's' : ''}${rest}`;
}

/** Each kind once, in the order of their lines. */
export function distinctKinds(kinds: readonly ActKind[]): ActKind[] {
  const byLine = new Map(kinds.map((kind) => [kindLine(kind), kind]));
  return [...byLine.keys()].sort().map((line) => byLine.get(line)!);
}
