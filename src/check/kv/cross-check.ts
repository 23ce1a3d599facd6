/**
 * Holds the fast checkers against the slow ones on random small histories, per level:
 *
 *     node build/check/kv/cross-check.js [count per level] [seed] [--level NAME …] [--write FILE]
 *
 * Any disagreement is printed as a history in the shorthand and ends the run with exit code 1. `--write` keeps the page of results, in
 * which the rows of other levels stay: a long run can be made in pieces.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { commitOfCode } from '../../commit-of-code.js';
import { baseKind } from '../../contracts/index.js';
import { type KvHistory, kv, kvCommitted, kvUnseen, kvWrite } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import { families } from '../graph/families.js';
import { baseOf, type CheckLevel, checkLevels, orderOf } from '../levels.js';
import type { Certificate } from './certificate/certificate.js';
import { verifyCertificate } from './certificate/verify.js';
import { checkKv } from './check-kv.js';
import type { CheckResult } from './kv-result.js';
import { crossPage } from './slow/cross-page.js';
import { plainHistory } from './slow/plain-history.js';
import { type RandomHistoryOptions, randomHistory, seededRandom } from './slow/random-history.js';
import { slowAnomalies } from './slow/slow-anomalies.js';
import { slowHolds } from './slow/slow-levels.js';

export interface CrossCheck {
  readonly level: CheckLevel | 'anomalies';
  readonly histories: number;
  readonly broken: number;
  readonly undecided: number;
  /** Left undecided because a committed read has no result. */
  readonly withoutResult: number;
  /** Verdicts whose certificate was accepted. */
  readonly proved: number;
  /** Histories on which the two disagree, with what each said. */
  readonly disagreements: readonly string[];
}

/** Compares the fast and the slow decision of one level on `count` histories. */
export function crossCheckLevel(level: CheckLevel, count: number, seed: number): CrossCheck {
  const random = seededRandom(seed);
  const disagreements: string[] = [];
  let broken = 0;
  let undecided = 0;
  let withoutResult = 0;
  let proved = 0;
  for (let i = 0; i < count; i++) {
    const { text, history } = drawn(random, i, level);
    const options = { level, definitions: 'adya', strongest: false } as const;
    const { valid: fast, levels, certificate } = checkKv(history, { ...options, certificate: true });
    // What a verdict on one level says of the others, too; a part of the histories, because that is each time every level.
    if (i % everyLevel === 0) {
      const { levels: others } = checkKv(history, { level, definitions: 'adya' });
      for (const fault of [...levelFaults(history, levels), ...levelFaults(history, others)])
        disagreements.push(`${text}   ${fault}`);
    }
    // Where no proof is asked for there is a shorter way.
    const { valid: unproved } = checkKv(history, options);
    if (unproved !== fast) disagreements.push(`${text}   ${fast} with its proof, ${unproved} without`);
    if (fast === 'unknown' && lacksResults(history)) withoutResult++;
    else if (fast === 'unknown') undecided++;
    const slow = slowHolds(history, level);
    if (!slow) broken++;
    if (fast === true && lacksResults(history))
      disagreements.push(`${text}   true, although a result is missing`);
    else if (fast !== 'unknown' && fast !== slow)
      disagreements.push(`${text}   fast: ${fast}, slow: ${slow}`);
    else if (fast !== 'unknown') {
      const fault = certificateFault(history, fast, certificate);
      if (fault === undefined) proved++;
      else disagreements.push(`${text}   ${fast}, but its certificate fails: ${fault}`);
    }
  }
  return { level, histories: count, broken, undecided, withoutResult, proved, disagreements };
}

const everyLevel = 19;

/** Levels that are said to hold or to be broken, and are not. */
function levelFaults(history: KvHistory, levels: CheckResult['levels']): string[] {
  const wrong = checkLevels.filter(
    (level) => levels[level] !== 'unknown' && (levels[level] === 'holds') !== slowHolds(history, level),
  );
  return wrong.map((level) => `${level} is said to be ${levels[level]}`);
}

/**
 * The kinds of histories, one after the other: lists and registers with values of their own; both with values written twice; registers
 * where 0 may also be the initial state; both with values that nobody wrote and reads without a result.
 */
const shapes: readonly (Omit<RandomHistoryOptions, 'maxTxs' | 'times'> & { readonly zero?: boolean })[] = [
  { lists: true },
  { lists: false },
  { lists: true, repeated: true },
  { lists: false, repeated: true },
  { lists: false, repeated: true, zero: true },
  { lists: true, strange: true },
  { lists: false, strange: true },
];

function drawn(random: () => number, i: number, level: CheckLevel): { text: string; history: KvHistory } {
  const { zero = false, ...shape } = shapes[i % shapes.length]!;
  const times = orderOf(level) === 'real-time';
  // Every order of versions is tried with every order of commits: five transactions whose elements repeat take minutes.
  const maxTxs = times && triesVersionOrders.includes(baseOf(level)) ? 4 : 5;
  for (;;) {
    const text = randomHistory(random, { ...shape, maxTxs, times });
    const history = zero ? { ...kv(text), initialValue: 0 } : kv(text);
    if (choicesOfWriters(history) > mostChoices) continue;
    return { text: zero ? `${text}   (0 may be the initial state)` : text, history };
  }
}

