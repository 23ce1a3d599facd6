/** The small verifier of orders, which shares nothing with us, accepts our proofs and no others. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CheckLevel, checkKv } from '../src/check/index.js';
import { seededRandom } from '../src/check/kv/slow/random-history.js';
import { simulateStore } from '../src/check/kv/slow/simulated-store.js';
import { withFolder } from '../src/histories/formats/import.case.js';
import { readAnyHistory, writeKvHistory } from '../src/histories/index.js';

const verifier = '../examples/verify-order.mjs';
const { verifyOrder } = (await import(verifier)) as {
  readonly verifyOrder: (history: string, certificate: string) => void;
};

const promised = {
  serial: ['serializable', 'strong session serializable', 'strict serializable'],
  snapshot: ['snapshot', 'strong session snapshot', 'strong session prefix'],
} as const satisfies Record<string, readonly CheckLevel[]>;

it.each(['serial', 'snapshot'] as const)(
  'accepts the proofs of a %s store, and none that was changed',
  async (promise) => {
    await withFolder(async (folder) => {
      const path = join(folder, 'history.jsonl');
      for (const lists of [true, false]) {
        const made = simulateStore(seededRandom(3), { promise, lists, txCount: 60, sessions: 5, keys: 6 });
        await writeKvHistory(path, made, 'elle-json');
        const read = await readAnyHistory(path);
        if (read.kind !== 'kv') throw new Error(read.kind);
        const text = await readFile(path, 'utf8');
        for (const level of promised[promise]) {
          const options = { level, definitions: 'adya', strongest: false, certificate: true } as const;
          const { valid, certificate } = checkKv(read.history, options);
          expect(valid).toBe(true);
          if (certificate?.valid !== true) throw new Error('no proof');
          verifyOrder(text, JSON.stringify(certificate));
          const { order } = certificate;
          for (const changed of [
            order.slice(1),
            [...order].reverse(),
            [...order, 0],
            [...order.slice(1), order[0]!],
          ]) {
            const proof = JSON.stringify({ ...certificate, order: changed });
            expect(() => verifyOrder(text, proof), `${level} ${changed.join(' ')}`).toThrow();
          }
        }
      }
    });
  },
);

it('can be read at one sitting', async () => {
  const lines = (await readFile(join('examples', 'verify-order.mjs'), 'utf8')).split('\n');
  expect(lines.length).toBeLessThanOrEqual(71);
});
