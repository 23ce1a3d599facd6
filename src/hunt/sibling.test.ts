import { afterAll, describe, expect, it } from 'vitest';
import type { Case } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { openTarget } from '../targets/index.js';
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
    expect(look.by).toMatch(/^duckdb \d/);
  });

  it('is undecided where it shows it, too', async () => {
    const kinds = ['wrong-version', 'stale-read', 'lost-write', 'own-write-missed'];
    const says = await Promise.all(kinds.map((kind) => broken.look(request, finding(kind), 0)));
    expect(says.map(({ note }) => note)).toContain('shows it, too: a bug of both, or of neither');
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
});
