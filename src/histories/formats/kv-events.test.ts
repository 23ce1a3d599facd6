import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvBuilder } from '../kv-builder.js';
import { type KvHistory, kvCommitted } from '../kv-history.js';
import { kv } from '../kv-shorthand.js';
import { type KvEvent, kvEvents } from './kv-events.js';
import { eventLines } from './write-kv.js';

function lines(history: KvHistory): string[] {
  return [...kvEvents(history)].map(
    ({ type, tx, process, time }) => `${type} T${tx + 1} by ${process} at ${time}`,
  );
}

/** Sessions whose transactions follow each other in time; some have no times. */
const timed = fc
  .array(
    fc.record({
      session: fc.nat(3),
      status: fc.constantFrom('committed' as const, 'aborted' as const, 'unknown' as const),
      gap: fc.nat(3),
      takes: fc.nat(4),
      recorded: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((transactions) => {
    const builder = new KvBuilder();
    const clock = new Map<number, number>();
    for (const { session, status, gap, takes, recorded } of transactions) {
      const start = (clock.get(session) ?? 0) + gap;
      clock.set(session, start + takes);
      builder.begin(session, recorded ? start : undefined);
      builder.write('x', 1);
      builder.end(status, recorded && status !== 'unknown' ? start + takes : undefined);
    }
    return builder.build();
  });
const options = { seed: 92, numRuns: 300 };

describe('a history as events', () => {
  it('completes every transaction once, after its invocation, in program order', () => {
    fc.assert(
      fc.property(timed, (history) => {
        const events = [...kvEvents(history)];
        const done = events.filter(({ type }) => type !== 'invoke').map(({ tx }) => tx);
        expect(done.toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: history.txCount }, (_, tx) => tx),
        );
        for (const session of history.sessionNames.keys()) {
          const own = done.filter((tx) => history.txSession[tx] === session);
          expect(own).toEqual(own.toSorted((a, b) => a - b));
        }
        const at = (tx: number, invoked: boolean) =>
          events.findIndex((event) => event.tx === tx && (event.type === 'invoke') === invoked);
        for (const { tx } of events) {
          const hasStart = history.txStart !== undefined && !Number.isNaN(history.txStart[tx]);
          expect(at(tx, true) >= 0).toBe(hasStart);
          expect(at(tx, true)).toBeLessThan(at(tx, false));
        }
      }),
      options,
    );
  });

  it('claims of two transactions that one came before the other only if their times say so', () => {
    fc.assert(
      fc.property(timed, (history) => {
        const events = [...kvEvents(history)];
        const { txStart, txEnd, txStatus, txSession } = history;
        events.forEach((done, i) => {
          if (done.type === 'invoke' || txStatus[done.tx] !== kvCommitted || txEnd === undefined) return;
          for (const { type, tx } of events.slice(i + 1)) {
            if (type !== 'invoke' || txSession[tx] === txSession[done.tx] || Number.isNaN(txEnd[done.tx]))
              continue;
            expect(txEnd[done.tx]!).toBeLessThan(txStart![tx]!);
          }
        });
      }),
      options,
    );
  });

  it('never has two transactions of one process open at once', () => {
    fc.assert(
      fc.property(timed, (history) => {
        const open = new Map<number, KvEvent>();
        const lost = new Set<number>();
        for (const event of kvEvents(history)) {
          const { process, type, tx } = event;
          expect(lost.has(process)).toBe(false);
          if (type === 'invoke') {
            expect(open.has(process)).toBe(false);
            open.set(process, event);
          } else {
            expect(open.get(process)?.tx ?? tx).toBe(tx);
            open.delete(process);
          }
          if (type === 'info') lost.add(process);
        }
      }),
      options,
    );
  });
});

describe('processes', () => {
  it.each([
    ['sessions with names get numbers', 'T1@a: wx1 | T2@b: wx2', ['ok T1 by 0 at NaN', 'ok T2 by 1 at NaN']],
    [
      'an invocation goes before a completion of the same time',
      'T1[1-5]: wx1 | T2[5-9]: wx2',
      ['invoke T1 by 0 at 1', 'invoke T2 by 1 at 5', 'ok T1 by 0 at 5', 'ok T2 by 1 at 9'],
    ],
    [
      'an unknown outcome has no time, and retires its process',
      'T1@a?[1-]: wx1 | T2@a[5-6]!: wx2',
      ['invoke T1 by 0 at 1', 'info T1 by 0 at NaN', 'invoke T2 by 1 at 5', 'fail T2 by 1 at 6'],
    ],
  ])('%s', (_, text, expected) => {
    expect(lines(kv(text))).toEqual(expected);
  });

  it('new ones never get the number of a session', () => {
    const builder = new KvBuilder();
    for (const [session, status] of [
      ['client', 'unknown'],
      [7, 'committed'],
      ['client', 'committed'],
    ] as const) {
      builder.begin(session);
      builder.end(status);
    }
    const processes = [...kvEvents(builder.build())].map(({ process, tx }) => [tx, process]);
    expect(new Map(processes as [number, number][])).toEqual(
      new Map([
        [0, 8],
        [1, 7],
        [2, 9],
      ]),
    );
  });
});

describe('events as lines', () => {
  const history = kv('T1@a[1-2]: wx1 ry_ | T2?@b: rx1');

  it('of Jepsen: results stand in completions alone', () => {
    expect([...eventLines(history, 'jepsen')].join('')).toBe(
      [
        '{:index 0, :type :info, :process 1, :f :txn, :value [[:r "x" 1]]}',
        '{:index 1, :time 1, :type :invoke, :process 0, :f :txn, :value [[:w "x" 1] [:r "y" nil]]}',
        '{:index 2, :time 2, :type :ok, :process 0, :f :txn, :value [[:w "x" 1] [:r "y" nil]]}',
        '',
      ].join('\n'),
    );
  });

  it.each([true, false])('of Elle are JSON, as a list: %s', (asList) => {
    const text = [...eventLines({ ...history, omitted: ['one "thing"'] }, 'elle-json', asList)].join('');
    const events: unknown[] = asList
      ? (JSON.parse(text) as unknown[])
      : text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown);
    expect(events).toHaveLength(4);
    expect(events[3]).toEqual({ index: 3, type: 'info', f: 'omitted', value: null, error: 'one "thing"' });
  });

  it('of an empty history are an empty list', () => {
    expect(JSON.parse([...eventLines(new KvBuilder().build(), 'elle-json', true)].join(''))).toEqual([]);
  });
});
