/** Small made-up runs for tests of order inference: steps with times, and the objects each accesses. */
import fc from 'fast-check';
import type { Accesses } from './evidence.js';
import type { Steps } from './steps.js';

/** A step of a made-up session. */
export interface LabStep {
  readonly start: number;
  readonly end: number;
  /** Object and roles of each access. */
  readonly accesses: readonly (readonly [object: number, roles: number])[];
}

export interface LabRun {
  readonly steps: Steps;
  readonly accesses: Accesses;
  readonly objectCount: number;
}

/** A run with these sessions; every session is one transaction. */
export function labRun(sessions: readonly (readonly LabStep[])[], objectCount: number): LabRun {
  const all = sessions.flatMap((list, session) =>
    list.map((step, position) => ({ ...step, session, position })),
  );
  const start = Float64Array.from(all, (step) => step.start);
  const end = Float64Array.from(all, (step) => step.end);
  const firstOf = [0];
  for (const list of sessions) firstOf.push(firstOf.at(-1)! + list.length);
  const first = [0];
  for (const { accesses } of all) first.push(first.at(-1)! + accesses.length);
  return {
    steps: {
      case: {
        name: 'lab',
        setup: [],
        sessions: sessions.map((list, s) => ({
          name: `S${s}`,
          statements: list.map((_, p) => `SELECT ${p}`),
        })),
      },
      count: all.length,
      session: Int32Array.from(all, ({ session }) => session),
      position: Int32Array.from(all, ({ position }) => position),
      source: Int32Array.from(all, (_, i) => i),
      transaction: Int32Array.from(all, ({ session }) => session),
      start,
      end,
      spans: { earliest: (step) => start[step]!, latest: (step) => end[step]! },
      transactionCount: sessions.length,
      endOf: Int32Array.from(sessions, (list, s) => (list.length === 0 ? -1 : firstOf[s + 1]! - 1)),
      firstOf: Int32Array.from(firstOf),
      replaced: new Uint8Array(all.length),
      cancelled: new Uint8Array(all.length),
      leftOut: [],
    },
    accesses: {
      first: Int32Array.from(first),
      object: Int32Array.from(all.flatMap((step) => step.accesses.map(([object]) => object))),
      roles: Int32Array.from(all.flatMap((step) => step.accesses.map(([, roles]) => roles))),
    },
    objectCount,
  };
}

/** Accesses to different objects, with sets of these roles. */
function arbitraryAccesses(objectCount: number, roles: readonly number[]) {
  const set = fc
    .subarray([...roles], { minLength: 1, maxLength: 2 })
    .map((some) => some.reduce((a, b) => a | b, 0));
  return fc.uniqueArray(fc.tuple(fc.nat(objectCount - 1), set), {
    maxLength: 3,
    selector: ([object]) => object,
  });
}

/** Runs of up to four sessions whose statements overlap in every way. */
export function arbitraryRun(roles: readonly number[], objectCount = 3): fc.Arbitrary<LabRun> {
  const step = fc.record({
    gap: fc.nat(3),
    takes: fc.nat(6),
    accesses: arbitraryAccesses(objectCount, roles),
  });
  return fc.array(fc.array(step, { maxLength: 5 }), { minLength: 1, maxLength: 4 }).map((sessions) =>
    labRun(
      sessions.map((list) => {
        let now = 0;
        return list.map(({ gap, takes, accesses }) => {
          const start = now + gap + 1;
          now = start + takes + 1;
          return { start, end: now, accesses };
        });
      }),
      objectCount,
    ),
  );
}

/** The accesses of a step, as pairs. */
export function accessesOf(
  { first, object, roles }: Accesses,
  step: number,
): [object: number, roles: number][] {
  const found: [number, number][] = [];
  for (let i = first[step]!; i < first[step + 1]!; i++) found.push([object[i]!, roles[i]!]);
  return found;
}
