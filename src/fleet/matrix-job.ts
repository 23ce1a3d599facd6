/**
 * A cell of a matrix as a job: one case, somebody else's file or a bug of the shared store, on one database at one level. What came of a
 * bug is written down with it, in the transaction that ends the job, so that it stands there once however often the job ran.
 */
import { IsoldeError } from '../errors.js';
import {
  bugSubject,
  type Cell,
  type CellOutcome,
  type CellResult,
  fileSubject,
  placesOf,
  runMatrix,
  type Subject,
  versionTried,
} from '../matrix/index.js';
import { hideSecrets } from '../secrets.js';
import { type SharedDatabase, SharedStore } from '../store/index.js';
import type { Target } from '../targets/index.js';
import type { CellSubject, MatrixJob } from './job.js';
import type { JobOutcome } from './queue.js';

/** What came of a cell. */
export interface CellAnswer extends Pick<CellResult, 'outcome' | 'why' | 'shown' | 'runs'> {
  /** The name of the case. */
  readonly subject: string;
  readonly target: string;
  /** The level that was asked for; absent: the case's own. */
  readonly level?: Cell['level'];
  /** What it ran on; absent: nothing could be opened. */
  readonly version?: string;
}

export const cellOutcomes: readonly CellOutcome[] = ['shows', 'does-not-show', 'undecided', 'cannot-run'];

export interface CellPlace {
  readonly open: () => Promise<Target>;
  readonly signal: AbortSignal;
  /** Connects to where the fleet meets; used for no longer than it takes to read a bug. */
  readonly database: () => Promise<SharedDatabase>;
}

export async function runMatrixJob(job: MatrixJob, place: CellPlace): Promise<JobOutcome> {
  const { open, signal } = place;
  const { target, level, runs } = job;
  const subject = await readSubject(job.subject, place);
  const [cell] = await runMatrix(
    { subjects: [subject], places: await placeOf(target), levels: [level] },
    { runs, signal, open },
  );
  // Stopped before it was run: the job goes to somebody else.
  if (cell === undefined) throw new IsoldeError('target', 'stopped before it was run');
  const { outcome, why, shown, target: stamp } = cell.result;
  const answer: CellAnswer = {
    ...{ subject: subject.id, target, outcome, why, shown, runs: cell.result.runs },
    ...(level !== undefined && { level }),
    ...(stamp?.version !== undefined && { version: stamp.version }),
  };
  const tried = subject.kind === 'bug' ? versionTried(cell, new Date()) : undefined;
  return {
    result: JSON.stringify(answer),
    bugs: [],
    ...(tried !== undefined && { tried: { bug: subject.id, run: tried } }),
    line: `${subject.id} on ${hideSecrets(target)}${level === undefined ? '' : `, ${level}`}: ${outcome}`,
  };
}

async function readSubject(subject: CellSubject, { database }: CellPlace): Promise<Subject> {
  if (!('bug' in subject)) return fileSubject(subject.text, subject.file);
  const shared = await database();
  try {
    return bugSubject(await new SharedStore(shared).get(subject.bug));
  } finally {
    await shared.close();
  }
}

/** A URL as a place; it names its version or has none, so nobody is asked for others. */
function placeOf(url: string): ReturnType<typeof placesOf> {
  const none = async () => [];
  return placesOf({ targets: [url], published: none, local: none });
}

/** Answers as the cells of a matrix, as which they are shown. */
export async function cellsOf(answers: readonly CellAnswer[]): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const { subject, target, level, outcome, why, shown, runs } of answers) {
    const [place] = await placeOf(target);
    cells.push({
      subject,
      place: place!,
      ...(level !== undefined && { level }),
      result: { outcome, why, shown, runs },
    });
  }
  return cells;
}
