/** One cell of a matrix: one case on one version of an engine, with certain settings, at one level. */
import type { Level } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';
import type { VersionTried } from '../report/index.js';

/** `undecided`: it ran, and nobody can say whether the bug is there. */
export type CellOutcome = 'shows' | 'does-not-show' | 'undecided' | 'cannot-run';

export interface CellResult {
  readonly outcome: CellOutcome;
  readonly why: string;
  /** How many of the runs show it. */
  readonly shown: number;
  readonly runs: number;
  /** How long it took; absent: it was taken over from an earlier run. */
  readonly seconds?: number;
  /** What it ran on; absent: nothing could be opened. */
  readonly target?: TargetStamp;
  /** What it showed, as findings are compared (`findingKey`). */
  readonly behaviours?: readonly string[];
}

/** A place of a matrix: what a URL opens. */
export interface Place {
  readonly url: string;
  readonly engine: string;
  /** As the URL names it; absent: the one that is installed. */
  readonly version?: string;
  /** The rest of the URL, without passwords: `mode=mvcc`. */
  readonly settings: string;
}

export interface Cell {
  /** The id of the case. */
  readonly subject: string;
  readonly place: Place;
  /** Absent: the case's own. */
  readonly level?: Level;
  readonly result: CellResult;
}

/** What a cell of a stored bug adds to the bug; undefined: nothing, for it did not run, or at another level, which is another question. */
export function versionTried({ level, result }: Omit<Cell, 'place'>, at: Date): VersionTried | undefined {
  const { target, outcome, shown, runs } = result;
  if (level !== undefined || target === undefined || runs === 0) return undefined;
  const meaning = {
    shows: 'alive',
    'does-not-show': 'fixed',
    undecided: 'changed',
    'cannot-run': 'not-run',
  } as const;
  return { target, outcome: meaning[outcome], shown, runs, at: at.toISOString() };
}

/** `duckdb 1.1.3, mode=mvcc`. */
export function namePlace({ engine, version, settings }: Place): string {
  return `${engine}${version === undefined ? '' : ` ${version}`}${settings === '' ? '' : `, ${settings}`}`;
}
