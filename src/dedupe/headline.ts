/**
 * What a bug is called in a tracker: the words a user who met it would search for. Which statements meet, and what goes wrong;
 * the kind of the finding alone where the statements add nothing.
 */
import { describeKind } from '../contracts/index.js';
import type { Cause } from './cause.js';
import type { ConflictingWrites } from './conflict.js';

export function headlineOfCause({ name, conflicts = [], around }: Cause): string {
  if (name === 'missed-conflict') return conflictHeadline(conflicts);
  if (name === 'own-write-missed' || name === 'own-delete-missed') {
    const own = around === undefined || around.own.length === 0 ? ['write'] : around.own;
    const others =
      around === undefined || around.others.length === 0 ? '' : ' beside a concurrent transaction';
    return `A transaction does not see its own ${own.map(verb).join(' and ')}${others}`;
  }
  const { title } = describeKind(name);
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

function conflictHeadline(conflicts: readonly ConflictingWrites[]): string {
  const [first] = conflicts;
  if (first === undefined || conflicts.length > 1) return 'Concurrent writes of one row do not conflict';
  const { writes, otherColumns, moment } = first;
  const [a, b] = writes.map(verb);
  const who = otherColumns
    ? 'UPDATEs of different columns of one row'
    : a === b
      ? `${plural(a!)} of one row`
      : `${a} and ${b} of one row`;
  if (moment === 'while the first is open') return `Concurrent ${who} do not wait for each other`;
  return `Concurrent ${who} do not conflict`;
}

/** `update of a key` → `UPDATE of a key`, `select for update` → `SELECT FOR UPDATE`. */
function verb(kind: string): string {
  if (kind === 'write') return kind;
  if (kind.includes(' for ')) return kind.toUpperCase();
  const [first, ...rest] = kind.split(' ');
  const word = first === 'upsert' ? 'upsert' : first!.toUpperCase();
  return [word, ...rest.map((each) => (each === 'returning' ? 'RETURNING' : each))].join(' ');
}

/** `UPDATE` → `UPDATEs`, `UPDATE to NULL` → `UPDATEs to NULL`. */
function plural(words: string): string {
  const [first, ...rest] = words.split(' ');
  return [`${first}s`, ...rest].join(' ');
}
