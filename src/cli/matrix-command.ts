/** `isolde matrix`: cases over versions, settings and levels; which release brought a bug, and which fixed it. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import { escapeMarkdown } from '../markup.js';
import {
  type Affected,
  affectedBy,
  affectedTable,
  bisectMatrix,
  type Cell,
  inOrderOf,
  legend,
  matrixTable,
  namePlace,
  type Place,
  runMatrix,
  type Subject,
} from '../matrix/index.js';
import { splitVersion } from '../targets/index.js';
import { oneLine } from '../visible.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes, trustCaseHelp } from './context.js';
import { fetchHelp } from './fetch-versions.js';
import { levelOf } from './flags.js';
import { knownFolder, knownFolderHelp } from './known-command.js';
import { type MatrixRunFlags, readPlaces, withMatrix } from './matrix-run.js';
import { homesOf, readSubjects } from './matrix-subjects.js';
import { plainTable } from './plain-table.js';

interface MatrixFlags extends MatrixRunFlags {
  readonly targets?: readonly string[];
  readonly versions?: string;
  readonly settings?: readonly string[];
  readonly levels?: string;
  readonly bisect?: boolean;
  readonly known: string;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function matrixCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('matrix')
    .argument(
      '[what...]',
      'bugs of the store, known bugs (“known”: all of them), cases, folders (default: the store)',
    )
    .description(
      'run cases over versions, settings and levels: where each shows, first bad and first good version',
    )
    .option('-t, --targets <url...>', 'the databases (default: each case’s own engine, embedded or private)')
    .option(
      '--versions <list>',
      'of each target: 1.1.3,1.2.0 or 1.1..1.4 or all (that npm has) or local (that are here)',
    )
    .option(
      '--settings <setting>',
      'name=value,value (may be repeated), or all: those of the engine',
      collect,
    )
    .option('--levels <list>', 'isolation levels: RC,RR (default: each case’s own)')
    .option(
      '--bisect',
      'find first bad and first good version with few runs (default: over all versions npm has)',
    )
    .option('-n, --runs <count>', 'how often each cell is run', '3')
    .option('-j, --jobs <count>', 'databases that are open at once', '2')
    .option('--store <folder>', 'the store; results are kept in its matrix.jsonl', '.isolde')
    .option('--known <folder>', knownFolderHelp, knownFolder)
    .option('--fetch', fetchHelp)
    .option('--restart', 'run again what an earlier matrix has run')
    .option('--no-record', 'do not write the versions tried into stored bugs')
    .option('--trust-case', trustCaseHelp)
    .option('--markdown', 'print Markdown')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit code: 0 shows nowhere, 1 shows somewhere, 2 shows nowhere but some cells are missing, 3 error.\nCtrl-C stops and prints what there is; the same command goes on from there.',
    )
    .action(async (what: string[], flags: MatrixFlags) => exit(await matrix(what, flags, context)));
}

async function matrix(words: readonly string[], flags: MatrixFlags, context: CliContext): Promise<ExitCode> {
  const subjects = await readSubjects(words, flags, context);
  const levels = flags.levels?.split(',').map((text) => levelOf(text.trim()));
  const versions = flags.versions ?? (flags.bisect === true ? 'all' : undefined);
  const targets = flags.targets ?? homesOf(subjects, context);
  const places = await readPlaces(
    targets,
    { ...flags, ...(versions !== undefined && { versions }) },
    context,
  );
  const found = await withMatrix(subjects, flags, context, async (options) => {
    if (flags.bisect !== true) {
      const cells = await runMatrix({ subjects, places, ...(levels && { levels }) }, options);
      return { cells, whole: cells.length === subjects.length * places.length * (levels?.length ?? 1) };
    }
    const lines = linesOf(places);
    const searched = await bisectMatrix(
      { subjects, lines, ...(levels && { levels }), found: whereFound },
      options,
    );
    return {
      cells: inOrderOf(
        lines.flat(),
        searched.flatMap(({ cells }) => cells),
      ),
      whole: searched.every(({ stopped }) => stopped !== true),
    };
  });
  const affected = affectedBy(found.cells);
  tell(found.cells, affected, subjects, { flags, context });
  if (!found.whole) context.err('stopped: the same command goes on from here');
  if (found.cells.some(({ result }) => result.outcome === 'shows')) return exitCodes.found;
  const decided = found.cells.every(({ result }) => result.outcome === 'does-not-show');
  return found.whole && decided ? exitCodes.nothingFound : exitCodes.undecided;
}

/** Places that differ in their version alone, from the oldest. */
function linesOf(places: readonly Place[]): Place[][] {
  const lines = new Map<string, Place[]>();
  for (const place of places) {
    const rest = splitVersion(place.url)?.rest;
    if (rest === undefined)
      throw new IsoldeError('usage', `${place.url} names no version: --bisect needs several`);
    const key = `${place.engine}${rest}`;
    lines.set(key, [...(lines.get(key) ?? []), place]);
  }
  return [...lines.values()];
}

