/** What several commands read from their arguments, and what they write. */
import { writeFile } from 'node:fs/promises';
import { type OracleName, oracles } from '../check/index.js';
import { type Contract, contracts, findContract, type Level, parseLevel } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import type { CliContext } from './context.js';

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
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}
