/** What the tests of workloads share: operations as text, and histories of a simulated object. */
import type { PlainOperation, PlainValue } from '../../histories/index.js';
import { KvBuilder } from '../../histories/index.js';
import { recognizeWorkload, workloads } from './registry.js';
import type { WorkloadName, WorkloadOptions } from './workload.js';

const noTransactions = new KvBuilder().build();

/** An operation from its begin to its end; without an end nobody knows its outcome. */
export function op(
  start: number,
  end: number | undefined,
  f: string,
  value: PlainValue = null,
  status: 'ok' | 'fail' | 'info' = end === undefined ? 'info' : 'ok',
): PlainOperation {
  return {
    f,
    process: undefined,
    status,
    start,
    end: status === 'info' ? Number.POSITIVE_INFINITY : end!,
    label: start,
    invoked: null,
    value,
  };
}

export function checkOperations(
  name: WorkloadName,
  operations: readonly PlainOperation[],
  options: WorkloadOptions = {},
) {
  const workload = workloads.find((each) => each.name === name)!;
  const result = workload.check({ operations, transactions: noTransactions }, options);
  return {
    ...result,
    kinds: [...new Set(result.findings.map(({ kind }) => kind))],
    recognized: recognizeWorkload(operations)?.name,
  };
}

/** Numbers from a seed (mulberry32), for histories that must come out the same every time. */
export function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface Simulated {
  readonly operations: PlainOperation[];
}

/**
 * Clients that call an object which takes each operation at one moment between begin and end: such a history is right by
 * construction. Now and then an operation is lost, and may or may not have taken effect.
 */
export function simulate(
  seed: number,
  count: number,
  call: (random: (below: number) => number, position: number) => { f: string; value: PlainValue },
  apply: (f: string, value: PlainValue) => PlainValue | undefined,
): PlainOperation[] {
  const random = numbersFrom(seed);
  const operations: PlainOperation[] = [];
  interface Open {
    readonly f: string;
    value: PlainValue;
    readonly start: number;
    applied: boolean;
    failed: boolean;
  }
  const open: Open[] = [];
  let position = 0;
  const take = (each: Open): void => {
    const result = apply(each.f, each.value);
    each.applied = true;
    if (result === undefined) each.failed = true;
    else each.value = result;
  };
  for (let begun = 0; begun < count || open.length > 0; ) {
    const mayBegin = begun < count && open.length < 4;
    if (mayBegin && random(2) === 0) {
      const { f, value } = call(random, begun++);
      open.push({ f, value, start: position++, applied: false, failed: false });
      continue;
    }
    const each = open[random(Math.max(1, open.length))];
    if (each === undefined) continue;
    if (!each.applied && random(2) === 0) {
      take(each);
      continue;
    }
    const isLost = random(12) === 0;
    if (!each.applied && !isLost) take(each);
    open.splice(open.indexOf(each), 1);
    const end = position++;
    operations.push(op(each.start, end, each.f, each.value, isLost ? 'info' : each.failed ? 'fail' : 'ok'));
  }
  return operations;
}
