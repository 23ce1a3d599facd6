/**
 * Runs the cells of a matrix, several places at once. A place is opened once for all its cells; it is opened again when a case
 * took it away. What was run before (`taken`) is not run again.
 */
import type { BadInterval, Probe } from '../affected-versions.js';
import type { Level } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { Database } from '../judge/index.js';
import { inOwnProcess, openTarget, type Target } from '../targets/index.js';
import { bisectVersions } from './bisect.js';
import type { Cell, CellResult, Place } from './cell.js';
import { digestOf, mayAbort, runSubject, type Subject } from './subject.js';

export interface MatrixOptions {
  /** How often a cell is run; default 3. */
  readonly runs?: number;
  /** Places that are open at once; default 1. */
  readonly jobs?: number;
  readonly trust?: boolean;
  readonly signal?: AbortSignal;
  /** Results of an earlier run, by `cellKey`. */
  readonly taken?: ReadonlyMap<string, CellResult>;
  readonly onCell?: (cell: Cell, key: string, taken: boolean) => void;
  /** Called before a place is opened: brings its version here. */
  readonly prepare?: (url: string) => Promise<unknown>;
  /** Default: `openTarget`. */
  readonly open?: (url: string) => Promise<Target>;
}

export interface CellRequest {
  readonly subject: Subject;
  readonly place: Place;
  readonly level?: Level | undefined;
}

/** Every subject at every place and level. */
export async function runMatrix(
  axes: {
    readonly subjects: readonly Subject[];
    readonly places: readonly Place[];
    /** Undefined: the case's own. */
    readonly levels?: readonly (Level | undefined)[];
  },
  options: MatrixOptions = {},
): Promise<Cell[]> {
  const { subjects, places, levels = [undefined] } = axes;
  const requests = places.flatMap((place) =>
    subjects.flatMap((subject) => levels.map((level): CellRequest => ({ subject, place, level }))),
  );
  return runCells(requests, options);
}

/** What identifies a cell's result: the case and its question, the place, the level, how often. */
export function cellKey({ subject, place, level }: CellRequest, runs: number): string {
  return JSON.stringify([digestOf(subject), place.url, level ?? '', runs]);
}

/** Runs these cells; the result is in the order of the requests. Cells that were not reached when it was stopped are left out. */
export async function runCells(requests: readonly CellRequest[], options: MatrixOptions): Promise<Cell[]> {
  const { runs = 3, jobs = 1, signal, taken, onCell = () => undefined } = options;
  const cells = new Map<CellRequest, Cell>();
  const finish = (request: CellRequest, result: CellResult, wasTaken: boolean) => {
    const { subject, place, level } = request;
    const cell: Cell = { subject: subject.id, place, ...(level !== undefined && { level }), result };
    cells.set(request, cell);
    onCell(cell, cellKey(request, runs), wasTaken);
  };
  const open = new Map<string, CellRequest[]>();
  for (const request of requests) {
    const known = taken?.get(cellKey(request, runs));
    if (known !== undefined) finish(request, known, true);
    else open.set(request.place.url, [...(open.get(request.place.url) ?? []), request]);
  }
  const queue = [...open.values()];
  const work = async () => {
    for (let group = queue.shift(); group !== undefined && signal?.aborted !== true; group = queue.shift())
      await runPlace(group, options, (request, result) => finish(request, result, false));
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(jobs, queue.length)) }, work));
  return requests.flatMap((request) => cells.get(request) ?? []);
}

function isStopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** All cells of one place. */
async function runPlace(
  requests: readonly CellRequest[],
  options: MatrixOptions,
  finish: (request: CellRequest, result: CellResult) => void,
): Promise<void> {
  const { runs = 3, signal, trust = false, prepare, open = openTarget } = options;
  const { url } = requests[0]!.place;
  const safe = requests.some(({ subject }) => mayAbort(subject)) ? (inOwnProcess(url) ?? url) : url;
  let database: Database | undefined;
  const left = [...requests];
  try {
    await prepare?.(url);
    for (let request = left[0]; request !== undefined; request = left[0]) {
      if (isStopped(signal)) return;
      database ??= await Database.open({ open: () => open(safe), ...(signal && { signal }) });
      const { target } = database;
      const place = database;
      const observe = (asked: Parameters<Database['observe']>[0]) => place.observe(asked, 0);
      const started = performance.now();
      const ran = await runSubject(request.subject, {
        target,
        observe,
        runs,
        level: request.level,
        signal,
        trust,
      });
      if (isStopped(signal)) return;
      const result = { ...ran, seconds: (performance.now() - started) / 1000 };
      finish(request, result);
      left.shift();
      // A stored bug runs on this very target, and may have ended it: the next case gets a server that answers.
      if (request.subject.kind === 'bug' && (mayAbort(request.subject) || result.outcome === 'undecided')) {
        await database.close().catch(() => undefined);
        database = undefined;
      }
    }
  } catch (error) {
    if (!(error instanceof IsoldeError)) throw error;
    const why = errorText(error).split('\n')[0]!;
    if (isStopped(signal)) return;
    for (const request of left) finish(request, { outcome: 'cannot-run', why, shown: 0, runs: 0 });
  } finally {
    await database?.close().catch(() => undefined);
  }
}

export interface Bisected {
  readonly subject: Subject;
  readonly level?: Level | undefined;
  /** The places that were searched, from the oldest version. */
  readonly places: readonly Place[];
  readonly cells: readonly Cell[];
  /** By number in `places`; undefined: no version shows it. */
  readonly interval?: BadInterval;
  /** It was stopped before the search ended. */
  readonly stopped?: true;
}

/** What a cell says about a version. */
export function probeOf({ outcome }: CellResult): Probe {
  return outcome === 'shows' ? 'bad' : outcome === 'does-not-show' ? 'good' : 'unknown';
}

/**
 * Finds the first bad and first good version of each subject. All searches go on together: what they ask for next is run as one
 * matrix, so that a version that several ask for is opened once.
 */
export async function bisectMatrix(
  axes: {
    readonly subjects: readonly Subject[];
    /** One list a combination of target and settings, from the oldest version. */
    readonly lines: readonly (readonly Place[])[];
    readonly levels?: readonly (Level | undefined)[];
    /** The number of the version where a subject was found. */
    readonly found?: (subject: Subject, line: readonly Place[]) => number | undefined;
  },
  options: MatrixOptions = {},
): Promise<Bisected[]> {
  const { subjects, lines, levels = [undefined], found } = axes;
  const searches = lines.flatMap((places) =>
    subjects.flatMap((subject) =>
      levels.map((level) => {
        const search = bisectVersions(places.length, found?.(subject, places));
        return { subject, level, places, search, step: search.next(), cells: [] as Cell[] };
      }),
    ),
  );
  for (;;) {
    const open = searches.filter(({ step }) => step.done !== true);
    if (open.length === 0 || options.signal?.aborted === true) break;
    const requests = open.map(({ subject, level, places, step }) => ({
      subject,
      level,
      place: places[step.value as number]!,
    }));
    const cells = await runCells(requests, options);
    if (cells.length < requests.length) break;
    for (const [i, each] of open.entries()) {
      each.cells.push(cells[i]!);
      each.step = each.search.next(probeOf(cells[i]!.result));
    }
  }
  return searches.map(({ subject, level, places, cells, step }) => ({
    subject,
    level,
    places,
    cells,
    ...(step.done !== true ? { stopped: true } : step.value !== undefined && { interval: step.value }),
  }));
}
