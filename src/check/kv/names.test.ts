/** A finding must not have the name of an anomaly that a level which holds forbids. */
import { describe, expect, it } from 'vitest';
import { baseKind } from '../../contracts/index.js';
import { kv } from '../../histories/index.js';
import { explain } from '../explain.js';
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

  it.each([
    // Write skew whichever of the two writers of 1 the readers saw.
    ['T0: wx1 wv1 | T1: wx1 wy1 wz1 | T2: rz1 rx1 wy2 | T3: ry1 rv1 wx2', 'write-skew'],
    // Three updates of what was written twice: two of them are of one version.
    ['T0: wx1 | T1: wx1 | T2: rx1 wx2 | T3: rx1 wx3 | T4: rx1 wx4', 'lost-update'],
    ['T0: wx1 wy1 | T1: wx1 wy1 | T2@s: rx1 wx2 wy2 | T3: rx2 ry1', 'read-skew'],
    // One writer is left, because the other comes later.
    ['T0@s: wx1 wy1 | T1@s: rx1 wx2 | T2@s: wx1 | T3: rx2 wz1 | T4@s: rx1 | T5: rz1 ry1 rx_', 'read-skew'],
  ])('say what was broken where values were written twice: %s', (text, kind) => {
    const { findings } = checkKv(kv(text), { level: 'serializable', definitions: 'adya', strongest: false });
    expect(findings.map((finding) => finding.kind)).toEqual([kind]);
  });

  it('come with an argument for every writer that a read may have seen', () => {
    const text = 'T0: wx1 wv1 | T1: wx1 wy1 wz1 | T2: rz1 rx1 wy2 | T3: ry1 rv1 wx2';
    const { findings } = checkKv(kv(text), { definitions: 'adya', strongest: false });
    const argument = explain(findings[0]!);
    expect(argument).toContain('Suppose that T3 saw what T2 wrote in r(x, 1).');
    expect(argument).toContain('Suppose that T3 saw what T1 wrote in r(x, 1).');
    expect(argument).toContain('These are all the cases');
    const later = 'T0: wx1 wy1 wu1 | T1: ru1 wx1 wy1 wz1 | T2: rz1 rx1 wy2 | T3: rz1 ry1 wx2';
    const [settled] = checkKv(kv(later), { definitions: 'adya', strongest: false }).findings;
    expect(explain(settled!)).toContain('r(x, 1) of T3 can only have seen what T2 wrote');
  });

  it('are never those of anomalies that a level which holds forbids (seed 20261116)', () => {
    const random = seededRandom(20_261_116);
    const wrong: string[] = [];
    let broken = 0;
    for (let i = 0; i < 500; i++) {
      const text = randomHistory(random, {
        lists: i % 4 === 0,
        repeated: i % 4 === 1,
        maxTxs: 7,
        times: false,
      });
      const names = wrongNames(text);
      if (names.length > 0) wrong.push(`${text}: ${names.join('; ')}`);
      if (checkKv(kv(text), { strongest: false }).valid === false) broken++;
    }
    expect(wrong).toEqual([]);
    expect(broken).toBeGreaterThan(80);
  });
});
