/** `isolde probe [URL]`: what each isolation level of a database really allows, next to what its vendor promises. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  findProbeCases,
  type ProbeCase,
  type ProbeProgress,
  type ProbeReport,
  probeCases,
  probeJson,
  probeOutcome,
  renderExplain,
  renderMarkdown,
  renderMatrix,
  runProbe,
} from '../probe/index.js';
import { openTarget } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { levelOf } from './flags.js';

interface ProbeFlags {
  readonly level?: readonly string[];
  readonly anomaly?: readonly string[];
  readonly explain?: string;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function probeCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('probe')
    .argument('[url]', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .description('show what each isolation level really allows, and where that breaks the vendor’s promise')
    .option('-l, --level <level>', 'only this level (may be repeated)', collect)
    .option('-a, --anomaly <anomaly>', 'only this anomaly or case (may be repeated)', collect)
    .option('--explain <anomaly>', 'show the interleaving, the results seen and the argument')
    .option('--json', 'print the report as JSON')
    .option('--markdown', 'print the matrix as Markdown')
    .addHelpText(
      'after',
      '\nExit code: 0 every promise kept, 1 a promise broken, 2 something undecided, 3 error.',
    )
    .action(async (url: string | undefined, flags: ProbeFlags) => exit(await probe(url, flags, context)));
}

async function probe(url: string | undefined, flags: ProbeFlags, context: CliContext): Promise<ExitCode> {
  const { anomaly = [], level = [], explain } = flags;
  const names = explain === undefined ? anomaly : [...anomaly, explain];
  const cases = names.length === 0 ? probeCases : [...new Set(names.flatMap(casesOf))];
  const levels = level.map(levelOf);
  const target = await openTarget(url ?? context.defaultTarget);
  try {
    const report = await runProbe(target, {
      cases,
      ...(levels.length > 0 && { levels }),
      signal: context.signal,
      onProgress: progress(context),
    });
    context.eraseLines(1);
    context.out(render(report, flags, context));
    if (report.failure !== undefined) context.err(`isolde: ${report.failure}`);
    const codes = { violation: exitCodes.found, unknown: exitCodes.undecided, kept: exitCodes.nothingFound };
    const code = codes[probeOutcome(report)];
    return report.failure !== undefined && code !== exitCodes.found ? exitCodes.error : code;
  } finally {
    await target.close();
  }
}

function render(report: ProbeReport, flags: ProbeFlags, context: CliContext): string {
  if (flags.json === true) return probeJson(report);
  if (flags.markdown === true) return renderMarkdown(report).trimEnd();
  const { colors, width } = context;
  return flags.explain === undefined
    ? renderMatrix(report, { colors })
    : renderExplain(report, { colors, width });
}

/** One line on the terminal, written over; nothing when standard error is a file. */
function progress(context: CliContext): (progress: ProbeProgress) => void {
  if (!context.errIsTerminal) return () => undefined;
  return ({ level, case: id, done, total }) => {
    if (done > 0) context.eraseLines(1);
    context.err(`${done + 1} of ${total}: ${id} at ${level}`);
  };
}

function casesOf(name: string): readonly ProbeCase[] {
  const found = findProbeCases(name);
  if (found.length > 0) return found;
  const known = [...new Set(probeCases.flatMap(({ id, anomaly }) => [anomaly, id]))];
  throw new IsoldeError('usage', `there is no anomaly "${name}"; there are ${known.join(', ')}`);
}
