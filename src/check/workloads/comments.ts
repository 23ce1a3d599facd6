/**
 * Comments (Jepsen's comments test): `write` inserts an id, `read` returns all ids at once. If a write had ended before
 * another one began, a read that sees the later one must see the earlier one.
 *
 * Of a read only the write that began last among those it saw matters: everything that had ended before must be there.
 */
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { plainKey } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

export const comments: Workload = {
  name: 'comments',
  title: 'who sees a write sees all that had ended before it began',
  functions: ['read', 'write'],
  fits: (operations) => {
    const reads = operations.filter(({ f, status }) => f === 'read' && status === 'ok');
    const plainWrites = operations.every(
      ({ f, invoked, value }) => f !== 'write' || !Array.isArray(value ?? invoked),
    );
    return reads.length > 0 && plainWrites && reads.every(({ value }) => Array.isArray(value));
  },
  check({ operations }) {
    const found = new Collected();
    const writes = new Map<string, number>();
    operations.forEach((operation, at) => {
      if (operation.f === 'write' && operation.status !== 'fail') writes.set(plainKey(operation.value), at);
    });
    const ended = [...writes.values()]
      .filter((at) => operations[at]!.status === 'ok')
      .sort((a, b) => operations[a]!.end - operations[b]!.end);
    let judged = 0;
    operations.forEach((operation, at) => {
      if (operation.f !== 'read' || operation.status !== 'ok' || !Array.isArray(operation.value)) return;
      judged++;
      checkRead(operations, { at, writes, ended, found });
    });
    if (judged === 0) found.unknownReasons.push('no read succeeded, so there is nothing to judge');
    return found.result();
  },
};

interface ReadToCheck {
  readonly at: number;
  readonly writes: ReadonlyMap<string, number>;
  /** Writes that succeeded, by their end. */
  readonly ended: readonly number[];
  readonly found: Collected;
}

function checkRead(operations: readonly PlainOperation[], { at, writes, ended, found }: ReadToCheck): void {
  const seen = new Set<number>();
  let latest = -1;
  for (const value of operations[at]!.value as readonly PlainValue[]) {
    const write = writes.get(plainKey(value));
    if (write === undefined) {
      found.add({
        kind: 'unexpected-element',
        witnesses: [at],
        rulesOut: ['read uncommitted'],
        because: `${plainKey(value)} is in the read, and no write of it succeeded or may have.`,
      });
      continue;
    }
    seen.add(write);
    if (latest < 0 || operations[write]!.start > operations[latest]!.start) latest = write;
  }
  if (latest < 0) return;
  for (const write of ended) {
    if (operations[write]!.end >= operations[latest]!.start) return;
    if (seen.has(write)) continue;
    found.add({
      kind: 'missing-earlier-write',
      witnesses: [at, latest, write],
      rulesOut: ['strict serializable'],
      because: `it saw ${plainKey(operations[latest]!.value)} and not ${plainKey(operations[write]!.value)}, whose write had ended before that one began.`,
    });
    return;
  }
}
