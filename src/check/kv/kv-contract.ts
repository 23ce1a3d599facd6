/**
 * What a key-value history is held to: a level of the lattice, or a contract.
 *
 * A contract forbids anomalies. Where they are exactly what some level rules out, that level decides. Others
 * (InnoDB's REPEATABLE READ, Adya's PL-2+) lie between levels; then
 * 1. the strongest level that the contract contains must hold;
 * 2. whatever else was found and is forbidden by name breaks the contract, except where the contract
 *    speaks of plain reads only: a key-value history does not say which reads take locks;
 * 3. if nothing was found, the contract is met for certain only when some stronger level holds that rules
 *    out all of it; otherwise the answer is unknown.
 */
import { type Anomaly, anomalies, baseKind, type Contract } from '../../contracts/index.js';
import type { KvHistory } from '../../histories/index.js';
import type { Demand } from '../demand.js';
import type { Finding } from '../finding.js';
import type { CheckLevel } from '../levels.js';
import { checkKv } from './check-kv.js';
import type { CheckOptions, CheckResult } from './kv-result.js';

/** Checks a key-value history against a demand. */
export function checkDemand(history: KvHistory, demand: Demand, options: CheckOptions): CheckResult {
  const { contract, definitions } = demand;
  if (contract === undefined) {
    const level = demand.level === undefined ? {} : { level: demand.level };
    return checkKv(history, { ...options, ...level, ...(definitions !== undefined && { definitions }) });
  }
  const { level, exact } = levelOfContract(contract);
  // Between levels the others say whether the contract is met.
  const others = exact ? {} : { strongest: true };
  const result = checkKv(history, { ...options, ...others, level, definitions: 'adya' });
  const findings = result.findings.map((finding) => named(finding, contract));
  if (result.valid !== true || exact) return { ...result, findings };
  return between(result, contract);
}

/** The verdict on a contract between levels, of which the weaker level holds. */
function between(result: CheckResult, contract: Contract): CheckResult {
  const broken = result.beyond.filter((finding) => clauseOf(finding, contract) !== undefined);
  const beyond = result.beyond.filter((finding) => !broken.includes(finding));
  if (broken.length > 0) {
    if (contract.mechanism?.lockingReadsSee === 'current' && broken.every(isAboutReads)) {
      const kinds = [...new Set(broken.map(({ kind }) => kind))].join(', ');
      const reason = `${kinds} was found, which ${contract.id} forbids for plain reads only; the history does not say which reads took locks`;
      return { ...result, valid: 'unknown', beyond: result.beyond, unknownReasons: [reason] };
    }
    return { ...result, valid: false, findings: broken.map((finding) => named(finding, contract)), beyond };
  }
  const met = coverage.some(
    ([level, covered]) =>
      result.levels[level] === 'holds' &&
      contract.forbids.every((anomaly) => covered.includes(anomaly) || unseen.includes(anomaly)),
  );
  if (met) return result;
  const reason = `nothing was found that ${contract.id} forbids, but no level of the lattice says exactly what it demands; ${result.level} holds`;
  return { ...result, valid: 'unknown', unknownReasons: [reason] };
}

/** Whether it depends on what kind of reads they were. */
function isAboutReads({ kind }: Finding): boolean {
  return baseKind(kind) === 'read-skew';
}

const dirty: readonly Anomaly[] = ['G0', 'G1a', 'G1b', 'G1c'];
/** What keys and values cannot show (searches, expressions), and what every level rules out. */
const unseen: readonly Anomaly[] = ['PMP', 'PMP-write', 'lost-update-expression', 'own-write-missed'];
/** Levels that hold for certain only where none of these happened. */
const coverage: readonly (readonly [CheckLevel, readonly Anomaly[]])[] = [
  ['monotonic atomic view', [...dirty, 'OTV']],
  ['prefix', [...dirty, 'OTV', 'read-skew']],
  ['snapshot', [...dirty, 'OTV', 'read-skew', 'lost-update', 'read-write-skew', 'G-single', 'G-nonadjacent']],
];

/** Levels from the strongest, with what a contract must forbid to contain them, and what they rule out along with it. */
const cores: readonly (readonly [CheckLevel, readonly Anomaly[], readonly Anomaly[]])[] = [
  ['serializable', [...dirty, 'G2'], anomalies.map(({ id }) => id)],
  [
    'snapshot',
    [...dirty, 'lost-update', 'G-single', 'G-nonadjacent'],
    ['OTV', 'read-skew', 'read-write-skew'],
  ],
  [
    'repeatable read',
    [...dirty, 'G2-item'],
    ['OTV', 'lost-update', 'read-skew', 'read-write-skew', 'write-skew'],
  ],
  ['cursor stability', [...dirty, 'lost-update'], []],
  ['read committed', dirty, []],
  ['read uncommitted', [], ['G0']],
];

/** The strongest level a contract contains, and whether it forbids nothing beyond. */
export function levelOfContract(contract: Contract): { readonly level: CheckLevel; readonly exact: boolean } {
  const [level, core, along] = cores.find(([, each]) =>
    each.every((anomaly) => contract.forbids.includes(anomaly)),
  )!;
  const covered: readonly Anomaly[] = [...core, ...along, ...unseen];
  return { level, exact: contract.forbids.every((anomaly) => covered.includes(anomaly)) };
}

/** The anomaly a contract forbids and this finding is; variants that need session order or a clock are not forbidden by it. */
function clauseOf({ kind }: Finding, contract: Contract): Anomaly | undefined {
  const described = anomalies.find(({ id }) => id === kind);
  if (described === undefined) return undefined;
  return [described.id, ...described.partOf].find((anomaly) => contract.forbids.includes(anomaly));
}

function named(finding: Finding, contract: Contract): Finding {
  const clause = clauseOf({ ...finding, kind: baseKind(finding.kind) }, contract);
  return { ...finding, contract: contract.id, ...(clause !== undefined && { clause: `forbids ${clause}` }) };
}
