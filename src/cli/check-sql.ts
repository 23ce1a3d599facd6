/**
 * Verdicts on histories of SQL statements: every read, write and lock is held to the mechanism of a vendor's contract
 * (`check/mechanism`). The contract is the one asked for, or the one of the database and level the history names.
 *
 * `true` means that everything was judged and nothing broke the contract. What could not be judged leaves the
 * verdict `unknown`, with what was skipped and why; a finding decides in any case.
 */

import { type MechanismResult, verifyMechanism } from '../check/index.js';
import { type Contract, contractFor, findContract, parseLevel } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import type { History, HistoryHeader } from '../histories/index.js';
import { counted } from '../words.js';
import type { Demand } from './check-contract.js';

export interface SqlVerdict {
  readonly valid: boolean | 'unknown';
  readonly contract: string;
  readonly findings: MechanismResult['findings'];
  readonly unknownReasons: readonly string[];
  readonly notes: readonly string[];
  readonly checked: MechanismResult['checked'];
}

/** Checks an SQL history; `compareWith` adds a note on what another contract would say. */
export function checkSql(history: History, demand: Demand, compareWith: Contract | undefined): SqlVerdict {
  if (demand.definitions !== undefined) {
    throw new IsoldeError(
      'usage',
      'a history of SQL statements is held to how a vendor’s engine works; what theory forbids shows in instrumented runs: isolde hunt URL --contract adya',
    );
  }
  const contract = demand.contract ?? contractOf(history.header, demand);
  const result = verifyMechanism(history, contract, compareWith === undefined ? {} : { compareWith });
  const skipped = result.skipped.map(
    ({ what, reason, count }) => `${counted(count, what)} not judged: ${reason}`,
  );
  return {
    valid: result.findings.length > 0 ? false : skipped.length > 0 ? 'unknown' : true,
    contract: contract.id,
    findings: result.findings,
    unknownReasons: skipped,
    notes: [...result.notes, ...comparison(result)],
    checked: result.checked,
  };
}

/** The vendor's contract for what the history says ran it. */
function contractOf(header: HistoryHeader, demand: Demand): Contract {
  const owner = header.target?.name;
  const level = (demand.level === undefined ? undefined : parseLevel(demand.level)) ?? header.level;
  const found =
    owner === undefined || level === undefined
      ? undefined
      : contractFor(owner, level, header.target?.settings);
  if (found !== undefined) return found;
  const known = owner === undefined ? 'no database' : `${owner} at ${level ?? 'no level'}`;
  throw new IsoldeError(
    'usage',
    `the history names ${known}, for which there is no contract; name one with --contract, such as --contract postgres:repeatable-read`,
  );
}

function comparison({ comparison, findings }: MechanismResult): string[] {
  if (comparison === undefined) return [];
  const { appear, vanish } = comparison;
  return [
    `under ${comparison.contract} there would be ${comparison.findings} findings instead of ${findings.length}: ` +
      `${appear.length} would appear${kindsOf(appear)} and ${vanish.length} would vanish${kindsOf(vanish)}`,
  ];
}

function kindsOf(findings: MechanismResult['findings']): string {
  const counts = new Map<string, number>();
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const listed = [...counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return listed === '' ? '' : ` (${listed})`;
}

/** The contract `--compare` names. */
export function comparedContract(id: string | undefined): Contract | undefined {
  if (id === undefined) return undefined;
  const found = findContract(id);
  if (found?.mechanism !== undefined) return found;
  throw new IsoldeError(
    'usage',
    `--compare takes a vendor's contract by its full name, such as mariadb:repeatable-read, not "${id}"`,
  );
}
