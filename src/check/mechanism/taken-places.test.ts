/** What it costs to find the rows whose place others take: counted, because times are noisy. */
import { expect, it, vi } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { verifyMechanism } from './index.js';
import { RowChain } from './row-chain.js';
import { story } from './story.case.js';

const compared = vi.hoisted(() => ({ pairs: 0 }));

vi.mock('../../rows/unique-keys.js', async (original) => {
  const keys = await original<typeof import('../../rows/unique-keys.js')>();
  const sharesKey: typeof keys.sharesKey = (...args) => {
    compared.pairs++;
    return keys.sharesKey(...args);
  };
  return { ...keys, sharesKey };
});

function costOf(count: number, type: string, write: string, explicit = true): number {
  const rows = Array.from({ length: count }, (_, i) => `(${i}, ${i})`).join(', ');
  const setup = [`CREATE TABLE t (k ${type} PRIMARY KEY, v INT)`, `INSERT INTO t VALUES ${rows}`];
  const lines = [`T1: ${write} -> ${count}`, 'T1: SELECT k FROM t WHERE k < 0 -> nothing'];
  const text = (explicit ? ['T1: BEGIN', ...lines, 'T1: COMMIT'] : lines).join('\n');
  const looked = vi.spyOn(RowChain.prototype, 'allowed');
  compared.pairs = 0;
  const history = story(text, { dialect: 'mysql', setup });
  expect(verifyMechanism(history, findContract('mysql:repeatable-read')!).findings).toEqual([]);
  const calls = looked.mock.calls.length;
  looked.mockRestore();
  return compared.pairs + calls;
}

it.each([
  ['INT', 'UPDATE t SET v = v + 1, k = k'],
  ['INT', 'UPDATE t SET k = k + 1 ORDER BY k DESC'],
  ['DECIMAL(9,2)', 'UPDATE t SET k = k + 1 ORDER BY k DESC'],
])('with a key of type %s, what %s costs grows with the rows, not with their square', (type, write) => {
  const few = costOf(50, type, write);
  const many = costOf(400, type, write);
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThan(few * 16);
});

it('a statement outside of a transaction asks for nothing, for nobody reads after it', () => {
  const write = 'UPDATE t SET k = k + 1 ORDER BY k DESC';
  expect(compared.pairs).toBeGreaterThan(0);
  costOf(50, 'DECIMAL(9,2)', write, false);
  expect(compared.pairs).toBe(0);
});
