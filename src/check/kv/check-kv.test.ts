import { describe, expect, it } from 'vitest';
import { kv } from '../../histories/index.js';
import { type CheckLevel, checkLevels } from '../levels.js';
import { verifyCertificate } from './certificate/verify.js';
import { checkKv } from './check-kv.js';
import { crossCheckAnomalies, crossCheckLevel } from './cross-check.js';

/** Every anomaly a history shows, those beyond the level included, without repetitions. */
function kinds(text: string): string[] {
  const result = checkKv(kv(text), { definitions: 'adya' });
  return [...new Set([...result.findings, ...result.beyond].map((finding) => finding.kind))];
}

/** Per anomaly a smallest history that has it, and a neighbour that has not. */
const anomalies: readonly (readonly [kind: string, has: string, hasNot: string])[] = [
  ['G0', 'A: ax1 ay1 | B: ax2 ay2 | C: rx[1,2] ry[2,1]', 'A: ax1 ay1 | B: ax2 ay2 | C: rx[1,2] ry[1,2]'],
  ['G0-session', 'A@s: ax1 | B@s: ax2 | C: rx[2,1]', 'A@s: ax1 | B@t: ax2 | C: rx[2,1]'],
  ['G0-realtime', 'A[1-2]: ax1 | B[3-4]: ax2 | C: rx[2,1]', 'A[1-3]: ax1 | B[3-4]: ax2 | C: rx[2,1]'],
  ['G1a', 'A!: wx1 | B: rx1', 'A: wx1 | B: rx1'],
  ['G1a', 'A!: ax1 | B: rx[1]', 'A?: ax1 | B: rx[1]'],
  ['G1b', 'A: wx1 wx2 | B: rx1', 'A: wx1 wx2 | B: rx2'],
  ['G1b', 'A: ax1 ax2 | B: rx[1]', 'A: ax1 ax2 | B: rx[1,2]'],
  ['G1c', 'A: wx1 ry1 | B: wy1 rx1', 'A: wx1 ry_ | B: wy1 rx1'],
  ['G1c-session', 'A@s: rx1 | B@s: wx1', 'A@s: rx_ | B@s: wx1'],
  ['G1c-realtime', 'A[1-2]: rx1 | B[3-4]: wx1', 'A[1-4]: rx1 | B[3-4]: wx1'],
  ['lost-update', 'A: rx[] ax1 | B: rx[] ax2 | C: rx[1,2]', 'A: rx[] ax1 | B: rx[1] ax2 | C: rx[1,2]'],
  ['lost-update', 'A: rx_ wx1 | B: rx_ wx2', 'A: rx_ wx1 | B: rx1 wx2'],
  ['lost-update', 'A: rx[] ax1 | B: rx[] ax2', 'A: rx[] ax1 | B: ax2'],
  ['read-skew', 'A: ax1 ay1 | B: rx[] ry[1]', 'A: ax1 ay1 | B: rx[1] ry[1]'],
  ['read-write-skew', 'A: rx[] ay2 | B: ax1 ay1 | C: ry[1,2]', 'A: rx[] ay2 | B: ax1 ay1 | C: ry[2,1]'],
  ['write-skew', 'A: rx_ wy1 | B: ry_ wx1', 'A: rx_ wy1 | B: ry1 wx1'],
  ['G-single', 'A: ax1 | B: rx[] rx[1]', 'A: ax1 | B: rx[1] rx[1]'],
  ['G-single', 'A: wx1 | B: rx1 wy1 | C: rx_ ry1', 'A: wx1 | B: rx1 wy1 | C: rx1 ry1'],
  ['G-single-session', 'A@s: wx1 | B@s: rx_', 'A@s: wx1 | B@t: rx_'],
  ['G-single-realtime', 'A[1-2]: wx1 | B[3-4]: rx_', 'A[1-3]: wx1 | B[2-4]: rx_'],
  ['G-nonadjacent', 'A: wx1 | B: wy1 | C: rx1 ry_ | D: rx_ ry1', 'A: wx1 | B: wy1 | C: rx1 ry_ | D: rx1 ry1'],
  [
    'G-nonadjacent-session',
    'A@s: wx1 | B@s: ry_ | C@t: wy1 | D@t: rx_',
    'A@s: wx1 | B@s: ry_ | C@t: wy1 | D@u: rx_',
  ],
  ['G2-item', 'A: rx_ wy1 | B: ry_ wz1 | C: rz_ wx1', 'A: rx_ wy1 | B: ry_ wz1 | C: rz1 wx1'],
  [
    'G2-item-session',
    'A@s: rx_ wy1 | B: ry_ wz1 | C@s: rz_ | D: rz1 wx1',
    'A@s: rx_ wy1 | B: ry_ wz1 | C@u: rz1 | D: rz1 wx1',
  ],
  ['future-read', 'A: rx1 wx1', 'A: wx1 rx1'],
  ['future-read', 'A: rx[1] ax1', 'A: ax1 rx[1]'],
  ['future-read', 'A: rx[1,2] ax1 | B: ax2', 'A: rx[2] ax1 | B: ax2'],
  ['internal', 'A: wx1 rx_', 'A: wx1 rx1'],
  ['internal', 'A: wx1 | B: rx_ rx1', 'A: wx1 | B: rx1 rx1'],
  ['internal', 'A: ax1 | B: ax2 rx[1]', 'A: ax1 | B: ax2 rx[1,2]'],
  [
    'incompatible-order',
    'A: ax1 | B: ax2 | C: rx[1,2] | D: rx[2,1]',
    'A: ax1 | B: ax2 | C: rx[1,2] | D: rx[1]',
  ],
  ['incompatible-order', 'A: ax1 ax2 | B: rx[2,1]', 'A: ax1 ax2 | B: rx[1,2]'],
  ['duplicate-write', 'A: ax1 | B: rx[1,1]', 'A: ax1 | B: rx[1]'],
  ['lost-update', 'A: rx7 wx1 | B: rx7 wx2', 'A: rx7 wx1 | B: rx7 wy2'],
  ['lost-update', 'Z!: wx7 | A: rx7 wx1 | B: rx7 wx2', 'Z!: wx7 | A: rx7 wx1 | B: rx1 wx2'],
  ['read-skew', 'A: wx1 wy1 | B: ry1 rx_ rz7', 'A: wx1 wy1 | B: ry1 rx1 rz7'],
  ['garbage-read', 'A: wx1 | B: rx2', 'A: wx1 | B: rx1'],
  ['garbage-read', 'A: ax1 | B: rx[1,2]', 'A: ax1 | B: rx[1]'],
];

