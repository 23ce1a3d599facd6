/** A finding must not have the name of an anomaly that a level which holds forbids. */
import { describe, expect, it } from 'vitest';
import { baseKind } from '../../contracts/index.js';
import { kv } from '../../histories/index.js';
import type { CheckLevel } from '../levels.js';
import { checkKv } from './check-kv.js';
import { randomHistory, seededRandom } from './slow/random-history.js';

/** Per anomaly a level that forbids it, whatever transactions show it. */
const forbidden: Readonly<Record<string, CheckLevel>> = {
  G0: 'read uncommitted',
  G1c: 'read committed',
  'lost-update': 'snapshot',
  'read-skew': 'snapshot',
  'read-write-skew': 'snapshot',
  'G-single': 'snapshot',
  'G-nonadjacent': 'snapshot',
};
const strong: Readonly<Record<string, CheckLevel>> = {
  'read uncommitted': 'strong session read uncommitted',
  'read committed': 'strong session read committed',
  snapshot: 'strong session snapshot',
};

function wrongNames(text: string): string[] {
  const result = checkKv(kv(text), { level: 'strong session serializable', definitions: 'adya' });
  return [...result.findings, ...result.beyond].flatMap(({ kind }) => {
    if (kind.endsWith('-realtime')) return [];
    const level = forbidden[baseKind(kind)];
    const asked = level === undefined ? undefined : kind.endsWith('-session') ? strong[level]! : level;
    return asked !== undefined && result.levels[asked] === 'holds'
      ? [`${kind}, although ${asked} holds`]
      : [];
  });
}

describe('names of findings', () => {
  it.each([
    // A cycle of writes only, in an order of versions that read committed rules out.
    'T1@s0: rx_ wy1 wx1 | T2: wy2 | T3@s1: wy3 rz_ rz_ | T4@s1: wz1 | T5@s0: rx_ wy4 rz1 | T6@s0: rx1 ry3 | T7?: rz1 rx_ ry_',
    // Skews that one order of versions turns into lost updates, and another one does not.
    'T1@s0: wy1 wx1 ry1 | T2: wy2 rx1 | T3: ry1 wy3 wy4 | T4@s0: wx2 wx3 | T5@s1: wx4 ry4 wx5 | T6@s0: ry_',
    'T1@s0: rx1 wy1 wy2 | T2@s0: rx2 | T3: wy3 wx1 | T4: rx_ wy4 wx2',
    // The same where only the order of sessions breaks anything.
    'T1@s1: rx4 wx1 | T2@s0: wx2 rx2 | T3@s0: wx3 | T4@s0: rx2 wx4',
  ])('are not worse than the levels that hold: %s', (text) => {
    expect(wrongNames(text)).toEqual([]);
    expect(checkKv(kv(text), { level: 'strong session serializable', definitions: 'adya' }).valid).toBe(
      false,
    );
  });

  it('are never those of anomalies that a level which holds forbids (seed 20261116)', () => {
    const random = seededRandom(20_261_116);
    const wrong: string[] = [];
    let broken = 0;
    for (let i = 0; i < 500; i++) {
      const text = randomHistory(random, { lists: i % 4 === 0, maxTxs: 7, times: false });
      const names = wrongNames(text);
      if (names.length > 0) wrong.push(`${text}: ${names.join('; ')}`);
      if (checkKv(kv(text), { strongest: false }).valid === false) broken++;
    }
    expect(wrong).toEqual([]);
    expect(broken).toBeGreaterThan(80);
  });
});
