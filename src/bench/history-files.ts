/** Files of histories for the benchmarks, always the same ones: list-append as Jepsen and Elle write it, registers as Plume does. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

type MicroOp = readonly ['append', number, number] | readonly ['r', number, readonly number[] | null];

interface BenchEvent {
  readonly type: 'invoke' | 'ok';
  readonly process: number;
  readonly index: number;
  readonly time: number;
  readonly ops: readonly MicroOp[];
}

/**
 * A list-append run of 20 clients over a serial store: ten keys at a time, each retired after 32 appends. One transaction ends before the
 * next begins; or, `overlapping`, of two at a time the first to take effect is the last to be answered.
 */
export function* listAppendEvents(
  count: number,
  print: (event: BenchEvent) => string,
  clients: 'in turn' | 'overlapping' = 'in turn',
): Generator<string, void, undefined> {
  const waiting: BenchEvent[] = [];
  const random = lcg(7);
  const keys = Array.from({ length: 10 }, (_, key) => key);
  const lists = new Map<number, number[]>();
  let nextKey = keys.length;
  let index = 0;
  let time = 0;
  for (let tx = 0; tx < count; tx++) {
    const process = tx % 20;
    const ops: MicroOp[] = [];
    const invoked: MicroOp[] = [];
    for (let i = 0; i < 4; i++) {
      const slot = random(keys.length);
      const key = keys[slot]!;
      const list = lists.get(key) ?? [];
      if (random(2) === 0) {
        ops.push(['r', key, [...list]]);
        invoked.push(['r', key, null]);
        continue;
      }
      const op = ['append', key, list.length + 1] as const;
      ops.push(op);
      invoked.push(op);
      lists.set(key, [...list, list.length + 1]);
      if (list.length < 31) continue;
      lists.delete(key);
      keys[slot] = nextKey++;
    }
    time += 1000 + random(50_000);
    yield print({ type: 'invoke', process, index: index++, time, ops: invoked });
    waiting.push({ type: 'ok', process, index, time, ops });
    if (clients === 'overlapping' && waiting.length < 2 && tx < count - 1) continue;
    for (const answer of waiting.splice(0).reverse()) {
      time += 1000 + random(50_000);
      yield print({ ...answer, index: index++, time });
    }
  }
}

export function ednEvent({ type, process, index, time, ops }: BenchEvent): string {
  const value = ops.map(([f, key, operand]) => {
    const shown = operand === null ? 'nil' : typeof operand === 'number' ? operand : `[${operand.join(' ')}]`;
    return `[:${f} ${key} ${shown}]`;
  });
  return `{:type :${type}, :f :txn, :value [${value.join(' ')}], :process ${process}, :time ${time}, :index ${index}}\n`;
}

export function jsonEvent({ type, process, index, time, ops }: BenchEvent): string {
  return `${JSON.stringify({ type, f: 'txn', value: ops, process, time, index })}\n`;
}

export interface RegisterShape {
  readonly sessions: number;
  readonly txCount: number;
  readonly opCount: number;
  readonly keys: number;
}

/** A serial run over registers with unique values, interleaved by session, as Plume writes it: the sessions take turns. */
export function* registerLines({
  sessions,
  txCount,
  opCount,
  keys,
}: RegisterShape): Generator<string, void, undefined> {
  const random = lcg(11);
  const registers = new Int32Array(keys);
  let value = 1;
  for (let txn = 0; txn < txCount; txn++) {
    const session = txn % sessions;
    for (let i = 0; i < opCount; i++) {
      const key = random(keys);
      if (random(2) === 0) yield `r(${key},${registers[key]},${session},${txn})\n`;
      else {
        registers[key] = value;
        yield `w(${key},${value++},${session},${txn})\n`;
      }
    }
  }
}

/** A linear congruential generator: the same file on every machine. */
export function lcg(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export async function writeLines(path: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(joined(lines)), createWriteStream(path));
}

function* joined(lines: Iterable<string>): Generator<string, void, undefined> {
  let text = '';
  for (const line of lines) {
    text += line;
    if (text.length < 256 * 1024) continue;
    yield text;
    text = '';
  }
  yield text;
}
