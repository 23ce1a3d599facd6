/**
 * Stories that are told twice: as a correct database answers, in which no contract finds anything, and with one wrong answer, which
 * each of them finds. So the silence is not that of somebody who did not look.
 */
import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { explain } from '../explain.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

export type Contracts = readonly (readonly [id: string, dialect: Dialect])[];

export const postgres: Contracts = [
  ['postgres:read-committed', 'postgres'],
  ['postgres:repeatable-read', 'postgres'],
  ['postgres:serializable', 'postgres'],
];
export const mariadb: Contracts = [
  ['mariadb:read-uncommitted', 'mysql'],
  ['mariadb:read-committed', 'mysql'],
  ['mariadb:repeatable-read', 'mysql'],
  ['mariadb:serializable', 'mysql'],
];
export const embedded: Contracts = [
  ['sqlite:serializable+wal', 'sqlite'],
  ['turso:snapshot+mvcc', 'sqlite'],
  ['duckdb:snapshot', 'duckdb'],
];
export const all: Contracts = [...postgres, ...mariadb, ...embedded];

export interface Told {
  readonly setup?: readonly string[];
  readonly text: string;
  /** A right answer, and a wrong one for it. */
  readonly wrong: readonly [right: string, wrong: string];
  readonly under?: Contracts;
}

function findings(text: string, setup: readonly string[] | undefined, [id, dialect]: Contracts[number]) {
  const history = story(text, { dialect, ...(setup && { setup }) });
  return verifyMechanism(history, findContract(id)!).findings.map((finding) => `${id}: ${explain(finding)}`);
}

export function tell(stories: Readonly<Record<string, Told>>): void {
  it.each(Object.keys(stories))('%s', (name) => {
    const { setup, text, wrong, under = all } = stories[name]!;
    const other = text.replace(...wrong);
    expect(other).not.toBe(text);
    expect(under.flatMap((contract) => findings(text, setup, contract))).toEqual([]);
    const blind = under.filter((contract) => findings(other, setup, contract).length === 0);
    expect(blind).toEqual([]);
  });
}
