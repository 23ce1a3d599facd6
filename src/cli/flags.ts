/** What several commands read from their arguments, and what they write. */
import { appendFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type OracleName, oracles } from '../check/index.js';
import { type Contract, contracts, findContract, type Level, parseLevel } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import type { Asked } from '../reduce/index.js';
import { type CliContext, trustCaseHelp } from './context.js';

export function positive(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new IsoldeError('usage', `${flag} takes a whole number above 0, not "${text}"`);
}

/** Milliseconds, from a text such as 90s, 10m or 2h. */
export function durationOf(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)?$/.exec(text.trim());
  const unit = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 }[match?.[2] ?? 's'];
  if (match !== null && unit !== undefined) return Number(match[1]) * unit;
  throw new IsoldeError('usage', `${flag} takes a time such as 90s, 10m or 2h, not "${text}"`);
}

/** How long to go on: a duration above 0. */
export function timeOf(text: string, flag: string): number {
  const ms = durationOf(text, flag);
  if (ms > 0) return ms;
  throw new IsoldeError('usage', `${flag} takes a time above 0, not "${text}"`);
}

export function levelOf(text: string): Level {
  const level = parseLevel(text);
  if (level !== undefined) return level;
  throw new IsoldeError(
    'usage',
    `"${text}" is no isolation level; say read uncommitted, read committed, repeatable read, snapshot or serializable (RU, RC, RR, SI, SER)`,
  );
}

export function contractNamed(name: string): Contract {
  const contract = findContract(name.replace(/^vendor:/, ''));
  if (contract !== undefined) return contract;
  const ids = contracts.map(({ id }) => id).join(', ');
  throw new IsoldeError('usage', `no contract is called "${name}"; there are ${ids}`);
}

/** Oracles that judge runs, for the help of `--oracle`. */
export const runOracles: readonly OracleName[] = oracles.flatMap(({ name, judge }) =>
  judge === undefined ? [] : [name],
);

export function oracleOf(name: string): OracleName {
  if (runOracles.includes(name)) return name;
  throw new IsoldeError(
    'usage',
    `no oracle that judges runs is called "${name}"; there are ${runOracles.join(', ')}`,
  );
}

/** Says what left a verdict open. */
export function explainUndecided(reasons: readonly string[], context: CliContext): void {
  for (const reason of reasons) context.err(`not decided: ${reason}`);
}

export async function writeText(file: string, text: string): Promise<void> {
  await writeWith(writeFile, file, text);
}

/** Adds to a file, which need not be there. */
export async function appendText(file: string, text: string): Promise<void> {
  await writeWith(appendFile, file, text);
}

async function writeWith(
  write: (file: string, text: string) => Promise<void>,
  file: string,
  text: string,
): Promise<void> {
  try {
    await write(file, text);
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}

/** What is asked of a case that is run and judged. */
export interface JudgedCaseFlags {
  readonly target?: string;
  readonly level?: string;
  readonly contract?: string;
  readonly oracle?: string;
  readonly trustCase?: boolean;
}

/** The options of every command that runs a case from a file and judges it. */
export function judgedCaseOptions(command: Command, usualOracle: string): Command {
  return command
    .option('-t, --target <url>', 'the database (default: ISOLDE_TARGET, or duckdb:)')
    .option('-l, --level <level>', 'isolation level where the file names none')
    .option('-c, --contract <contract>', 'what is promised (default: the vendor’s contract at that level)')
    .option('--oracle <name>', `who judges: ${runOracles.join(', ')} (default: ${usualOracle})`)
    .option('--trust-case', trustCaseHelp);
}

/** `trust`: the file's SQL may also run where the login may write outside scratch namespaces. */
export type AskedOfCase = Asked & { readonly trust: boolean };

export function askedOf(flags: JudgedCaseFlags): AskedOfCase {
  return {
    trust: flags.trustCase === true,
    ...(flags.level !== undefined && { level: levelOf(flags.level) }),
    ...(flags.contract !== undefined && { contract: contractNamed(flags.contract) }),
    ...(flags.oracle !== undefined && { oracle: oracleOf(flags.oracle) }),
  };
}

export interface LimitFlags {
  readonly statementTimeout: string;
  readonly lockTimeout: string;
}

export function limitOptions(command: Command): Command {
  return command
    .option('--statement-timeout <ms>', 'limit for one statement', '10000')
    .option('--lock-timeout <ms>', 'limit for waiting on a lock', '5000');
}

export function limitsOf(flags: LimitFlags): {
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
} {
  return {
    statementTimeoutMs: positive(flags.statementTimeout, '--statement-timeout'),
    lockTimeoutMs: positive(flags.lockTimeout, '--lock-timeout'),
  };
}
