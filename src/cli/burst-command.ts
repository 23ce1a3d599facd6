/** `isolde burst [URL]`: one short transaction thousands of times from many sessions, judged by what must be true at the end. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  type BurstFinding,
  type BurstForm,
  type BurstProgram,
  type BurstRate,
  type BurstResult,
  burstForms,
  burstLine,
  burstPrograms,
  keepBurst,
  noComparison,
  ratesOf,
  runBursts,
} from '../hunt/index.js';
import { vendorContractAt } from '../judge/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { usualStore } from './existing-store.js';
import { levelOf, positive, timeOf } from './flags.js';

interface BurstFlags {
  readonly level?: string;
  readonly program?: readonly string[];
  readonly form?: readonly string[];
  readonly without?: readonly string[];
  readonly store: string;
  readonly for?: string;
  readonly sessions: string;
  readonly repeats: string;
  readonly runs: string;
  readonly control?: string;
  readonly json?: boolean;
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function burstCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  const names = burstPrograms.map(({ name }) => name).join(', ');
  program
    .command('burst')
    .argument('[url]', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .description(
      'look for races inside statements: short transactions, thousands of times from many sessions',
    )
    .option('-l, --level <level>', 'the isolation level (default: the database’s own)')
    .option('-p, --program <name>', `only this program (may be repeated): ${names}`, collect)
    .option('--form <form>', `only in this form (may be repeated): ${burstForms.join(', ')}`, collect)
    .option(
      '--without <part>',
      'leave these statements out, as a report names them (may be repeated)',
      collect,
    )
    .option('--for <time>', 'go on with new bursts for so long, such as 2m (default: one of each program)')
    .option('--sessions <count>', 'sessions of a burst', '8')
    .option('--repeats <count>', 'transactions of each session', '400')
    .option('--runs <count>', 'runs that confirm what one burst broke, and of each control', '10')
    .option('--control <url>', 'another database or version to compare with')
    .option('--store <folder>', 'where what is broken is kept', usualStore)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit code: 0 nothing broken, 1 broken, 2 broken once and never again, 3 error.')
    .action(async (url: string | undefined, flags: BurstFlags) => exit(await burst(url, flags, context)));
}

async function burst(url: string | undefined, flags: BurstFlags, context: CliContext): Promise<ExitCode> {
  const programs = (flags.program ?? burstPrograms.map(({ name }) => name)).map(programNamed);
  const forms = flags.form?.map(formNamed);
  const without = flags.without?.map((part) => partNamed(part, programs));
  const size = {
    sessions: positive(flags.sessions, '--sessions'),
    repeats: positive(flags.repeats, '--repeats'),
    runs: positive(flags.runs, '--runs'),
  };
  const forMs = flags.for === undefined ? undefined : timeOf(flags.for, '--for');
  const asked = flags.level === undefined ? undefined : levelOf(flags.level);
  const target = await openTarget(url ?? context.defaultTarget);
  try {
    const level = asked ?? target.defaultLevel;
    const control = flags.control === undefined ? undefined : await openTarget(flags.control);
    try {
      const start = Date.now();
      const result = await runBursts(target, {
        ...size,
        level,
        contract: vendorContractAt(target, level),
        programs,
        forms,
        without,
        control,
        until: forMs === undefined ? undefined : () => Date.now() - start >= forMs,
        signal: context.signal,
      });
      const kept = await keep(result, flags.store, target);
      if (flags.json === true) context.out(JSON.stringify({ ...result, ...kept }, null, 2));
      else
        context.out([render(result), ...(kept === undefined ? [] : [`  kept: ${kept.folder}`])].join('\n'));
      return codeOf(result);
    } finally {
      await control?.close();
    }
  } finally {
    await target.close();
  }
}

/** A break that no second run shows proves nothing, and is not kept. */
async function keep({ finding }: BurstResult, store: string, { dialect }: Target) {
  if (finding === undefined || finding.verdict === 'once') return undefined;
  const { id, folder } = await keepBurst(store, finding, { at: new Date().toISOString(), dialect });
  return { id, folder };
}

function formNamed(name: string): BurstForm {
  const found = burstForms.find((each) => each === name);
  if (found !== undefined) return found;
  throw new IsoldeError('usage', `"${name}" is no form of a burst; there are ${burstForms.join(', ')}`);
}

function programNamed(name: string): BurstProgram {
  const found = burstPrograms.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = burstPrograms.map((each) => each.name).join(', ');
  throw new IsoldeError('usage', `no burst is called "${name}"; there are ${names}`);
}

function partNamed(name: string, programs: readonly BurstProgram[]): string {
  const parts = [...new Set(programs.flatMap(({ parts: own = {} }) => Object.keys(own)))];
  if (parts.includes(name)) return name;
  throw new IsoldeError('usage', `"${name}" is no part that may be left out; there are ${parts.join(', ')}`);
}

function codeOf({ finding, bursts, undecided }: BurstResult): ExitCode {
  if (finding !== undefined) return finding.verdict === 'once' ? exitCodes.undecided : exitCodes.found;
  const judged = bursts - Object.values(undecided).reduce((sum, count) => sum + count, 0);
  return judged > 0 ? exitCodes.nothingFound : exitCodes.undecided;
}

function render({ bursts, transactions, notAsked, lacking, undecided, finding }: BurstResult): string {
  const lines = [`${counted(bursts, 'burst')}, ${counted(transactions, 'transaction')}`];
  if (notAsked.length > 0) lines.push(`not promised at this level: ${notAsked.join(', ')}`);
  if (lacking.length > 0) lines.push(`not in this database: ${lacking.join(', ')}`);
  for (const [why, count] of Object.entries(undecided)) lines.push(`${count} not judged: ${why}`);
  lines.push(...(finding === undefined ? ['nothing broken'] : describeBurst(finding)));
  return lines.join('\n');
}

const verdicts: Readonly<Record<BurstFinding['verdict'], string>> = {
  confirmed: 'broken',
  once: 'broken once, and in no run after that: not decided',
  'not isolation': 'broken, but not isolation: one session alone breaks it, too',
};

/** A broken burst, for people. */
export function describeBurst(finding: BurstFinding): readonly string[] {
  const { program, form, fact, contract, clause, verdict } = finding;
  return [
    `${program} (${form}): ${verdicts[verdict]}`,
    `  must hold: ${fact} (${contract}, ${clause})`,
    ...ratesOf(finding).map(([what, rate]) => `  ${what}: ${rateText(rate)}`),
    ...(finding.uncompared === undefined ? [] : [`  ${noComparison(finding.uncompared)}`]),
    `  again: ${burstLine(finding)}`,
  ];
}

export function rateText({ runs, broken, outcomes }: BurstRate): string {
  const each = outcomes.map(({ text, count }) => `${count} × ${text}`).join(', ');
  return `${broken} of ${runs} runs broken (${each})`;
}