/** The number of the version on which a stored bug was found. */
function whereFound(subject: Subject, line: readonly Place[]): number | undefined {
  if (subject.kind !== 'bug') return undefined;
  const { name, version } = subject.bug.target;
  const at = line.findIndex((place) => place.engine === name && place.version === version);
  return at < 0 ? undefined : at;
}

interface Output {
  readonly flags: Pick<MatrixFlags, 'json' | 'markdown'>;
  readonly context: CliContext;
}

function tell(
  cells: readonly Cell[],
  affected: readonly Affected[],
  subjects: readonly Subject[],
  { flags, context }: Output,
): void {
  if (flags.json === true) {
    const listed = subjects.map(({ id, kind, title }) => ({ id, kind, title }));
    context.out(JSON.stringify({ subjects: listed, cells, affected }, null, 2));
    return;
  }
  const print = flags.markdown === true ? markdownTable : plainTable;
  const foreign = foreignIn(cells);
  const shown =
    foreign.size === subjects.length ? cells : cells.filter(({ subject }) => !foreign.has(subject));
  context.out(print(matrixTable(shown)));
  context.out(`${flags.markdown === true ? '\n' : ''}${legend}`);
  if (affected.some(({ tried }) => tried > 1)) context.out(`\n${print(affectedTable(affected))}`);
  if (shown.length < cells.length)
    context.err(
      `${counted(foreign.size, 'case')} cannot run anywhere here and ${foreign.size === 1 ? 'is' : 'are'} left out`,
    );
  const reasons = reasonsOf(shown);
  if (reasons.length > 0) context.out(`\n${print([['not decided', 'why'], ...reasons])}`);
}

/** Why cells are missing: each reason once, with what it holds for. */
function reasonsOf(cells: readonly Cell[]): string[][] {
  const found = new Map<string, { readonly subjects: Set<string>; readonly places: Set<string> }>();
  for (const { subject, place, level, result } of cells) {
    if (result.outcome === 'shows' || result.outcome === 'does-not-show') continue;
    const held = found.get(result.why) ?? { subjects: new Set(), places: new Set() };
    held.subjects.add(subject);
    held.places.add(`${namePlace(place)}${level === undefined ? '' : `, ${level}`}`);
    found.set(result.why, held);
  }
  const some = (names: ReadonlySet<string>, joint: string, most: number) =>
    [...names].slice(0, most).join(joint) + (names.size > most ? ` and ${names.size - most} more` : '');
  return [...found].map(([why, { subjects, places }]) => [
    `${some(subjects, ', ', 2)} on ${some(places, '; ', 3)}`,
    oneLine(why),
  ]);
}

/** Cases that cannot run at any of the places, such as those of other engines. */
function foreignIn(cells: readonly Cell[]): ReadonlySet<string> {
  const foreign = new Set(cells.map(({ subject }) => subject));
  for (const { subject, result } of cells) if (result.outcome !== 'cannot-run') foreign.delete(subject);
  return foreign;
}

function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const lines = [head, head.map(() => '---'), ...rest.map((row) => row.map(escapeMarkdown))];
  return lines.map((row) => `| ${row.join(' | ')} |`).join('\n');
}
