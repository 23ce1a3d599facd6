/** The facts of a bug in the order every report lists them. */

import { describeLabel, findContract, labelOf } from '../contracts/index.js';
import { counted } from '../words.js';
import type { Bug, BugVariant, VersionTried } from './bug.js';
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
    { label: 'Claim', value: describeLabel(labelOf(bug)) },
    { label: 'Clause broken', value: bug.clause },
    { label: 'Kind', value: `${finding.kind} (${finding.oracle} oracle, ${finding.certainty})` },
    ...secondLookFacts(bug),
    { label: 'Reproduced', value: `${reproduced.shown} of ${reproduced.runs} runs` },
    {
      label: 'Minimal case',
      value: `${counted(statements, 'statement')} in ${counted(sessions, 'session')}`,
    },
    {
      label: 'Found in',
      value:
        raw === undefined
          ? 'this case; there was nothing to reduce'
          : `a history of ${counted(raw.operations, 'operation')}, ${counted(raw.transactions, 'transaction')}, ${counted(raw.sessions, 'session')}`,
    },
    { label: 'Seen', value: `${counted(bug.count, 'time')}, first ${bug.firstSeen}, last ${bug.lastSeen}` },
    ...(bug.seed === undefined ? [] : [{ label: 'Seed', value: bug.seed }]),
    ...(bug.variants === undefined || bug.variants.length < 2
      ? []
      : [{ label: 'Shows as', value: kindsOf(bug.variants) }]),
    { label: 'Signature', value: bug.signature },
  ];
}

function secondLookFacts({ secondLook = [], notIsolation }: Bug): Fact[] {
  const looks = secondLook.map(
    ({ by, says, note }) => `${by} ${says === 'agrees' ? 'agrees' : `says ${says}`}: ${note}`,
  );
  return [
    ...(notIsolation === true
      ? [{ label: 'Not isolation', value: 'it shows with its sessions one after another, too' }]
      : []),
    ...(looks.length === 0 ? [] : [{ label: 'Second look', value: looks.join('; ') }]),
  ];
}

/** `lost-write (3 forms, 12 times), missing-row (1 form, 1 time)`, the most frequent first. */
function kindsOf(variants: readonly BugVariant[]): string {
  const kinds = [...new Set(variants.map(({ kind }) => kind))].map((kind) => {
    const forms = variants.filter((variant) => variant.kind === kind);
    return { kind, forms: forms.length, times: forms.reduce((sum, form) => sum + form.count, 0) };
  });
  kinds.sort((a, b) => b.times - a.times || (a.kind < b.kind ? -1 : 1));
  return kinds
    .map(({ kind, forms, times }) => `${kind} (${counted(forms, 'form')}, ${counted(times, 'time')})`)
    .join(', ');
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