describe('anomalies', () => {
  for (const [kind, has, hasNot] of anomalies) {
    it(`finds ${kind} in ${has}, and not in ${hasNot}`, () => {
      expect(kinds(has)).toContain(kind);
      expect(kinds(hasNot)).not.toContain(kind);
    });
  }

  it('finds nothing in a serial history', () => {
    expect(kinds('A[1-2]: ax1 ry[] | B[3-4]: rx[1] ay2 | C!: ax3 | D?: ay9 | E[5-6]: rx[1] ry[2]')).toEqual(
      [],
    );
  });

  it('sees that unseen appends come after everything that was read', () => {
    expect(kinds('A: rx[] ay1 | B: ry[] ax1')).toEqual(['write-skew']);
  });
});

/** Per level a history that the level below accepts and it rejects. */
const boundaries: readonly (readonly [weaker: CheckLevel | undefined, level: CheckLevel, history: string])[] =
  [
    [undefined, 'read uncommitted', 'A: ax1 ay1 | B: ax2 ay2 | C: rx[1,2] ry[2,1]'],
    ['read uncommitted', 'strong session read uncommitted', 'A@s: ax1 | B@s: ax2 | C: rx[2,1]'],
    [
      'strong session read uncommitted',
      'strong read uncommitted',
      'A[1-2]: ax1 | B[3-4]: ax2 | C[5-6]: rx[2,1]',
    ],
    ['read uncommitted', 'read committed', 'A!: wx1 | B: rx1'],
    ['read committed', 'strong session read committed', 'A@s: rx1 | B@s: wx1'],
    ['strong session read committed', 'strong read committed', 'A[1-2]: rx1 | B[3-4]: wx1'],
    ['strong session read committed', 'monotonic atomic view', 'A: wx1 wy1 | B: rx1 ry_'],
    ['monotonic atomic view', 'read atomic', 'A: wx1 wy1 | B: ry_ rx1'],
    ['read atomic', 'causal', 'A: wx1 | B: rx1 wy1 | C: rx_ ry1'],
    ['causal', 'strong session prefix', 'A: wx1 | B: wy1 | C: rx1 ry_ | D: rx_ ry1'],
    ['read committed', 'cursor stability', 'A: rx_ wx1 | B: rx_ wx2'],
    ['read committed', 'prefix', 'A: wx1 wy1 | B: ry_ rx1'],
    ['prefix', 'strong session prefix', 'A@s: wx1 | B@s: rx_'],
    ['cursor stability', 'repeatable read', 'A: rx_ wy1 | B: ry_ wx1'],
    ['repeatable read', 'strong session repeatable read', 'A@s: wx1 | B@s: rx_'],
    ['strong session repeatable read', 'strong repeatable read', 'A[1-2]: wx1 | B[3-4]: rx_'],
    ['prefix', 'snapshot', 'A: rx_ wx1 | B: rx_ wx2'],
    ['cursor stability', 'snapshot', 'A: wx1 wy1 | B: ry_ rx1'],
    ['snapshot', 'strong session snapshot', 'A@s: wx1 | B@s: rx_'],
    ['strong session prefix', 'strong session snapshot', 'A: rx_ wx1 | B: rx_ wx2'],
    ['strong session snapshot', 'strong snapshot', 'A[1-2]: wx1 | B[3-4]: rx_'],
    ['snapshot', 'serializable', 'A: rx_ wy1 | B: ry_ wx1'],
    ['serializable', 'strong session serializable', 'A@s: wx1 | B@s: rx_'],
    ['strong session serializable', 'strict serializable', 'A[1-2]: wx1 | B[3-4]: rx_'],
    ['strong snapshot', 'strict serializable', 'A[1-4]: rx_ wy1 | B[2-5]: ry_ wx1'],
  ];

