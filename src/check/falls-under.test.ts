import { describe, expect, it } from 'vitest';
import type { Anomaly } from '../contracts/index.js';
import { kv } from '../histories/index.js';
import { fallsUnder } from './falls-under.js';
import type { Finding } from './finding.js';
import { checkKv } from './kv/check-kv.js';

/** Is an anomaly among what a history shows? */
function shows(text: string, anomaly: Anomaly): boolean {
  const { findings, beyond } = checkKv(kv(text), { definitions: 'adya', strongest: false });
  return [...findings, ...beyond].some((finding) => fallsUnder(finding, anomaly));
}

describe('what a contract forbids', () => {
  it('includes the special cases of a family', () => {
    const lostUpdate = 'A: rx[] ax1 | B: rx[] ax2 | C: rx[1,2]';
    expect(shows(lostUpdate, 'lost-update')).toBe(true);
    expect(shows(lostUpdate, 'G-single')).toBe(true);
    expect(shows(lostUpdate, 'G2')).toBe(true);
    expect(shows(lostUpdate, 'G1c')).toBe(false);
  });

  it('does not include write skew in G-single', () => {
    const writeSkew = 'A: rx_ wy1 | B: ry_ wx1';
    expect(shows(writeSkew, 'G2-item')).toBe(true);
    expect(shows(writeSkew, 'G-single')).toBe(false);
  });

  it('does not include what only session or real-time order contradicts', () => {
    expect(shows('A@s: wx1 | B@s: rx_', 'G-single')).toBe(false);
  });

  it('includes a missed own write, and not a repeated read', () => {
    expect(shows('A: wx1 rx_', 'own-write-missed')).toBe(true);
    expect(shows('A: wx1 | B: rx_ rx1', 'own-write-missed')).toBe(false);
  });

  it('keeps phantoms out of G2-item', () => {
    const phantom: Finding = {
      kind: 'G2',
      oracle: 'dependency-graph',
      certainty: 'proved',
      rulesOut: ['serializable'],
      transactions: [],
      operations: [],
      cycle: [{ from: 0, to: 0, kind: 'predicate-rw', because: '' }],
      explanation: '',
    };
    expect(fallsUnder(phantom, 'G2')).toBe(true);
    expect(fallsUnder({ ...phantom, kind: 'G-single' }, 'G2-item')).toBe(false);
    expect(fallsUnder({ ...phantom, kind: 'constructor' }, 'G2')).toBe(false);
  });
});
