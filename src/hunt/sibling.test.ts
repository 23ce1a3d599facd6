import { afterAll, describe, expect, it } from 'vitest';
import type { Case } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { openTarget, type Target } from '../targets/index.js';
import type { HuntRequest } from './hunt-request.js';
import { Sibling } from './sibling.js';

/** Two transactions read and write one row; with the fault, one of the updates is lost. */
const program: Case = {
  name: 'lost update',
  setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'],
  sessions: [
    { name: 'T1', statements: ['BEGIN', 'UPDATE t SET v = v + 1 WHERE id = 1', 'COMMIT'] },
    { name: 'after', statements: ['SELECT * FROM t'] },
  ],
};
const request: HuntRequest = {
  case: program,
  schedule: { batches: [[[0, 0]], [[0, 1]], [[0, 2]], [[1, 0]]] },
  oracle: 'mechanism',
  level: 'snapshot',
  contract: findContract('duckdb:snapshot')!,
};
const finding = (kind: string) => ({ kind, oracle: 'mechanism' }) as Finding;

describe('a sibling', () => {
  const right = new Sibling(() => openTarget('duckdb:'));
  const broken = new Sibling(() => openTarget('duckdb:?fault=lost-update'));
  const missing = new Sibling(async () => {
    throw new Error('no such server');
  });
  afterAll(async () => {
    for (const each of [right, broken, missing]) await each.close();
  });

  it('agrees where it does not show the finding', async () => {
    const look = await right.look(request, finding('wrong-version'), 0);
    expect(look).toMatchObject({ says: 'agrees', note: 'does not show it' });
    expect(look!.by).toMatch(/^duckdb \d/);
  });

  it('asks for nothing that reduction has left out', async () => {
    const reduced = { ...request, observe: ['SELECT * FROM a_table_of_the_whole_program'] };
    expect(await right.look(reduced, finding('wrong-version'), 0)).toMatchObject({ says: 'agrees' });
  });

  it('is undecided where it shows it, too', async () => {
    const kinds = ['wrong-version', 'stale-read', 'lost-write', 'own-write-missed'];
    // A lane of its own for each: the scratch of a lane is one run's at a time.
    const says = await Promise.all(kinds.map((kind, lane) => broken.look(request, finding(kind), lane)));
    expect(says.map((look) => look!.note)).toContain('shows it, too: a bug of both, or of neither');
  });

  it('is undecided where it cannot run the case', async () => {
    const level = await right.look({ ...request, level: 'serializable' }, finding('stale-read'), 0);
    expect(level).toMatchObject({ says: 'undecided', note: 'has no level serializable' });
    const odd = { ...program, sessions: [{ name: 'T1', statements: ['SELECT nothing FROM nowhere'] }] };
    const words = await right.look(
      { ...request, case: odd, schedule: { batches: [[[0, 0]]] } },
      finding('stale-read'),
      0,
    );
    expect(words).toMatchObject({ says: 'undecided', note: expect.stringContaining('does not understand') });
    expect(await missing.look(request, finding('stale-read'), 0)).toMatchObject({
      by: 'sibling',
      says: 'undecided',
      note: 'could not be asked: no such server',
    });
  });

  it('keeps nobody waiting who has stopped, and is closed when it arrives', async () => {
    const stop = new AbortController();
    let arrive = (_: Target) => {};
    const opening = new Promise<Target>((resolve) => {
      arrive = resolve;
    });
    const slow = new Sibling(() => opening, 'always', stop.signal);
    const looking = slow.look(request, finding('stale-read'), 0);
    const asking = slow.target();
    stop.abort();
    expect([await looking, await asking]).toEqual([undefined, undefined]);
    expect(await slow.target()).toBeUndefined();
    await slow.close();
    const target = await openTarget('duckdb:');
    const closed = new Promise<void>((resolve) => {
      arrive({ ...target, close: () => target.close().then(resolve) });
    });
    await closed;
  });

  it('that was not asked for is opened when there is a finding, and sees the first of each kind', async () => {
    let opened = 0;
    const usual = new Sibling(async () => {
      opened++;
      return openTarget('duckdb:');
    }, 'first');
    try {
      expect(opened).toBe(0);
      expect(await usual.look(request, finding('wrong-version'), 0)).toMatchObject({ says: 'agrees' });
      expect(await usual.look(request, finding('wrong-version'), 0)).toBeUndefined();
      expect(await usual.look(request, finding('stale-read'), 0)).toMatchObject({ says: 'agrees' });
      expect((await usual.target())?.name).toBe('duckdb');
      expect(opened).toBe(1);
    } finally {
      await usual.close();
    }
    const none = new Sibling(async () => undefined, 'first');
    expect(await none.look(request, finding('stale-read'), 0)).toBeUndefined();
    expect(await none.target()).toBeUndefined();
  });
});
