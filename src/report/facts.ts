/** The facts of a bug in the order every report lists them. */

import { describeInterval, intervalsOf, nameInterval } from '../affected-versions.js';
import { describeClaim, findContract } from '../contracts/index.js';
import type { TargetStamp } from '../histories/index.js';
import { compareVersions } from '../versions.js';
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
    ...(bug.environment === undefined ? [] : [{ label: 'Environment', value: bug.environment }]),
    { label: 'Isolation level', value: bug.level.toUpperCase() },
    { label: 'Contract', value: contractName(bug) },
    { label: 'Claim', value: describeClaim(bug) },
    { label: 'Clause broken', value: bug.clause },
    { label: 'Kind', value: `${finding.kind} (${finding.oracle} oracle, ${finding.certainty})` },
    ...secondLookFacts(bug),
    ...affectedOf(bug).map((value) => ({ label: 'Affected', value })),
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

export function contractName(bug: Pick<Bug, 'contract'>): string {
  const { contract } = bug;
  if (contract === undefined) return 'none named';
  return findContract(contract) === undefined ? contract : `${contractTitle(bug)} (${contract})`;
}

/** The contract as people call it. */
export function contractTitle({ contract }: Pick<Bug, 'contract'>): string {
  if (contract === undefined) return 'no contract';
  return findContract(contract)?.title ?? contract;
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

/** The version the bug was confirmed on first, then the others; of several tries on one version with the same settings the last. */
export function versionsOf(bug: Bug): readonly VersionTried[] {
  const { target, reproduced, firstSeen } = bug;
  const last = new Map<string, VersionTried>();
  for (const tried of bug.versions) last.set(placeOf(tried), tried);
  return [{ target, outcome: 'alive', ...reproduced, at: firstSeen }, ...last.values()];
}

function placeOf({ target }: VersionTried): string {
  return JSON.stringify([target.name, target.version, behaviourSettings(target)]);
}

/** The settings that say how an engine behaves, in order: `process` says where it runs. */
function behaviourSettings({ settings = {} }: TargetStamp): readonly (readonly [string, string])[] {
  return Object.entries(settings)
    .filter(([name]) => name !== 'process')
    .sort();
}

/** First bad and first good version of each engine and its settings, where more than one version was tried. */
export function affectedOf(bug: Bug): readonly string[] {
  const lines = new Map<string, VersionTried[]>();
  for (const tried of versionsOf(bug)) {
    const settings = behaviourSettings(tried.target).map(([name, value]) => `${name}=${value}`);
    const line = [nameEngine(tried.target.name), ...settings].join(', ');
    lines.set(line, [...(lines.get(line) ?? []), tried]);
  }
  return [...lines].flatMap(([line, tries]) => {
    const last = new Map(tries.map((tried) => [tried.target.version, tried]));
    const sorted = [...last.values()].sort((a, b) => compareVersions(a.target.version, b.target.version));
    const probes = sorted.map(({ outcome }) =>
      outcome === 'alive' ? 'bad' : outcome === 'fixed' ? 'good' : 'unknown',
    );
    if (probes.filter((probe) => probe !== 'unknown').length < 2) return [];
    const versions = sorted.map(({ target }) => target.version);
    return intervalsOf(probes).map(
      (interval) => `${line}: ${describeInterval(nameInterval(interval, versions))}`,
    );
  });
}
