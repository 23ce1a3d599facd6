import { expect, it } from 'vitest';
import { shapeOf } from './statement-shape.js';
import type { Turn } from './turn.js';
import { staleReevaluation } from './write-faults.js';

/** What is sent for an UPDATE that another transaction's write stands before; `meanwhile` happens until it is answered. */
async function sentBy(
  meanwhile: (other: { log: { statements: unknown[]; ending?: true } | undefined }) => void,
): Promise<string[]> {
  const other: { log: { statements: unknown[]; ending?: true } | undefined } = {
    log: { statements: [shapeOf('UPDATE t SET v = 50', 'postgres')] },
  };
  const sql = 'UPDATE t SET v = v + 1 WHERE id = 1';
  const sent: string[] = [];
  const fresh = { send: async () => ({ columns: ['id', 'v'], rows: [[1, 11]] }) };
  await staleReevaluation({
    ...{ sql, statement: shapeOf(sql, 'postgres'), fires: () => true },
    session: { fresh: async () => fresh, main: { state: 'none' } },
    scratch: {
      ...{ sessions: new Set([other]), spec: {} },
      target: { dialect: 'postgres', features: { counts: 'matched' } },
    },
    send: async (text = sql) => {
      sent.push(text);
      meanwhile(other);
      return { matched: 1, transaction: 'none' };
    },
  } as unknown as Turn);
  return sent;
}

it('stale-reevaluation strikes after a wait, whichever of COMMIT and the write is answered first', async () => {
  const again = 'UPDATE t SET v = 11 WHERE id = 1';
  expect(await sentBy(() => undefined)).not.toContain(again);
  expect(
    await sentBy((other) => {
      other.log = undefined;
    }),
  ).toContain(again);
  expect(
    await sentBy((other) => {
      if (other.log !== undefined) other.log.ending = true;
    }),
  ).toContain(again);
});
