import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { kv } from '../../../histories/index.js';
import { type CheckLevel, checkLevels } from '../../levels.js';
import { checkKv } from '../check-kv.js';
import { seededRandom } from '../slow/random-history.js';
import { simulateStore } from '../slow/simulated-store.js';
import { type Certificate, certificateFormat } from './certificate.js';
import { verifyCertificate } from './verify.js';

const certify = (text: string, level: CheckLevel): Certificate | undefined =>
  checkKv(kv(text), { level, definitions: 'adya', strongest: false, certificate: true }).certificate;

function order(level: CheckLevel, steps: readonly number[]): Certificate {
  return { format: certificateFormat, version: 1, level, valid: true, order: steps };
}

describe('a certificate', () => {
  const skew = 'A@a: rx_ ry_ wx1 | B@b: rx_ ry_ wy1 | C@a: rx1 ry1';

  it('of a run is accepted, and rejected once a step is moved, missing or made up', () => {
    const proof = certify(skew, 'strong session snapshot');
    expect(proof).toMatchObject({ valid: true });
    const steps = (proof as { order: readonly number[] }).order;
    const verify = (changed: readonly number[]) =>
      verifyCertificate(kv(skew), order('strong session snapshot', changed)).accepted;
    expect(verify(steps)).toBe(true);
    expect(verify(steps.slice(1))).toBe(false);
    expect(verify([...steps, 0])).toBe(false);
    expect(verify([...steps, 7])).toBe(false);
    expect(verify([...steps].reverse())).toBe(false);
    // One after the other, the second would have read the first.
    expect(verify([0, -1, 1, -2, 2, -3])).toBe(false);
  });

  it('of a few transactions is accepted only if no order explains them', () => {
    const core = certify(skew, 'serializable');
    expect(core).toMatchObject({ valid: false, transactions: [0, 1] });
    expect(verifyCertificate(kv(skew), core!).accepted).toBe(true);
    const other = { ...core!, transactions: [0, 2] } as Certificate;
    expect(verifyCertificate(kv(skew), other).accepted).toBe(false);
    const weaker = { ...core!, level: 'snapshot' } as Certificate;
    expect(verifyCertificate(kv(skew), weaker).accepted).toBe(false);
  });

  it('does not take the element of another for an equal one of its own', () => {
    // Both saw their own 1 in the first place of x, and only one of them can have put it there.
    const text = 'A: ax1 rx[1] | B: ax1 rx[1]';
    const core = certify(text, 'prefix');
    expect(core).toMatchObject({ valid: false, transactions: [0, 1] });
    expect(verifyCertificate(kv(text), core!).accepted).toBe(true);
    expect(verifyCertificate(kv(text), order('prefix', [0, 1, -1, -2])).accepted).toBe(false);
  });

  it('proves nothing about a history with reads that were not judged', () => {
    expect(verifyCertificate(kv('A: wx1 | B: rx?'), order('serializable', [0, 1])).accepted).toBe(false);
    expect(verifyCertificate(kv('A: wx1 | B: rx1'), order('serializable', [0, 1])).accepted).toBe(true);
  });

  it('of a few transactions holds those that lead from one to another', () => {
    for (const text of [
      'T1@s2: rx4 wx1 | T2?: wx2 rx2 | T3@s0: wx3 | T4@s2: rx3 rx3 rx3 | T5@s0: wx4',
      'T1@s2: wx0 wx0 wx0 | T2@s0: rx_ wx1 wx2 | T3@s2?: rx_ wx1 | T4!: rx2 | T5@s1: rx1',
      'T1@s0: wy0 rx0 wx0 | T2@s0: rz_ | T3?: wz0 wy1 wx0',
    ]) {
      const core = certify(text, 'causal');
      expect(core).toMatchObject({ valid: false });
      expect(verifyCertificate(kv(text), core!)).toEqual({ accepted: true });
    }
  });

  it('is verified without a line of the checker', async () => {
    const files = new Set(['./verify.js']);
    for (const file of files) {
      const source = await readFile(new URL(file.replace(/js$/, 'ts'), import.meta.url), 'utf8');
      for (const [, from] of source.matchAll(/^(?:import|export)[^;]* from '([^']+)'/gm)) {
        if (from!.startsWith('./')) files.add(from!);
        else expect(['../../../histories/index.js', '../../../errors.js', '../../levels.js']).toContain(from);
      }
    }
    expect(files).toContain('./commit-order.js');
    expect(files).not.toContain('./certify.js');
  });

  it('does not list what aborted', () => {
    expect(verifyCertificate(kv('A!: wx1 | B: rx1'), order('serializable', [0, 1])).accepted).toBe(false);
    expect(verifyCertificate(kv('A?: wx1 | B: rx1'), order('serializable', [0, 1])).accepted).toBe(true);
  });

  it('comes with every verdict on a simulated store (seed 5)', () => {
    const random = seededRandom(5);
    let [proofs, cores] = [0, 0];
    for (const promise of ['serial', 'snapshot', 'read committed'] as const) {
      for (const lists of [true, false]) {
        const history = simulateStore(random, { promise, lists, txCount: 60, sessions: 5, keys: 6 });
        for (const level of checkLevels) {
          const options = { level, definitions: 'adya', strongest: false, certificate: true } as const;
          const { valid, certificate } = checkKv(history, options);
          expect(valid).not.toBe('unknown');
          expect(verifyCertificate(history, certificate!)).toEqual({ accepted: true });
          expect(certificate!.valid).toBe(valid);
          if (certificate!.valid) proofs++;
          else {
            cores++;
            expect(certificate!.transactions.length).toBeLessThanOrEqual(6);
          }
        }
      }
    }
    expect(Math.min(proofs, cores)).toBeGreaterThan(20);
  });
});
