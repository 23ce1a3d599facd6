/** `isolde fleet matrix`: what `isolde matrix` runs on one machine, a job a cell. */
import { type Command, Option } from 'commander';
import { printCaseFile } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { type CellSubject, matrixJobs } from '../fleet/index.js';
import type { Subject } from '../matrix/index.js';
import { openBugStore } from '../store/index.js';
import { counted } from '../words.js';
import type { CliContext, ExitCode } from './context.js';
import { levelOf, positive } from './flags.js';
import { type DbFlags, fleetUrl } from './fleet-database.js';
import { resultsHelp, submit } from './fleet-submit.js';
import { knownFolder, knownFolderHelp } from './known-command.js';
import { readPlaces } from './matrix-run.js';
import { homesOf, readSubjects } from './matrix-subjects.js';

interface MatrixFlags extends DbFlags {
  readonly targets?: readonly string[];
  readonly versions?: string;
  readonly settings?: readonly string[];
  readonly level?: readonly string[];
  readonly known: string;
  readonly runs: string;
  readonly wait?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function addMatrix(
  add: (name: string, description: string) => Command,
  context: CliContext,
  exit: (code: ExitCode) => void,
): void {
  add('matrix', 'submit cases to be run on several databases: one job a case, database and level')
    .argument(
      '[what...]',
      'bugs of the shared store, known bugs (“known”: all of them), cases, folders (default: the shared store)',
    )
    .option('-t, --targets <urls...>', 'the databases (default: each case’s own engine, embedded or private)')
    .option(
      '--versions <list>',
      'of each target: 1.1.3,1.2.0 or 1.1..1.4 or all (that npm has) or local (that are here)',
    )
    .option(
      '--settings <setting>',
      'name=value,value (may be repeated), or all: those of the engine',
      collect,
    )
    .option('-l, --level <level>', 'isolation level (may be repeated; default: the case’s own)', collect)
    .option('-n, --runs <count>', 'runs of each case; one that shows it is enough', '3')
    .option('--known <folder>', knownFolderHelp, knownFolder)
    .addOption(new Option('--wait', 'wait for the results and print them'))
    .option('--json', 'print JSON')
    .addHelpText('after', resultsHelp)
    .action(async (what: string[], flags: MatrixFlags) => exit(await submitMatrix(what, flags, context)));
}

async function submitMatrix(
  words: readonly string[],
  flags: MatrixFlags,
  context: CliContext,
): Promise<ExitCode> {
  const store = await fleetUrl(flags, context);
  const subjects = await readSubjects(words, { store, known: flags.known }, context);
  await requireShared(subjects, store);
  const places = await readPlaces(flags.targets ?? homesOf(subjects, context), flags, context);
  const jobs = matrixJobs({
    subjects: subjects.map(sent),
    targets: places.map(({ url }) => url),
    levels: (flags.level ?? []).map(levelOf),
    runs: positive(flags.runs, '--runs'),
  });
  const title = `matrix ${counted(subjects.length, 'case')} on ${counted(places.length, 'database')}`;
  return submit('matrix', title, jobs, { flags, context });
}

/** Workers know the shared store alone. */
async function requireShared(subjects: readonly Subject[], place: string): Promise<void> {
  const bugs = subjects.filter(({ kind }) => kind === 'bug');
  if (bugs.length === 0) return;
  const store = await openBugStore(place);
  try {
    const shared = new Set((await store.list()).bugs.map(({ id }) => id));
    const missing = bugs.find(({ id }) => !shared.has(id));
    if (missing === undefined) return;
    throw new IsoldeError(
      'usage',
      `${missing.id} is not in the store of the fleet: isolde bugs export it, and isolde bugs import it there`,
    );
  } finally {
    await store.close();
  }
}

function sent(subject: Subject): CellSubject {
  if (subject.kind === 'bug') return { bug: subject.id };
  const name = subject.id.replaceAll(/[^\w.@+ -]/g, '_').replace(/^\./, '_');
  if (subject.kind === 'case')
    return { file: `${name.slice(-180)}.case.json`, text: printCaseFile(subject.case) };
  const { text } = subject.known.case;
  if (text === undefined) throw new IsoldeError('usage', `${subject.id} has no script that could be sent`);
  return { file: `${name.slice(-180)}.sql`, text };
}
