/**
 * Sequential consistency of inserts (Jepsen's sequential test). One process writes the subkeys of a key one after the
 * other, each in a transaction of its own. `read` asks for them in the opposite order, one by one, and returns
 * `[key [answers]]`. Once it got an answer for a subkey, all that were written before must be there too: no `nil` may
 * follow a value.
 */
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { plainKey } from '../../histories/index.js';
import { Collected, type Workload } from './workload.js';

export const sequential: Workload = {
  name: 'sequential',
  title: 'writes of one process become visible in their order',
  functions: ['read', 'write'],
  fits: (operations) => {
    const reads = operations.filter(({ f, status }) => f === 'read' && status === 'ok');
    return reads.length > 0 && reads.every((read) => answersOf(read) !== undefined);
  },
  check({ operations }) {
    const found = new Collected();
    let judged = 0;
    operations.forEach((operation, at) => {
      if (operation.f !== 'read' || operation.status !== 'ok') return;
      const answers = answersOf(operation);
      if (answers === undefined) {
        found.unknownReasons.push(`the read ${operation.label} is not [key [answers]]`);
        return;
      }
      judged++;
      const seen = answers.findIndex((answer) => answer !== null);
      const missing = seen < 0 ? -1 : answers.indexOf(null, seen);
      if (missing < 0) return;
      found.add({
        kind: 'missing-earlier-write',
        witnesses: [at],
        rulesOut: ['strong session serializable'],
        because: `it saw ${plainKey(answers[seen]!)} and then missed subkey ${answers.length - missing} of ${answers.length}, which the same process had written before.`,
      });
    });
    if (judged === 0) found.unknownReasons.push('no read succeeded, so there is nothing to judge');
    return found.result();
  },
};

function answersOf({ value }: PlainOperation): readonly PlainValue[] | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [key, answers] = value as readonly PlainValue[];
  return !Array.isArray(key) && Array.isArray(answers) ? (answers as readonly PlainValue[]) : undefined;
}