describe('levels', () => {
  for (const [weaker, level, text] of boundaries) {
    it(`${level} rejects what ${weaker ?? 'no level'} accepts: ${text}`, () => {
      const check = (asked: CheckLevel) => checkKv(kv(text), { level: asked, definitions: 'adya' });
      const rejected = check(level);
      expect(rejected.valid).toBe(false);
      expect(rejected.findings.length).toBeGreaterThan(0);
      if (weaker !== undefined) {
        expect(check(weaker)).toMatchObject({ valid: true, findings: [] });
        expect(rejected.levels[weaker]).toBe('holds');
      }
    });
  }

  it('every level has such a history', () => {
    expect(new Set(boundaries.map(([, level]) => level))).toEqual(new Set(checkLevels));
  });

  it('name the strongest that still hold', () => {
    expect(checkKv(kv('A[1-4]: rx_ wy1 | B[2-5]: ry_ wx1')).strongest).toEqual(['strong snapshot']);
    expect(checkKv(kv('A: wx1 | B: rx1')).strongest).toEqual(['strong session serializable']);
    expect(checkKv(kv('A: wx1 | B: rx7')).strongest).toEqual([]);
  });

  it('have the meaning of the history they are asked of', () => {
    const text = 'A: wx1 wy1 | B: rx1 ry_';
    expect(checkKv(kv(text), { level: 'read committed' })).toMatchObject({
      valid: false,
      level: 'monotonic atomic view',
    });
    expect(checkKv(kv(text, { definitions: 'adya' }), { level: 'read committed' }).valid).toBe(true);
  });
});

