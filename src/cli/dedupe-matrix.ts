/** `isolde dedupe A B --versions … --settings …`: one bug or two, by the witness matrix. */
import { IsoldeError } from '../errors.js';
import { compareSubjects, legend, matrixTable, runMatrix, type Subject } from '../matrix/index.js';
import { oneLine } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { type MatrixRunFlags, readPlaces, withMatrix } from './matrix-run.js';
import { homesOf, readSubjects } from './matrix-subjects.js';
import { plainTable } from './plain-table.js';

export interface WitnessFlags extends Omit<MatrixRunFlags, 'record'> {
  readonly target?: string;
  readonly targets?: readonly string[];
  readonly versions?: string;
  readonly settings?: readonly string[];
  readonly known: string;
  readonly json?: boolean;
}

/** Whether the flags ask for more than one place. */
export function asksForMatrix({ targets, versions, settings }: WitnessFlags): boolean {
  return targets !== undefined || versions !== undefined || settings !== undefined;
}

export async function compareByMatrix(
  names: readonly [string, string],
  flags: WitnessFlags,
  context: CliContext,
): Promise<ExitCode> {
  const subjects: Subject[] = [];
  for (const name of names) {
    const [subject, ...more] = await readSubjects([name], flags, context);
    if (subject === undefined || more.length > 0)
      throw new IsoldeError('usage', `${name} is ${more.length + 1} cases: two are compared`);
    subjects.push(subject);
  }
  const [one, other] = subjects as [Subject, Subject];
  if (one.id === other.id) throw new IsoldeError('usage', `both are ${one.id}`);
  const usual = flags.target === undefined ? homesOf(subjects, context) : [flags.target];
  const places = await readPlaces(flags.targets ?? usual, flags, context);
  const cells = await withMatrix(subjects, { ...flags, record: false }, context, (options) =>
    runMatrix({ subjects, places }, options),
  );
  const found = compareSubjects(cells, one.id, other.id);
  if (flags.json === true) context.out(JSON.stringify({ ...found, cells }, null, 2));
  else {
    const words = { one: 'one bug', two: 'two bugs', undecided: 'undecided' }[found.verdict];
    context.out(`${plainTable(matrixTable(cells))}\n${legend}\n`);
    context.out(`${context.colors.bold(words)}\n  ${oneLine(found.why)}`);
  }
  return { two: exitCodes.nothingFound, one: exitCodes.found, undecided: exitCodes.undecided }[found.verdict];
}
