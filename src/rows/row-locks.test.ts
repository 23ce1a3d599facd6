import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lock, type LockMode, lockMeeting, modesConflict, RowLocks } from './row-locks.js';

const span = fc.tuple(fc.nat(20), fc.nat(8)).map(([start, length]) => ({ start, end: start + length }));
const mode = fc.constantFrom<LockMode>('share', 'exclusive');

describe('lock modes', () => {
  it.each([
    ['share', 'share', false],
    ['share', 'exclusive', true],
    ['exclusive', 'share', true],
    ['exclusive', 'exclusive', true],
  ] as const)('%s and %s exclude each other: %s', (a, b, conflict) => {
    expect(modesConflict(a, b)).toBe(conflict);
  });
});

describe('how a request meets a holder', () => {
  it.each([
    ['sent after the end', [10, 12], [13, 15], 'apart'],
    ['sent at the very end', [10, 12], [12, 15], 'overlapping'],
    ['sent before the end began', [10, 12], [9, 11], 'waited'],
    ['answered when the end began', [10, 12], [5, 10], 'waited'],
    ['answered before the end began', [10, 12], [5, 9], 'together'],
  ] as const)('%s', (_, [from, to], [start, end], expected) => {
    expect(lockMeeting({ start: from, end: to }, { start, end })).toBe(expected);
  });

  it('is together exactly if no instant of the end can precede one of the request', () => {
    fc.assert(
      fc.property(span, span, (ending, request) => {
        const meeting = lockMeeting(ending, request);
        const mayFollow = ending.start <= request.end;
        expect(meeting === 'together').toBe(!mayFollow);
        expect(meeting === 'apart').toBe(ending.end < request.start);
      }),
    );
  });
});

describe('the locks on a row', () => {
  it('meet what a list of all of them says', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('grant' as const), owner: fc.nat(3), mode }),
      fc.record({ type: fc.constant('release' as const), owner: fc.nat(3) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.nat(3), mode, (steps, owner, asked) => {
        const locks = new RowLocks<Lock<number>>();
        let twin: Lock<number>[] = [];
        for (const each of steps) {
          if (each.type === 'grant') {
            const lock = { owner: each.owner, mode: each.mode };
            locks.grant(lock);
            twin.push(lock);
          } else {
            locks.release((held) => held.owner === each.owner);
            twin = twin.filter((held) => held.owner !== each.owner);
          }
        }
        const met: Lock<number>[] = [];
        locks.meet(owner, asked, (held) => met.push(held));
        const others = twin.filter((held) => held.owner !== owner);
        expect(met).toEqual(asked === 'exclusive' ? others : others.filter((held) => held.mode !== 'share'));
        expect(locks.isFree).toBe(twin.length === 0);
        expect(locks.exclusive).toBe(twin.filter((held) => held.mode === 'exclusive').at(-1));
        const own = twin.filter((held) => held.owner === owner);
        const covered =
          own.some((held) => held.mode === 'exclusive') || (asked === 'share' && own.length > 0);
        expect(locks.covering(owner, asked) !== undefined).toBe(covered);
      }),
    );
  });
});
