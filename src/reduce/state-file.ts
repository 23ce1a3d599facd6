/**
 * What an interrupted reduction leaves behind: the best case so far, and every answer it has got, by content.
 *
 * A reduction is deterministic given its answers, so resuming needs nothing else: the same reduction runs again, takes
 * the answers it knows from here and asks the database only for the rest. The file is written beside itself and
 * renamed, so a kill at any moment leaves the old state or the new one, never half of one.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { parseCaseFile, printCaseFile } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { checkFormat, parseJson } from '../json.js';
import { type Candidate, candidateOf } from './candidate.js';
import type { Verdict } from './trial.js';

const format = 'isolde-reduction';
const version = 1;
const verdicts: readonly Verdict[] = ['same', 'another', 'none', 'infeasible', 'flaky'];

export interface ReductionState {
  /** What is being reduced and how: a state for anything else is of no use. */
  readonly start: string;
  readonly answers: ReadonlyMap<string, Verdict>;
  readonly best: Candidate;
}

/** The state in a file; undefined if there is no such file. */
export async function readState(file: string): Promise<ReductionState | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new IsoldeError('file-system', `cannot read ${file}: ${errorText(error)}`, { cause: error });
  }
  const root = parseJson(text, file);
  checkFormat(root, format, version);
  root.object(['format', 'version', 'start', 'answers', 'best']);
  const answers = root.at('answers');
  const known = new Map<string, Verdict>();
  for (const key of answers.members()) known.set(key, answers.at(key).oneOf(verdicts));
  root.at('best').members();
  const best = candidateOf(parseCaseFile(JSON.stringify(root.at('best').value), file));
  return { start: root.at('start').text(), answers: known, best };
}

/** Replaces the file by this state. */
export async function writeState(file: string, { start, answers, best }: ReductionState): Promise<void> {
  const text = JSON.stringify({
    format,
    version,
    start,
    answers: Object.fromEntries(answers),
    best: JSON.parse(printCaseFile(best)) as unknown,
  });
  const beside = `${file}.${process.pid}.new`;
  try {
    await writeFile(beside, text);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true });
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}
