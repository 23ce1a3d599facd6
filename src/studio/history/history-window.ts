/**
 * What a page draws of a history at one zoom: tiles. The axis is cut into 2^zoom tiles, the sessions into groups of `lanesPerTile`.
 * A tile with few operations lists them; one with many counts them per session in `binsPerTile` slices of the axis. Either takes one
 * look at the operations that begin inside it, and at the blocks before it that reach into it.
 */
import { showControls } from '../../visible.js';
import { blockSize, flag, type HistoryColumns } from './history-columns.js';

export const lanesPerTile = 32;
export const binsPerTile = 256;
const mostListed = 1200;
const longestLabel = 160;

export interface HistoryFilter {
  readonly session?: number;
  /** The name of a transaction, as pages show it. */
  readonly transaction?: string;
  /** A row or key by its full name, or a table. */
  readonly object?: string;
  /** Part of a statement or its answer. */
  readonly text?: string;
  readonly failed?: boolean;
}

/** 1 for each operation that fits. */
export type Mask = Uint8Array;

/** Undefined: everything fits. */
export function maskOf(columns: HistoryColumns, filter: HistoryFilter): Mask | undefined {
  const tests = testsOf(columns, filter);
  if (tests.length === 0) return undefined;
  const mask = new Uint8Array(columns.count);
  for (let i = 0; i < columns.count; i++) mask[i] = tests.every((test) => test(i)) ? 1 : 0;
  return mask;
}

function testsOf(columns: HistoryColumns, filter: HistoryFilter): ((operation: number) => boolean)[] {
  const { session, transaction, object, text, failed } = filter;
  const tests: ((operation: number) => boolean)[] = [];
  if (session !== undefined) tests.push((i) => columns.session[i] === session);
  if (failed === true) tests.push((i) => (columns.flags[i]! & (flag.failed | flag.unknown)) !== 0);
  if (transaction !== undefined) {
    const wanted = new Uint8Array(columns.transactionCount);
    for (let tx = 0; tx < columns.transactionCount; tx++)
      if (columns.transactionName(tx) === transaction) wanted[tx] = 1;
    tests.push((i) => wanted[columns.transaction[i]!] === 1);
  }
  if (object !== undefined) {
    const wanted = columns.objectNames.indexOf(object);
    tests.push((i) => {
      const end = columns.objectOffsets[i + 1]!;
      for (let at = columns.objectOffsets[i]!; at < end; at++)
        if (columns.objects[at] === wanted) return true;
      return false;
    });
  }
  if (text !== undefined) {
    const part = text.toLowerCase();
    const has = (value: string) => value.toLowerCase().includes(part);
    tests.push((i) => has(columns.statement(i)) || has(columns.result(i)));
  }
  return tests;
}

export interface TileAsked {
  readonly zoom: number;
  readonly tile: number;
  readonly lanes: number;
}

export type HistoryTile =
  | { readonly operations: readonly TileOperation[] }
  /** For each lane its slices: `round(16 * log2(1 + count))`, at most 255; `failed`: a bit for each slice with a failure. */
  | { readonly bins: Uint8Array; readonly failed: Uint8Array };

export type TileOperation = readonly [
  index: number,
  session: number,
  start: number,
  end: number,
  flags: number,
  label: string,
];

export function tileOf(columns: HistoryColumns, asked: TileAsked, mask?: Mask): HistoryTile {
  const { span, session, start, end, flags } = columns;
  const width = (span.to - span.from) / 2 ** asked.zoom;
  const from = span.from + asked.tile * width;
  const firstLane = asked.lanes * lanesPerTile;
  const fits = (i: number) =>
    session[i]! >= firstLane &&
    session[i]! < firstLane + lanesPerTile &&
    (mask === undefined || mask[i] === 1);
  const listed: number[] = [];
  // Differences: +1 where an operation begins, −1 behind its end; summed up below.
  const stride = binsPerTile + 1;
  const changes = new Int32Array(lanesPerTile * stride);
  const failed = new Uint8Array(lanesPerTile * binsPerTile);
  const slice = (place: number) =>
    Math.min(binsPerTile - 1, Math.max(0, Math.floor(((place - from) / width) * binsPerTile)));
  for (const i of operationsIn(columns, from, from + width)) {
    if (!fits(i)) continue;
    if (listed.length <= mostListed) listed.push(i);
    const lane = session[i]! - firstLane;
    const [first, last] = [slice(start[i]!), slice(end[i]!)];
    changes[lane * stride + first]! += 1;
    changes[lane * stride + last + 1]! -= 1;
    if ((flags[i]! & flag.failed) !== 0) failed[lane * binsPerTile + first] = 1;
  }
  if (listed.length <= mostListed) return { operations: listed.map((i) => tileOperation(columns, i)) };
  const bins = new Uint8Array(lanesPerTile * binsPerTile);
  for (let lane = 0; lane < lanesPerTile; lane++)
    for (let at = 0, count = 0; at < binsPerTile; at++) {
      count += changes[lane * stride + at]!;
      bins[lane * binsPerTile + at] = Math.min(255, Math.round(16 * Math.log2(1 + count)));
    }
  return { bins, failed };
}

/** The operations of which a part lies in `[from, to]`, by where they begin. */
function* operationsIn({ order, start, end, blockEnds }: HistoryColumns, from: number, to: number) {
  const first = firstFrom(order, start, from);
  for (let block = 0; block * blockSize < first; block++) {
    if (blockEnds[block]! < from) continue;
    const stop = Math.min(first, (block + 1) * blockSize);
    for (let at = block * blockSize; at < stop; at++) if (end[order[at]!]! >= from) yield order[at]!;
  }
  for (let at = first; at < order.length && start[order[at]!]! <= to; at++) yield order[at]!;
}

/** The first position in `order` whose operation begins at `place` or later. */
function firstFrom(order: Int32Array, start: Float64Array, place: number): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[order[middle]!]! < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

function tileOperation(columns: HistoryColumns, i: number): TileOperation {
  const text = columns.statement(i);
  const label = showControls(text.length > longestLabel ? `${text.slice(0, longestLabel)}…` : text);
  return [i, columns.session[i]!, columns.start[i]!, columns.end[i]!, columns.flags[i]!, label];
}

/** The next operation that fits, by where operations begin; undefined: there is none. */
export function nextOperation(
  { order, start }: HistoryColumns,
  {
    from,
    backwards,
    mask,
  }: { readonly from: number | undefined; readonly backwards: boolean; readonly mask?: Mask },
): number | undefined {
  const step = backwards ? -1 : 1;
  let at = from === undefined ? (backwards ? order.length - 1 : 0) : positionOf(order, start, from) + step;
  for (; at >= 0 && at < order.length; at += step) {
    const operation = order[at]!;
    if (mask === undefined || mask[operation] === 1) return operation;
  }
  return undefined;
}

function positionOf(order: Int32Array, start: Float64Array, operation: number): number {
  let at = firstFrom(order, start, start[operation]!);
  while (at < order.length && order[at] !== operation) at++;
  return at;
}