describe('a level asked by name', () => {
  it('is the one checked: cursor stability of registers allows write skew', () => {
    const skew = kv('A: rx_ wy1 | B: ry_ wx1');
    const result = checkKv(skew, { level: 'cursor stability' });
    expect(result).toMatchObject({ valid: true, level: 'cursor stability' });
    expect(result.levels['cursor stability']).toBe('holds');
    expect(checkKv(kv('A: rx_ wx1 | B: rx_ wx2'), { level: 'cursor stability' })).toMatchObject({
      valid: false,
      level: 'cursor stability',
    });
  });
});

describe('a finding', () => {
  it.each([
    'A: rx_ wx1 | B: rx_ wx2',
    'A: wx1 wy1 | B: rx1 ry_',
    'A@s: wx1 | B@s: rx_',
    'A[1-2]: wx1 | B[3-4]: rx_',
    'A: wx1 | B: rx7',
    'A: wx1 | B: wx2 | C: rx1 rx2 | D: rx2 rx1',
  ])('is reported once: %s', (text) => {
    const { findings, beyond } = checkKv(kv(text), { level: 'strict serializable' });
    const shown = [...findings, ...beyond].map(
      ({ kind, transactions, versions }) =>
        `${kind} of ${transactions.map(({ name }) => name).sort()} ${versions?.[0]?.seen ?? ''}`,
    );
    expect(shown).toEqual([...new Set(shown)]);
    expect(shown.length).toBeGreaterThan(0);
  });
});

describe('what is not known', () => {
  it('is said: no times, no real-time order', () => {
    const result = checkKv(kv('A: wx1 | B: rx1'), { level: 'strict serializable' });
    expect(result.valid).toBe('unknown');
    expect(result.unknownReasons.join()).toContain('no times');
  });

  it('does not hide what is certain', () => {
    expect(checkKv(kv('A: wx1 | B: rx? ry7')).valid).toBe(false);
  });

  it('a transaction of unknown outcome counts only if somebody saw it', () => {
    expect(checkKv(kv('A?: wx1 rz7 | B: rx_')).valid).toBe(true);
    expect(checkKv(kv('A?: wx1 rz7 | B: rx1')).valid).toBe(false);
    expect(checkKv(kv('A?: ry_ wx1 | B?: rx_ wy1 | C: rx1 ry1')).valid).toBe(false);
  });
});

describe('values written more than once', () => {
  const check = (text: string, level: CheckLevel = 'serializable') =>
    checkKv(kv(text), { level, definitions: 'adya', strongest: false, certificate: true });

  it('leave a choice of writers: one that explains everything is enough', () => {
    expect(check('A: wx1 | B: wx1 | C: rx1').valid).toBe(true);
    // C can have read x only from A, because B comes after it.
    const result = check('A: wx1 | B: ry1 wx1 | C: rx1 wy1');
    expect(result.valid).toBe(true);
    expect(result.certificate).toMatchObject({ order: [0, 2, 1] });
  });

  it('break a level if every choice does', () => {
    // Whichever 1 of x was read, both y and z are older than what its writer wrote.
    const text = 'A: wx1 wy1 | B: wx1 wz1 | C: rx1 ry_ rz_';
    expect(check(text, 'read atomic').valid).toBe(false);
    expect(check(text, 'read committed').valid).toBe(true);
    expect(check(text).certificate).toMatchObject({ valid: false, transactions: [0, 1, 2] });
  });

  it('say of transactions of unknown outcome only what every outcome says', () => {
    expect(check('A: wx1 | B?: wx1 ry_ | C: wy1 | D: rx1 ry1').valid).toBe(true);
    expect(check('A!: wx1 | B?: wx1 rz7 | D: rx1').valid).toBe(false);
    const text = 'A: wx1 wz1 | B?: wx1 rz7 | C: rx1 rz_ ';
    expect(check(text, 'read atomic').valid).toBe(false);
    expect(check(text, 'read committed').valid).toBe(true);
  });

  it('hide nothing that is certain, however many outcomes are open', () => {
    const many = Array.from({ length: 33 }, (_, i) => `U${i}?: wx1 rz7`).join(' | ');
    expect(check(`A: wx1 | ${many} | C: rx1 ry7`).findings.map(({ kind }) => kind)).toEqual(['garbage-read']);
    // None of the 33 can have committed, so C read what A wrote.
    const skewed = check(`A: wx1 wy1 | ${many} | C: rx1 ry_`, 'read atomic');
    expect(skewed.valid).toBe(false);
    expect(skewed.findings.map(({ kind }) => kind)).toEqual(['read-skew']);
  });

  it('are told from reads of what was overwritten, aborted or not yet written', () => {
    const kindsOf = (text: string) => check(text).findings.map(({ kind }) => kind);
    expect(kindsOf('A: wx1 wx2 | B: wx1 wx3 | C: rx1')).toEqual(['G1b']);
    expect(kindsOf('A!: wx1 | B!: wx1 | C: rx1')).toEqual(['G1a']);
    expect(check('A: rx1 wx1 | B: wx1').valid).toBe(true);
  });
});

