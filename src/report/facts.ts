/** The facts of a bug in the order every report lists them. */
import { findContract } from '../contracts/index.js';
import type { Bug, VersionTried } from './bug.js';
import { nameEngine } from './names.js';

export interface Fact {
  readonly label: string;
  readonly value: string;
}

export function factsOf(bug: Bug): Fact[] {
  const { target, finding, reproduced, raw } = bug;
  const settings = Object.entries(target.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  const statements = bug.case.sessions.reduce((sum, session) => sum + session.statements.length, 0);
  const sessions = bug.case.sessions.length;
  return [
    { label: 'Engine', value: nameEngine(target.name) },
    { label: 'Version', value: target.version },
    ...(settings.length === 0 ? [] : [{ label: 'Settings', value: settings.join(', ') }]),
    { label: 'Isolation level', value: bug.level.toUpperCase() },
    { label: 'Contract', value: contractName(bug) },
    { label: 'Clause broken', value: bug.clause },
    { label: 'Kind', value: `${finding.kind} (${finding.oracle} oracle, ${finding.certainty})` },
    { label: 'Reproduced', value: `${reproduced.shown} of ${reproduced.runs} runs` },
    {
      label: 'Minimal case',
      value: `${count(statements, 'statement')} in ${count(sessions, 'session')}`,
    },
    {
      label: 'Found in',
      value:
        raw === undefined
          ? 'this case; there was nothing to reduce'
          : `a history of ${count(raw.operations, 'operation')}, ${count(raw.transactions, 'transaction')}, ${count(raw.sessions, 'session')}`,
    },
    { label: 'Seen', value: `${count(bug.count, 'time')}, first ${bug.firstSeen}, last ${bug.lastSeen}` },
    ...(bug.seed === undefined ? [] : [{ label: 'Seed', value: bug.seed }]),
    { label: 'Signature', value: bug.signature },
  ];
}

export function contractName({ contract }: Pick<Bug, 'contract'>): string {
  if (contract === undefined) return 'none named';
  const known = findContract(contract);
  return known === undefined ? contract : `${known.title} (${contract})`;
}

export function versionLine({ target, outcome, shown, runs, at }: VersionTried): readonly string[] {
  const settings = Object.entries(target.settings ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    nameEngine(target.name),
    target.version,
    settings.join(', '),
    outcome === 'not-run' ? 'could not be run' : outcome,
    `${shown} of ${runs}`,
    at,
  ];
}

/** The version the bug was confirmed on first, then the others. */
export function versionsOf(bug: Bug): readonly VersionTried[] {
  const { target, reproduced, firstSeen } = bug;
  return [{ target, outcome: 'alive', ...reproduced, at: firstSeen }, ...bug.versions];
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
