import { describe, expect, it } from 'vitest';
import type { Level } from '../contracts/index.js';
import type { Scratch, Session } from '../targets/index.js';
import { SessionPool } from './session-pool.js';

interface Opened {
  readonly level: Level | undefined;
  closed: boolean;
}

/** A scratch whose sessions only note that they were opened and closed; `refuses` levels cannot be opened. */
function scratchOf(refuses: readonly Level[] = []) {
  const opened: Opened[] = [];
  const scratch = {
    openSession: async ({ level }: { level?: Level }) => {
      if (level !== undefined && refuses.includes(level)) throw new Error(`no ${level}`);
      const note: Opened = { level, closed: false };
      opened.push(note);
      return {
        close: async () => {
          note.closed = true;
        },
      } as unknown as Session;
    },
  } as unknown as Scratch;
  return { opened, pool: new SessionPool(scratch, { statementTimeoutMs: 1, lockTimeoutMs: 1 }) };
}

describe('a pool of sessions', () => {
  it('opens what is missing and uses again what was given back, by level', async () => {
    const { opened, pool } = scratchOf();
    const [a, b] = await pool.take([{ level: 'serializable' }, { level: 'read committed' }]);
    expect(opened.map(({ level }) => level)).toEqual(['serializable', 'read committed']);
    await pool.give({ level: 'serializable' }, a!);
    const [again, other] = await pool.take([{ level: 'serializable' }, { level: 'serializable' }]);
    expect(again).toBe(a);
    expect(other).not.toBe(b);
    expect(opened).toHaveLength(3);
  });

  it('gives back what it took when one cannot be opened', async () => {
    const { opened, pool } = scratchOf(['snapshot']);
    await expect(pool.take([{ level: 'serializable' }, { level: 'snapshot' }])).rejects.toThrow(
      'no snapshot',
    );
    await pool.take([{ level: 'serializable' }]);
    expect(opened).toHaveLength(1);
  });

  it('closes what is idle, and nothing that is in use', async () => {
    const { opened, pool } = scratchOf();
    const [a] = await pool.take([{ level: 'serializable' }, { level: 'serializable' }]);
    await pool.give({ level: 'serializable' }, a!);
    await pool.close();
    expect(opened.map(({ closed }) => closed).sort()).toEqual([false, true]);
  });

  it('closes a session after some hundred runs, and opens a new one', async () => {
    const { opened, pool } = scratchOf();
    for (let run = 0; run < 400; run++) {
      const [session] = await pool.take([{ level: 'serializable' }]);
      await pool.give({ level: 'serializable' }, session!);
    }
    expect(opened.map(({ closed }) => closed)).toEqual([true, false]);
  });
});