describe('switching anomalies off', () => {
  it('takes them out of the findings and the verdict', () => {
    const text = 'A: rx_ wy1 | B: ry_ wx1';
    expect(checkKv(kv(text), { anomalies: { ignore: ['write-skew'] } })).toMatchObject({
      valid: true,
      findings: [],
    });
    expect(checkKv(kv(text), { anomalies: { only: ['G1a'] } }).findings).toEqual([]);
    expect(checkKv(kv(text), { anomalies: { only: ['write-skew'] } }).valid).toBe(false);
  });
});

describe('elements appended more than once', () => {
  it.each([
    ['T1@s0: ax1 | T2: ax1 | T3@s1: rx[1,1] ax1 | T4@s1: ax1 rx[1,1]', ['strong session read uncommitted']],
    ['T1@s0: ax1 | T2@s0: ax2 | T3: rx[2,1] ax2 | T4@s0: ax3 ax4', ['strong session read uncommitted']],
    [
      'T1@s0: ax1 ax1 | T2: rx[] ax1 rx[1,1,1] | T3: rx[1,1,1] | T4@s0: ax1 rx[1,1,1] ax1',
      ['read uncommitted', 'strong session read uncommitted'],
    ],
  ] as const)('are never said to keep what no order explains: %s', (text, broken) => {
    for (const level of ['read uncommitted', 'strong session read uncommitted', 'causal'] as const) {
      const { levels } = checkKv(kv(text), { level, definitions: 'adya' });
      for (const each of broken) expect(levels[each]).not.toBe('holds');
    }
    for (const level of broken) expect(check(text, level).valid).not.toBe(true);
  });

  const check = (text: string, level: CheckLevel = 'serializable') =>
    checkKv(kv(text), { level, definitions: 'adya', strongest: false, certificate: true });
  const kindsOf = (text: string, level?: CheckLevel) => check(text, level).findings.map(({ kind }) => kind);

  it('are the one append or the other: one way that explains everything is enough', () => {
    // C read what B appended: had it been A's, C would have missed A's y.
    const text = 'A: ax1 ay1 | B: ax1 | C: rx[1] ry[]';
    expect(check(text).valid).toBe(true);
    expect(verifyCertificate(kv(text), check(text, 'read atomic').certificate!)).toEqual({ accepted: true });
    // One transaction may append an element twice.
    expect(check('A: ax1 ax1 | B: rx[1,1] ay1 | C: ry[] rx[]').valid).toBe(true);
  });

  it('break a level if every way does', () => {
    expect(kindsOf('A: ax1 ay1 | B: ax1 az1 | C: rx[1] ry[] rz[]', 'read atomic')).toEqual(['read-skew']);
    expect(kindsOf('A: ax1 | B: ax1 | C: rx[1] rx[]')).toEqual(['internal', 'G-single']);
    expect(kindsOf('A: ax1 | B: ax1 | C: rx[1,1,1]')).toEqual(['duplicate-write']);
    expect(kindsOf('A!: ax1 | B: ax1 | C: rx[1,1]')).toEqual(['G1a']);
    const lost = 'A: rx[] ax1 | B: rx[] ax1 | C: rx[1,1]';
    expect(kindsOf(lost)).toEqual(['lost-update']);
    expect(check(lost).certificate).toMatchObject({ valid: false, transactions: [0, 1] });
  });

  it('of unknown outcome may be in a list or not', () => {
    expect(check('A?: ax1 | B: ax1 | C: rx[1]').valid).toBe(true);
    expect(check('A?: ax1 | B: ax1 | C: rx[1,1]').valid).toBe(true);
    // Only A, whose outcome is not known, can have appended the second one, and it read what nobody wrote.
    expect(kindsOf('A?: ax1 rz[7] | B: ax1 | C: rx[1,1]', 'read committed')).toEqual(['garbage-read']);
  });

  it('say of other levels only what holds or breaks whosever they are', () => {
    const text = 'A@s1[2-4]: ax1 ax2 | B@s1[3-3]: ax1 | C@s1[5-8]: rx[1]';
    const { valid, levels } = check(text, 'strong read uncommitted');
    expect(valid).toBe(true);
    expect(levels['read committed']).not.toBe('broken');
    expect(check(text, 'read committed').valid).toBe(true);
  });

  it('and read in a list do not make its reader one of theirs where only the last writer is read from', () => {
    // T4 reads what T3 wrote, not T1, so y may still be empty there; cursor stability asks for more.
    const text = 'T1: rx[] ax1 ay1 | T2: ay2 | T3@s0: ax2 ax3 | T4@s0: rx[1,2,3] ry[] ay1';
    const { valid, levels } = check(text, 'cursor stability');
    expect(valid).toBe(false);
    for (const level of ['monotonic atomic view', 'read atomic', 'causal'] as const) {
      expect(levels[level]).not.toBe('broken');
      expect(check(text, level).valid).toBe(true);
    }
  });

  it('and taken back may have been in one list and not in the next, which read uncommitted allows', () => {
    const text = 'A: ax1 ax2 | B: rx[2,1] ax1 | C@s0: rx[1,2,1] | D!: ax3 ax2';
    expect(check(text, 'read uncommitted').valid).toBe('unknown');
    expect(check(text, 'read committed').valid).toBe(false);
  });

  it('of unknown outcome may have been seen and taken back, which read uncommitted allows', () => {
    // Explained only if A aborted: C's second list has its own append within the first three, its first list has four without it.
    const text = 'A?: ax1 ax1 | B@s0: ax1 ax1 | C@s0: rx[1,1,1,1] ax1 rx[1,1,1] | D@s0: rx[1,1,1,1,1] ax2';
    expect(check(text, 'read uncommitted').valid).toBe('unknown');
    expect(check(text.replace('A?', 'A'), 'read uncommitted').valid).toBe(false);
  });
});

describe('fast and slow checkers agree', () => {
  const seed = 20_260_722;
  for (const level of checkLevels) {
    it(`on ${level} (seed ${seed})`, () => {
      const result = crossCheckLevel(level, 250, seed);
      expect(result.disagreements).toEqual([]);
      // Both answers must be frequent, or agreement means little.
      expect(result.broken).toBeGreaterThan(20);
      expect(result.histories - result.broken).toBeGreaterThan(20);
      expect(result.undecided).toBeLessThan(5);
      expect(result.withoutResult).toBeLessThan(20);
      expect(result.proved).toBe(result.histories - result.undecided - result.withoutResult);
    });
  }

  it(`on the families of cycles (seed ${seed})`, () => {
    const result = crossCheckAnomalies(500, seed);
    expect(result.disagreements).toEqual([]);
    expect(result.broken).toBeGreaterThan(50);
  });
});
