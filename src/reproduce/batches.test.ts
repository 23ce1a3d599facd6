import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batches, makeBatches } from './batches.js';
import * as role from './conflicts.js';
import { because, Edges, type Softness, softness } from './evidence.js';
import { type OrderGraph, orderGraph, type StepPair, strength } from './order-graph.js';
import { accessesOf, arbitraryRun, type LabRun, labRun } from './step-lab.case.js';
import { noEdges } from './time-order.js';

const every = [role.read, role.snapshot, role.share, role.lock, role.write, role.publish, role.release];

function conflict({ accesses }: LabRun, a: number, b: number): boolean {
  return accessesOf(accesses, a).some(([object, roles]) =>
    accessesOf(accesses, b).some(([other, theirs]) => other === object && role.inConflict(roles, theirs)),
  );
}

type Wish = StepPair | readonly [from: number, to: number, soft: Softness];

function graphOf({ steps }: LabRun, wishes: readonly Wish[], learnt: readonly StepPair[] = []): OrderGraph {
  const edges = new Edges();
  for (const [from, to, soft] of wishes) edges.add({ from, to, why: because.lock, object: 0 }, soft ?? false);
  const chosen = { orders: [], choice: [] };
  return orderGraph(steps.count, edges, chosen, { times: noEdges, answers: noEdges, learnt });
}

function batched(run: LabRun, wishes: readonly Wish[], learnt: readonly StepPair[] = []): Batches {
  return makeBatches(run.steps, run.accesses, run.objectCount, graphOf(run, wishes, learnt));
}

/** The batches as lists of steps. */
function lists({ first, steps }: Batches): number[][] {
  return first.slice(0, -1).map((from, b) => [...steps.subarray(from, first[b + 1])]);
}

/** Whatever the orders: all steps once, sessions in program order, no conflict in a batch. */
function expectSound(run: LabRun, batches: Batches): void {
  const { steps } = run;
  expect([...batches.steps].sort((a, b) => a - b)).toEqual(Array.from({ length: steps.count }, (_, i) => i));
  for (let step = 1; step < steps.count; step++)
    if (steps.session[step] === steps.session[step - 1])
      expect(batches.of[step - 1]!).toBeLessThan(batches.of[step]!);
  lists(batches).forEach((batch, number) => {
    for (const a of batch) {
      expect(batches.of[a]).toBe(number);
      for (const b of batch) if (a < b) expect(conflict(run, a, b)).toBe(false);
    }
  });
}

/** Pairs of steps of different sessions, all forwards in one order of all steps that keeps program order. */
function consistentPairs({ steps }: LabRun, picks: readonly (readonly [number, number])[]): StepPair[] {
  const place = Array.from({ length: steps.count }, (_, i) => i).sort(
    (a, b) => steps.start[a]! - steps.start[b]! || steps.session[a]! - steps.session[b]!,
  );
  if (place.length === 0) return [];
  return picks.flatMap(([a, b]): StepPair[] => {
    const [from, to] = [Math.min(a, b) % place.length, Math.max(a, b) % place.length].sort((x, y) => x - y);
    const pair: StepPair = [place[from!]!, place[to!]!];
    return steps.session[pair[0]] === steps.session[pair[1]] ? [] : [pair];
  });
}

const picks = fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 8 });
const options = { seed: 71, numRuns: 300 };

/** Algorithm 1 as it is written: no counting of what is left, every free head is looked at. */
function slowly(run: LabRun, orders: readonly StepPair[]): number[][] {
  const { steps } = run;
  const placed = new Set<number>();
  const found: number[][] = [];
  const isWrite = (step: number) =>
    Number(accessesOf(run.accesses, step).some(([, roles]) => (roles & role.changing) !== 0));
  while (placed.size < steps.count) {
    const heads = run.steps.case.sessions.flatMap((_, s) => {
      for (let step = steps.firstOf[s]!; step < steps.firstOf[s + 1]!; step++)
        if (!placed.has(step))
          return orders.every(([from, to]) => to !== step || placed.has(from)) ? [step] : [];
      return [];
    });
    heads.sort((a, b) => isWrite(a) - isWrite(b) || steps.end[a]! - steps.end[b]!);
    const batch: number[] = [];
    for (const step of heads) if (batch.every((other) => !conflict(run, other, step))) batch.push(step);
    for (const step of batch) placed.add(step);
    found.push(batch);
  }
  return found;
}

describe('batches', () => {
  it('keep program order, every order given, and never hold a conflict', () => {
    fc.assert(
      fc.property(arbitraryRun(every), picks, (run, some) => {
        const orders = consistentPairs(run, some);
        const batches = batched(run, orders);
        expectSound(run, batches);
        for (const [from, to] of orders) expect(batches.of[from]!).toBeLessThan(batches.of[to]!);
        expect(batches.forced).toEqual([]);
      }),
      options,
    );
  });

  it('are those of the plain algorithm, though they stop looking as soon as nothing can join', () => {
    // A snapshot may stand beside a write, but it is offered before any.
    fc.assert(
      fc.property(arbitraryRun(every), picks, (run, some) => {
        const orders = consistentPairs(run, some);
        expect(lists(batched(run, orders))).toEqual(slowly(run, orders));
      }),
      options,
    );
  });

  it('are sound whatever contradictions the orders hold', () => {
    fc.assert(
      fc.property(arbitraryRun(every), picks, picks, (run, some, others) => {
        const backwards = consistentPairs(run, others).map(([from, to]): StepPair => [to, from]);
        expectSound(run, batched(run, [...consistentPairs(run, some), ...backwards]));
      }),
      options,
    );
  });

  it.each([
    ['guesses', softness.guess],
    ['locks that were waited for', softness.waited],
  ])('give up %s before anything certain', (_, soft) => {
    fc.assert(
      fc.property(arbitraryRun(every), picks, picks, (run, some, others) => {
        const certain = consistentPairs(run, some);
        const guesses = consistentPairs(run, others).map(([from, to]): Wish => [to, from, soft]);
        const batches = batched(run, [...certain, ...guesses]);
        for (const [from, to] of certain) expect(batches.of[from]!).toBeLessThan(batches.of[to]!);
        for (const { strength: given } of batches.forced) expect(given).toBeGreaterThan(strength.certain);
      }),
      options,
    );
  });
});

