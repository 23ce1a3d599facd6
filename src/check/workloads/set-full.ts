/**
 * A set that is filled by `add` and read as a whole all the time (Jepsen's set-full test). An element is known once its
 * addition succeeded or a read that returned it ended. Of the reads that began after that:
 * 1. if the one that began last misses the element, the element was lost;
 * 2. if an earlier one misses it, it was stale, which only a linearizable set forbids;
 * 3. elements twice in a read, or that nobody added, are wrong in any read.
 *
 * Reads are gone through once: an element's last absence follows from the run of reads up to the last that has it.
 */
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { plainKey } from '../../histories/index.js';
import { checkElements, elementOf, readsLists } from './set.js';
import { Collected, type Workload } from './workload.js';

interface Element {
  /** The position from which everybody must see it. */
  known: number;
  /** Who made it known: the addition or the read. */
  knownBy: number;
  /** Among the reads by their begin: the last that has it, and the first of the unbroken run up to that one. */
  lastSeen: number;
  runStart: number;
}

export const setFull: Workload = {
  name: 'set-full',
  title: 'elements added to a set stay in its reads',
  functions: ['add', 'read'],
  fits: (operations) => readsLists(operations),
  check({ operations }, { linearizable = false }) {
    const found = new Collected();
    const reads = operations
      .flatMap(({ f, status, value }, at) =>
        f === 'read' && status === 'ok' && Array.isArray(value) ? [at] : [],
      )
      .sort((a, b) => operations[a]!.start - operations[b]!.start);
    if (reads.length === 0) {
      found.unknownReasons.push('no read of the set succeeded, so there is nothing to judge');
      return found.result();
    }
    const elements = collectElements(operations, reads, found);
    let [stale, unread] = [0, 0];
    for (const [key, element] of elements) {
      const absent = element.lastSeen === reads.length - 1 ? element.runStart - 1 : reads.length - 1;
      const read = absent < 0 ? undefined : reads[absent]!;
      if (read === undefined || operations[read]!.start <= element.known) {
        if (element.lastSeen < 0) unread++;
        continue;
      }
      const isLost = element.lastSeen < absent;
      if (!isLost) stale++;
      if (!isLost && !linearizable) continue;
      found.add({
        kind: isLost ? 'lost-element' : 'stale-element',
        witnesses: [read, element.knownBy],
        rulesOut: ['strict serializable'],
        because: isLost
          ? `${key} was there before this read began; it misses it, and so does every read that began later.`
          : `${key} was there before this read began, and it misses it; later reads have it.`,
      });
    }
    if (unread > 0)
      found.notes.push(`${unread} elements were added after the last read began, and are not judged`);
    if (unread === elements.size && unread > 0)
      found.unknownReasons.push('no element was added before a read began');
    if (stale > 0 && !linearizable) {
      found.notes.push(
        `${stale} elements were missed by a read for a while, which a linearizable set forbids`,
      );
    }
    return found.result();
  },
};

function collectElements(
  operations: readonly PlainOperation[],
  reads: readonly number[],
  found: Collected,
): Map<string, Element> {
  const elements = new Map<string, Element>();
  operations.forEach((operation, at) => {
    if (operation.f !== 'add' || operation.status !== 'ok') return;
    const key = elementOf(operation);
    if (operation.end < (elements.get(key)?.known ?? Number.POSITIVE_INFINITY)) {
      elements.set(key, { known: operation.end, knownBy: at, lastSeen: -1, runStart: -1 });
    }
  });
  reads.forEach((read, position) => {
    checkElements(operations, read, found);
    for (const value of operations[read]!.value as readonly PlainValue[]) {
      const key = plainKey(value);
      const { end } = operations[read]!;
      let element = elements.get(key);
      if (element === undefined) {
        element = { known: end, knownBy: read, lastSeen: -1, runStart: -1 };
        elements.set(key, element);
      }
      if (end < element.known) {
        element.known = end;
        element.knownBy = read;
      }
      if (element.lastSeen < position - 1 || element.lastSeen < 0) element.runStart = position;
      element.lastSeen = position;
    }
  });
  return elements;
}
