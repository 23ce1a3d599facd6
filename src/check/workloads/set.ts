/**
 * A set that is filled by `add` and read as a whole at the end (Jepsen's set test). Of the last read that succeeded:
 * 1. an element whose addition had succeeded before that read began must be in it, or it was lost;
 * 2. every element of it must have been added, by an addition that did not fail;
 * 3. no element is in it twice.
 */
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { plainKey } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

export const set: Workload = {
  name: 'set',
  title: 'elements added to a set are in its last read',
  functions: ['add', 'read'],
  fits: (operations) => readsLists(operations) && lastRead(operations) === onlyRead(operations),
  check({ operations }) {
    const found = new Collected();
    const last = lastRead(operations);
    if (last === undefined) {
      found.unknownReasons.push('no read of the set succeeded, so there is nothing to judge');
      return found.result();
    }
    const read = operations[last]!;
    const elements = checkElements(operations, last, found);
    let recovered = 0;
    operations.forEach((operation, at) => {
      if (operation.f !== 'add') return;
      const present = elements.has(elementOf(operation));
      if (operation.status === 'info' && present) recovered++;
      if (operation.status !== 'ok' || present || operation.end >= read.start) return;
      found.add({
        kind: 'lost-element',
        witnesses: [last, at],
        rulesOut: ['strict serializable'],
        because: `${plainKey(operation.value)} was added before the last read began, and is not in it.`,
      });
    });
    if (recovered > 0) found.notes.push(`${recovered} additions of unknown outcome took effect`);
    return found.result();
  },
};

/** The element that an operation adds. */
export const elementOf = ({ value }: PlainOperation): string => plainKey(value);

/** Additions beside reads that return lists: a set, and no counter. */
export function readsLists(operations: readonly PlainOperation[]): boolean {
  const reads = operations.filter(({ f, status }) => f === 'read' && status === 'ok');
  return (
    operations.some(({ f }) => f === 'add') &&
    reads.length > 0 &&
    reads.every(({ value }) => Array.isArray(value))
  );
}

/** The read that succeeded and began last. */
function lastRead(operations: readonly PlainOperation[]): number | undefined {
  let last: number | undefined;
  operations.forEach(({ f, status, start, value }, at) => {
    if (f !== 'read' || status !== 'ok' || !Array.isArray(value)) return;
    if (last === undefined || start > operations[last]!.start) last = at;
  });
  return last;
}

function onlyRead(operations: readonly PlainOperation[]): number | undefined {
  const reads = operations.flatMap(({ f, status }, at) => (f === 'read' && status === 'ok' ? [at] : []));
  return reads.length === 1 ? reads[0] : undefined;
}

/** The elements of a read, after saying which of them are there twice or were never added. */
export function checkElements(
  operations: readonly PlainOperation[],
  read: number,
  found: Collected,
): Set<string> {
  const elements = new Set<string>();
  const additions = additionsOf(operations);
  for (const element of operations[read]!.value as readonly PlainValue[]) {
    const key = plainKey(element);
    const addition = additions.get(key);
    if (elements.has(key)) {
      found.add({
        kind: 'duplicate-element',
        witnesses: [read, ...(addition === undefined ? [] : [addition])],
        rulesOut: ['read uncommitted'],
        because: `${key} is in the read more than once.`,
      });
    } else if (addition === undefined || operations[addition]!.status === 'fail') {
      found.add({
        kind: 'unexpected-element',
        witnesses: [read, ...(addition === undefined ? [] : [addition])],
        rulesOut: [addition === undefined ? 'read uncommitted' : 'read committed'],
        because: `${key} is in the read; ${addition === undefined ? 'nobody added it' : 'its addition had failed'}.`,
      });
    }
    elements.add(key);
  }
  return elements;
}

const known = new WeakMap<readonly PlainOperation[], Map<string, number>>();

/** Who added each element: an addition that did not fail, if there is one. */
function additionsOf(operations: readonly PlainOperation[]): Map<string, number> {
  const before = known.get(operations);
  if (before !== undefined) return before;
  const additions = new Map<string, number>();
  operations.forEach((operation, at) => {
    if (operation.f !== 'add') return;
    const key = elementOf(operation);
    const other = additions.get(key);
    if (other === undefined || operations[other]!.status === 'fail') additions.set(key, at);
  });
  known.set(operations, additions);
  return additions;
}
