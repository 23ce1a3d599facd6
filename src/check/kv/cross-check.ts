/**
 * Holds the fast checkers against the slow ones on random small histories, per level:
 *
 *     node build/check/kv/cross-check.js [count per level] [seed]
 *
 * Any disagreement is printed as a history in the shorthand and ends the run with exit code 1.
 */
import { pathToFileURL } from 'node:url';
import { baseKind } from '../../contracts/index.js';
import { type KvHistory, kv } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { families } from '../graph/families.js';
import { type CheckLevel, checkLevels, orderOf } from '../levels.js';
import type { Certificate } from './certificate/certificate.js';
import { verifyCertificate } from './certificate/verify.js';
import { checkKv } from './check-kv.js';
import { randomHistory, seededRandom } from './slow/random-history.js';
import { slowAnomalies } from './slow/slow-anomalies.js';
import { slowHolds } from './slow/slow-levels.js';

export interface CrossCheck {
  readonly level: CheckLevel | 'anomalies';
  readonly histories: number;
  readonly broken: number;
  readonly undecided: number;
  /** Histories on which the two disagree, with what each said. */
  readonly disagreements: readonly string[];
}

/** Compares the fast and the slow decision of one level on `count` histories. */
export function crossCheckLevel(level: CheckLevel, count: number, seed: number): CrossCheck {
  const random = seededRandom(seed);
  const disagreements: string[] = [];
  let broken = 0;
  let undecided = 0;
  // The slow checker of these levels tries every interleaving of twice as many points.
  const points = level.includes('snapshot') || level.includes('prefix');
  for (let i = 0; i < count; i++) {
    const times = orderOf(level) === 'real-time';
    // Lists, registers with values of their own, registers with values written twice, the same where 0 may be the initial state.
    const kind = i % 4;
    const shape = { lists: kind === 0, repeated: kind >= 2, maxTxs: points ? 4 : 5, times };
    const written = randomHistory(random, shape);
    const history: KvHistory = kind === 3 ? { ...kv(written), initialValue: 0 } : kv(written);
    const text = kind === 3 ? `${written}   (0 may be the initial state)` : written;
    const options = { level, definitions: 'adya', strongest: false, certificate: true } as const;
    const { valid: fast, certificate } = checkKv(history, options);
    if (fast === 'unknown') undecided++;
    const slow = slowHolds(history, level);
    if (!slow) broken++;
    if (fast !== 'unknown' && fast !== slow) disagreements.push(`${text}   fast: ${fast}, slow: ${slow}`);
    else if (fast !== 'unknown') {
      const fault = certificateFault(history, fast, certificate);
      if (fault !== undefined) disagreements.push(`${text}   ${fast}, but its certificate fails: ${fault}`);
    }
  }
  return { level, histories: count, broken, undecided, disagreements };
}

/** Why a verdict is not proved by its certificate. */
function certificateFault(
  history: KvHistory,
  valid: boolean,
  certificate: Certificate | undefined,
): string | undefined {
  if (certificate === undefined) return 'there is none';
  if (certificate.valid !== valid) return 'it proves the opposite';
  const verified = verifyCertificate(history, certificate);
  return verified.accepted ? undefined : `${verified.why} (${JSON.stringify(certificate)})`;
}

/** Compares the families of cycles the fast checker reports with a literal search for them. */
export function crossCheckAnomalies(count: number, seed: number): CrossCheck {
  const random = seededRandom(seed);
  const disagreements: string[] = [];
  let broken = 0;
  for (let i = 0; i < count; i++) {
    const text = randomHistory(random, { lists: true, maxTxs: 5, times: i % 3 === 0 });
    const history = kv(text);
    const slow = slowAnomalies(history);
    if (slow === undefined) continue;
    const result = checkKv(history, { definitions: 'adya', strongest: false });
    const fast = new Set([...result.findings, ...result.beyond].map(familyOf));
    if (slow.size > 0) broken++;
    const differ = [...families, 'G1a', 'G1b'].filter((name) => fast.has(name) !== slow.has(name));
    if (differ.length > 0) {
      disagreements.push(`${text}   differ: ${differ.join(', ')}; fast: ${[...fast].join(', ')}`);
    }
  }
  return { level: 'anomalies', histories: count, broken, undecided: 0, disagreements };
}

/** The family of cycles a finding shows; a lost update may be a G-single or, when nobody saw who came first, a G2-item. */
function familyOf(finding: Finding): string {
  const base: string = baseKind(finding.kind);
  if (finding.cycle === undefined || (families as readonly string[]).includes(base)) return base;
  return finding.cycle.filter((edge) => edge.kind === 'rw').length === 1 ? 'G-single' : 'G2-item';
}

function main(args: readonly string[]): number {
  const count = Number(args[0] ?? 20_000);
  const seed = Number(args[1] ?? 20_260_101);
  if (!Number.isInteger(count) || count < 1 || !Number.isInteger(seed)) {
    console.error('usage: cross-check.js [count per level] [seed]');
    return 3;
  }
  let failed = false;
  const report = (result: CrossCheck): void => {
    const { level, histories, broken, undecided, disagreements } = result;
    console.log(
      `${level}: ${histories} histories, ${broken} broken, ${undecided} undecided, ${disagreements.length} disagreements (seed ${seed})`,
    );
    for (const text of disagreements.slice(0, 5)) console.log(`  ${text}`);
    failed ||= disagreements.length > 0;
  };
  for (const level of checkLevels) report(crossCheckLevel(level, count, seed));
  report(crossCheckAnomalies(count, seed));
  return failed ? 1 : 0;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = main(process.argv.slice(2));
}
