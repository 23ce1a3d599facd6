import { describe, expect, it } from 'vitest';
import { KvBuilder, type KvHistory, kv } from '../../histories/index.js';
import { verifyCertificate } from './certificate/verify.js';
import { checkKv } from './check-kv.js';
import { serialRun } from './serial-run.js';
import { randomHistory, seededRandom } from './slow/random-history.js';
import { slowHolds } from './slow/slow-levels.js';

const explains = (text: string): boolean => serialRun(kv(text)) !== undefined;

describe('a history that runs serially', () => {
  it.each([
    'T1@a: wx1 | T2@b: rx1 wx2 | T3@a: rx2 ry_',
    'T1: ax1 ax2 | T2: rx[1,2] ax3 rx[1,2,3] | T3: ax4',
    // What aborted did is not there.
    'T1: wx1 | T2!: wx2 rx7 | T3: rx1 wx3',
    // Who read what comes later waits for it, and its session behind it.
    'T1@a: rx1 wy1 | T2@a: ry1 | T3@b: wx1 | T4@a: ry1',
    'T1: ax1 | T2: ax2 | T3: rx[2,1]',
    // Who appends waits for who read the list before.
    'T1: rx[1,2] | T2: ax2 | T3: ax1 | T4: rx[1]',
    // A value may have been written twice.
    'T1: wx1 | T2: wx1 | T3: rx1',
    'T1: ax1 | T2: ax1 | T3: rx[1,1]',
  ])('%s', (text) => {
    expect(explains(text)).toBe(true);
    const { valid, certificate } = checkKv(kv(text), { strongest: false, certificate: true });
    expect(valid).toBe(true);
    expect(verifyCertificate(kv(text), certificate!)).toEqual({ accepted: true });
  });

  it.each([
    ['a read of what is gone', 'T1@a: wx1 | T2@a: wx2 | T3@a: rx1'],
    ['a read of what its own session writes later', 'T1@a: rx1 | T2@a: wx1'],
    ['a list that is too short', 'T1: ax1 ax2 | T2: rx[1]'],
    ['an own write that is missed', 'T1: wx1 rx_'],
    ['an aborted write that is seen', 'T1!: wx1 | T2: rx1'],
    ['an outcome that is not known', 'T1?: wx1 | T2: rx1'],
    ['a result that is not known', 'T1: wx1 | T2: rx?'],
    ['a key that is a register and a list', 'T1: wx1 | T2: ax2'],
  ])('is not one with %s', (_why, text) => {
    expect(explains(text)).toBe(false);
  });

  it('is not one without transactions or with operations left out', () => {
    const history = kv('T1: wx1 | T2: rx1');
    expect(serialRun(history)).toMatchObject({ hasLists: false, hasTimes: false, inRealTime: false });
    expect(serialRun({ ...history, txCount: 0 })).toBeUndefined();
    expect(serialRun({ ...history, omitted: ['2 adds'] })).toBeUndefined();
  });

  it.each([
    ['in the order of the run', 'T1[1-4]: wx1 | T2[2-3]: rx1', true],
    ['against it', 'T1[3-4]: wx1 | T2[1-2]: rx1', false],
    ['of one that ends before it starts, which say nothing', 'T1[4-3]: wx1 | T2[1-2]: rx1', true],
  ])('has times %s', (_how, text, agree) => {
    expect(serialRun(kv(text))).toMatchObject({ hasTimes: true, inRealTime: agree });
  });

  it('is looked for no longer than it takes to see that the file has another order', () => {
    // A million comparisons would be one for each transaction that waits, again and again.
    let looked = 0;
    const { opValue, ...history } = sessionAfterSession(20_000);
    const counted = new Proxy(opValue, {
      get: (values, at) => {
        looked++;
        return Reflect.get(values, at);
      },
    });
    expect(serialRun({ ...history, opValue: counted })).toBeUndefined();
    expect(looked).toBeLessThan(4 * history.opCount);
  });

  it('is serializable in the order of its sessions, and strictly where it has times', () => {
    const random = seededRandom(11);
    let found = 0;
    for (let i = 0; i < 1500; i++) {
      const times = i % 3 === 0;
      const text = randomHistory(random, {
        lists: i % 2 === 0,
        repeated: i % 4 === 1,
        maxTxs: 5,
        times,
      });
      const run = serialRun(kv(text));
      if (run === undefined) continue;
      found++;
      const level = run.inRealTime ? 'strict serializable' : 'strong session serializable';
      expect(slowHolds(kv(text), level), text).toBe(true);
    }
    expect(found).toBeGreaterThan(200);
  });
});

/** Two sessions that take turns at one register, one after the other in the file. */
function sessionAfterSession(txCount: number): KvHistory {
  const builder = new KvBuilder();
  for (const session of [1, 0]) {
    for (let tx = session; tx < txCount; tx += 2) {
      builder.begin(session);
      builder.read('x', tx === 0 ? null : tx);
      builder.write('x', tx + 1);
      builder.end('committed');
    }
  }
  return builder.build();
}
