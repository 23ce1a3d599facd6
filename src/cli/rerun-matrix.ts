/** `isolde bugs rerun --targets …`: stored bugs as a regression suite over several databases and versions. */
import {
  bugSubject,
  type Cell,
  type CellOutcome,
  legend,
  matrixTable,
  namePlace,
  runMatrix,
} from '../matrix/index.js';
import type { Bug, RerunOutcome } from '../report/index.js';
import { printJunit } from '../store/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { writeText } from './flags.js';
import { type MatrixRunFlags, readPlaces, withMatrix } from './matrix-run.js';
import { plainTable } from './plain-table.js';

export interface RerunMatrixFlags extends Omit<MatrixRunFlags, 'restart'> {
  readonly targets?: readonly string[];
  readonly versions?: string;
  readonly settings?: readonly string[];
  readonly junit?: string;
  readonly json?: boolean;
}

const meanings: Readonly<Record<CellOutcome, RerunOutcome>> = {
  shows: 'alive',
  'does-not-show': 'fixed',
  undecided: 'changed',
  'cannot-run': 'not-run',
};

/** `problems`: bugs of the store that could not be read. */
export async function rerunOver(
  bugs: readonly Bug[],
  problems: number,
  flags: RerunMatrixFlags,
  context: CliContext,
): Promise<ExitCode> {
  const places = await readPlaces(flags.targets ?? [], flags, context);
  const subjects = bugs.map(bugSubject);
  // A regression suite asks what is so today.
  const cells = await withMatrix(subjects, { ...flags, restart: true }, context, (options) =>
    runMatrix({ subjects, places }, options),
  );
  const byId = new Map(bugs.map((bug) => [bug.id, bug]));
  if (flags.json === true)
    context.out(
      JSON.stringify(
        cells.map((cell) => entryOf(cell, byId)),
        null,
        2,
      ),
    );
  else context.out(`${plainTable(matrixTable(cells))}\n${legend}`);
  if (flags.junit !== undefined) await writeText(flags.junit, junitOf(cells, byId));
  const outcomes = new Set(cells.map(({ result }) => result.outcome));
  if (outcomes.has('shows')) return exitCodes.found;
  const whole = problems === 0 && cells.length === bugs.length * places.length;
  return whole && !outcomes.has('undecided') && !outcomes.has('cannot-run')
    ? exitCodes.nothingFound
    : exitCodes.undecided;
}

function entryOf({ subject, place, result }: Cell, bugs: ReadonlyMap<string, Bug>): object {
  const { outcome, why, shown, runs, seconds, target } = result;
  return {
    id: subject,
    title: bugs.get(subject)?.title,
    target: target === undefined ? namePlace(place) : `${target.name} ${target.version}`,
    url: place.url,
    outcome: meanings[outcome],
    why,
    shown,
    runs,
    seconds,
  };
}

function junitOf(cells: readonly Cell[], bugs: ReadonlyMap<string, Bug>): string {
  const reports = cells.map(({ subject, place, result }) => {
    const { outcome, why, shown, runs, seconds = 0 } = result;
    const bug = bugs.get(subject)!;
    return {
      bug: { ...bug, title: `${bug.title}, on ${namePlace(place)}` },
      result: { outcome: meanings[outcome], why, shown, runs },
      seconds,
    };
  });
  return printJunit('isolde bugs rerun --targets', reports);
}