/** One long list of equal elements, read three times, has millions of meanings, and the slow checker tries each. */
const mostChoices = 20_000;

/** How many ways there are to say which write each read saw; that some may have seen the initial state is not counted. */
function choicesOfWriters(history: KvHistory): number {
  const txs = plainHistory(history);
  const writes = txs.flatMap((tx) => tx.ops.filter((op) => op.kind === 'write' || op.kind === 'append'));
  const writersOf = (key: number, value: number | null): number =>
    Math.max(1, writes.filter((op) => op.key === key && op.value === value).length);
  let choices = 1;
  for (const op of txs.flatMap((tx) => tx.ops)) {
    if (op.kind === 'read') choices *= writersOf(op.key, op.value);
    // An append is in one place of a list: each equal element before it leaves one writer fewer.
    if (op.kind === 'list')
      op.value.forEach((value, at) => {
        const used = op.value.slice(0, at).filter((other) => other === value).length;
        choices *= Math.max(1, writersOf(op.key, value) - used);
      });
  }
  return choices;
}

const triesVersionOrders: readonly string[] = ['read uncommitted', 'read committed'];

/** Has a committed transaction a read without a result? Then no level can be said to hold. */
function lacksResults({ txCount, txStatus, opOffsets, opKind, opValue }: KvHistory): boolean {
  for (let tx = 0; tx < txCount; tx++) {
    if (txStatus[tx] !== kvCommitted) continue;
    for (let op = opOffsets[tx]!; op < opOffsets[tx + 1]!; op++) {
      if (opKind[op]! < kvWrite && opValue[op] === kvUnseen) return true;
    }
  }
  return false;
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
    // Asked for the strongest level, so that cycles of real time are looked for, too.
    const result = checkKv(history, { definitions: 'adya', level: 'strict serializable', strongest: false });
    const findings = [...result.findings, ...result.beyond];
    const fast = new Set(findings.map(familyOf));
    // Of two cycles through the same transactions that are both lost updates, one is reported.
    const lost = findings.some(({ kind }) => kind === 'lost-update');
    if (lost && slow.has('G-single') && slow.has('G2-item')) fast.add('G-single').add('G2-item');
    if (slow.size > 0) broken++;
    const differ = [...families, 'G1a', 'G1b'].filter((name) => fast.has(name) !== slow.has(name));
    if (differ.length > 0) {
      disagreements.push(`${text}   differ: ${differ.join(', ')}; fast: ${[...fast].join(', ')}`);
    }
  }
  return {
    level: 'anomalies',
    histories: count,
    broken,
    undecided: 0,
    withoutResult: 0,
    proved: 0,
    disagreements,
  };
}

/** The family of cycles a finding shows; a lost update may be a G-single or, when nobody saw who came first, a G2-item. */
function familyOf(finding: Finding): string {
  const base: string = baseKind(finding.kind);
  if (finding.cycle === undefined || (families as readonly string[]).includes(base)) return base;
  return finding.cycle.filter((edge) => edge.kind === 'rw').length === 1 ? 'G-single' : 'G2-item';
}

/** Every comparison there is, by the name of its row. */
const comparisons: ReadonlyMap<string, (count: number, seed: number) => CrossCheck> = new Map([
  ...checkLevels.map(
    (level) => [level, (count: number, seed: number) => crossCheckLevel(level, count, seed)] as const,
  ),
  ['anomalies', crossCheckAnomalies] as const,
]);

function main(args: readonly string[]): number {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { level: { type: 'string', multiple: true }, write: { type: 'string' } },
    allowPositionals: true,
  });
  const [count, seed] = [Number(positionals[0] ?? 20_000), Number(positionals[1] ?? 20_260_101)];
  const asked = values.level ?? [...comparisons.keys()];
  if (
    !Number.isInteger(count) ||
    count < 1 ||
    !Number.isInteger(seed) ||
    !asked.every((name) => comparisons.has(name))
  ) {
    console.error('usage: cross-check.js [count per level] [seed] [--level NAME …] [--write FILE]');
    return 3;
  }
  let failed = false;
  for (const name of asked) {
    const { disagreements, ...result } = comparisons.get(name)!(count, seed);
    const { histories, broken, undecided, withoutResult, proved } = result;
    console.log(
      `${name}: ${histories} histories, ${broken} broken, ${undecided} undecided, ${withoutResult} without a result, ${proved} proved, ${disagreements.length} disagreements (seed ${seed})`,
    );
    for (const text of disagreements.slice(0, 5)) console.log(`  ${text}`);
    failed ||= disagreements.length > 0;
    if (values.write === undefined) continue;
    const before = existsSync(values.write) ? readFileSync(values.write, 'utf8') : '';
    const row = { ...result, commit: commitOfCode(), seed, disagreements: disagreements.length };
    writeFileSync(values.write, crossPage(before, [row], [...comparisons.keys()]));
  }
  return failed ? 1 : 0;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = main(process.argv.slice(2));
}