/** Two sessions of two steps each; all times overlap. */
function twoByTwo(accesses: readonly (readonly [number, number][])[] = [[], [], [], []]): LabRun {
  const step = (i: number, start: number, end: number) => ({ start, end, accesses: accesses[i]! });
  return labRun(
    [
      [step(0, 1, 10), step(1, 11, 20)],
      [step(2, 2, 9), step(3, 12, 19)],
    ],
    2,
  );
}

describe('one batch', () => {
  it('offers reads before writes, however late they were answered', () => {
    const run = twoByTwo([[[0, role.read]], [], [[0, role.write]], []]);
    expect(lists(batched(run, []))[0]).toEqual([0]);
  });

  it('offers of two writes the one answered first', () => {
    const run = twoByTwo([[[0, role.write]], [], [[0, role.write]], []]);
    expect(lists(batched(run, []))[0]).toEqual([2]);
  });

  it('takes one step of a session at most', () => {
    expect(lists(batched(twoByTwo(), []))).toEqual([
      [2, 0],
      [3, 1],
    ]);
  });

  it('holds writes of different rows of one table, and none beside a statement on all of it', () => {
    const some = role.onTable(role.write);
    const rows = twoByTwo([[[0, some]], [], [[0, some]], []]);
    expect(lists(batched(rows, []))[0]).toEqual([2, 0]);
    const whole = twoByTwo([[[0, role.write]], [], [[0, some]], []]);
    expect(lists(batched(whole, []))[0]).toEqual([2]);
  });
});

describe('orders that contradict each other', () => {
  it('are given up where they are weakest, and hold back the next step of the session instead', () => {
    const run = twoByTwo();
    // 2 goes before 0 for certain, so it cannot wait for 0: the next of its session does.
    const batches = batched(run, [
      [2, 0],
      [0, 2, softness.guess],
    ]);
    expect(batches.forced).toEqual([{ step: 2, strength: strength.weak, choices: [] }]);
    expect(lists(batches)).toEqual([[2], [0], [3, 1]]);
  });

  it('count less than what a replay has shown', () => {
    const batches = batched(twoByTwo(), [[0, 2]], [[2, 0]]);
    expect(batches.of[2]!).toBeLessThan(batches.of[0]!);
    expect(batches.forced.map(({ strength: given }) => given)).toEqual([strength.certain]);
  });

  it('are not told where nothing spoke for one but the order of answers', () => {
    const run = twoByTwo();
    const edges = new Edges();
    edges.add({ from: 2, to: 0, why: because.lock, object: 0 });
    const answers = { from: new Edges().from, to: new Edges().to };
    answers.from.push(0);
    answers.to.push(2);
    const further = { times: noEdges, answers, learnt: [] };
    const graph = orderGraph(run.steps.count, edges, { orders: [], choice: [] }, further);
    const batches = makeBatches(run.steps, run.accesses, run.objectCount, graph);
    expect(batches.forced).toEqual([]);
    expect(batches.of[2]!).toBeLessThan(batches.of[0]!);
  });

  it('name the choices among them', () => {
    const run = twoByTwo();
    const edges = new Edges();
    edges.add({ from: 2, to: 0, why: because.lock, object: 0 });
    const chosen = { orders: [{ from: 0, to: 2, why: because.conflict, object: 0 }], choice: [7] };
    const graph = orderGraph(run.steps.count, edges, chosen, {
      times: noEdges,
      answers: noEdges,
      learnt: [],
    });
    const { forced } = makeBatches(run.steps, run.accesses, run.objectCount, graph);
    expect(forced).toEqual([{ step: 2, strength: strength.chosen, choices: [7] }]);
  });
});

describe('the graph of orders', () => {
  it.each([
    ['certain', because.lock, softness.none, false, strength.certain],
    ['a guess', because.lock, softness.guess, false, strength.weak],
    ['waited for', because.lock, softness.waited, false, strength.waited],
    ['waited for, sent late', because.lock, softness.waited, true, strength.weak],
    ['presumed by the contract', because.firstUpdater, softness.none, false, strength.presumed],
    ['presumed, and a guess', because.firstUpdater, softness.guess, false, strength.weak],
  ])('weighs an order that is %s', (_, why, soft, waitersLast, expected) => {
    const edges = new Edges();
    edges.add({ from: 0, to: 1, why, object: 0 }, soft);
    const graph = orderGraph(
      2,
      edges,
      { orders: [], choice: [] },
      { times: noEdges, answers: noEdges, learnt: [], waitersLast },
    );
    expect([...graph.strength]).toEqual([expected]);
    expect([...graph.pending]).toEqual([0, 1]);
    expect([...graph.byTarget().order]).toEqual([0]);
  });
});
