/**
 * What a bug is called in a tracker: the words a user who met it would search for. Which statements meet, and what goes wrong;
 * the kind of the finding alone where the statements add nothing.
 */
import { describeKind } from '../contracts/index.js';
import { type ActKind, kindTitle } from './act-kind.js';
import type { Cause } from './cause.js';
import type { ConflictingWrites } from './conflict.js';

export function headlineOfCause({ name, conflicts = [], around }: Cause): string {
  if (name === 'missed-conflict') return conflictHeadline(conflicts);
  const { groupedBy, title } = describeKind(name);
  if (groupedBy === 'own-write') {
    const own = around === undefined || around.own.length === 0 ? 'write' : titlesOf(around.own);
    const others =
      around === undefined || around.others.length === 0 ? '' : ' beside a concurrent transaction';
    return `A transaction does not see its own ${own}${others}`;
  }
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}

const titlesOf = (kinds: readonly ActKind[]): string => kinds.map((kind) => kindTitle(kind)).join(' and ');

function conflictHeadline(conflicts: readonly ConflictingWrites[]): string {
  const [first] = conflicts;
  if (first === undefined || conflicts.length > 1) return 'Concurrent writes of one row do not conflict';
  const { writes, otherColumns, moment } = first;
  const [a, b] = writes.map((write) => kindTitle(write));
  const who = otherColumns
    ? 'UPDATEs of different columns of one row'
    : a === b
      ? `${kindTitle(writes[0], true)} of one row`
      : `${a} and ${b} of one row`;
  if (moment === 'while the first is open') return `Concurrent ${who} do not wait for each other`;
  return `Concurrent ${who} do not conflict`;
}
