/**
 * One raw run from the free executor to the minimal case:
 *
 * 1. Twelve sessions run a program as fast as the database answers, with the bug in the engine. Programs of further seeds
 *    follow until a run shows the finding.
 * 2. The order is inferred. A first replay may show more sharply what the raw run shows only by a consequence
 *    (`sharperFinding`); then that is the finding.
 * 3. The whole history is replayed: by batch, and with no order at all beside it. A replay counts if it shows a finding of
 *    the same identity; how many show it at the same statement, and how many were identical answer by answer, is counted apart.
 * 4. The finding is reduced from the history, and the minimal case runs again.
 *
 * Connections, tables and the mirror of their data stay from replay to replay.
 */
import { type Finding, type FindingInRun, identityOf, sharperFinding } from '../check/index.js';
import { type Contract, findContract } from '../contracts/index.js';
import { SessionPool } from '../execute/index.js';
import type { History } from '../histories/index.js';
import { type RunRequest, runAndJudge } from '../judge/index.js';
import {
  candidateOf,
  contractOf,
  DatabaseOracle,
  type RawFinding,
  rawFinding,
  reduceFinding,
} from '../reduce/index.js';
import {
  type Inference,
  type InferredOrder,
  openInference,
  type ReplayMode,
  type Reproduction,
  reproduceOrder,
} from '../reproduce/index.js';
import { parseFault, type Target, withFault } from '../targets/index.js';
import type { RawBug } from './raw-bugs.js';
import { rawWorkload } from './raw-workload.js';

export interface RawRunOptions {
  readonly bug: RawBug;
  readonly operations: number;
  /** Opens the engine, without the bug's fault. */
  readonly open: () => Promise<Target>;
  /** Replays by batch, and runs of the minimal case. */
  readonly replays: number;
  /** Replays with no order. */
  readonly randomReplays: number;
  readonly seed: number;
  /** Programs to try until a run shows the finding; default 10. */
  readonly mostSeeds?: number;
  readonly progress?: (text: string) => void;
}

/** What came of it; absent parts were not reached. */
export interface RawRunResult {
  readonly bug: RawBug;
  readonly asked: number;
  /** The seed whose run shows the finding. */
  readonly seed?: number;
  readonly operations?: number;
  readonly transactions?: number;
  /** Findings of this kind in the raw run. */
  readonly findings?: number;
  /** The kind of the finding that was followed. */
  readonly kind?: string;
  readonly batch?: Ratio;
  readonly random?: Ratio;
  readonly minimal?: MinimalCase;
  /** What went wrong first, in words. */
  readonly problem?: string;
}

export interface Ratio {
  /** Replays that show a finding of the same identity. */
  readonly shown: number;
  /** Those that show it at the same statement. */
  readonly inPlace: number;
  /** Those in which every operation saw what it saw in the raw run. */
  readonly identical: number;
  readonly runs: number;
  readonly seconds: number;
}

export interface MinimalCase {
  readonly operations: number;
  readonly transactions: number;
  readonly rows: number;
  readonly trials: number;
  readonly seconds: number;
  readonly isMinimal: boolean;
  readonly shown: number;
  readonly runs: number;
}

const sessionCount = 12;
const limits = { statementTimeoutMs: 10_000, lockTimeoutMs: 5_000 };

export async function measureRawRun(options: RawRunOptions): Promise<RawRunResult> {
  const { bug, operations: asked } = options;
  const open = async () => {
    const target = await options.open();
    return bug.fault === undefined ? target : withFault(target, parseFault(bug.fault));
  };
  const contract = bug.contract === undefined ? undefined : findContract(bug.contract);
  if (bug.contract !== undefined && contract === undefined) {
    return { bug, asked, problem: `there is no contract ${bug.contract}` };
  }
  const oracle = await DatabaseOracle.open({ open, ...(contract !== undefined && { contract }) });
  try {
    return await measure(options, oracle, contract);
  } finally {
    await oracle.close();
  }
}

async function measure(
  options: RawRunOptions,
  oracle: DatabaseOracle,
  contract: Contract | undefined,
): Promise<RawRunResult> {
  const { bug, operations: asked, progress = () => undefined } = options;
  const { target } = oracle;
  const scratch = await target.createScratch();
  const sessions = new SessionPool(scratch, limits);
  try {
    const observe: Bench['observe'] = (program) =>
      runAndJudge(
        { ...program, oracle: 'mechanism', ...(contract !== undefined && { contract }) },
        { target, scratch, sessions },
      );
    const bench: Bench = { target, observe };
    const found = await findInFreeRun(options, bench);
    if (found === undefined) return { bug, asked, problem: `no free run shows ${bug.kind}` };
    const { raw, history, seed } = found;
    const facts = {
      ...{ bug, asked, seed, operations: history.operations.length, findings: raw.findings },
      transactions: new Set(history.operations.map(({ transaction }) => transaction)).size,
    };
    const rules = contract ?? contractOf(history, target);
    progress(`${raw.findings} findings in ${facts.operations} operations of seed ${seed}`);
    const inference = openInference(history, rules, { reasons: false, check: false });
    const inferred = inference.order();
    const seen = await asReplayed(raw, inferred, bench);
    const replayed = (mode: ReplayMode, replays: number) =>
      replayWhole([raw, seen], inferred, inference, { ...bench, mode, replays, progress });
    const byBatch = await replayed('batch', options.replays);
    const byChance = await replayed('random', options.randomReplays);
    const ratios = { batch: byBatch.ratio, random: byChance.ratio };
    const reduced = await reduceFinding(candidateOf(byBatch.result.inferred), {
      ...{ oracle, seen, confirmRuns: options.replays },
      onProgress: ({ stage, counts, operations }) =>
        progress(`reducing: ${operations} operations, ${counts.trials} trials, ${stage}`),
    });
    const divergence = divergenceOf(byBatch.result);
    if (reduced.kind !== 'reduced') {
      const why = [`reduction: ${reduced.kind}`, divergence].filter((text) => text !== '').join('; ');
      return { ...facts, ...ratios, kind: seen.finding.kind, problem: why };
    }
    const { result } = reduced;
    const minimal: MinimalCase = {
      ...{ operations: result.operations, transactions: result.transactions, rows: result.rows },
      ...{ trials: result.counts.trials, seconds: result.seconds, isMinimal: result.minimal },
      ...result.confirmed,
    };
    return {
      ...facts,
      ...ratios,
      kind: seen.finding.kind,
      minimal,
      ...(divergence !== '' && { problem: divergence }),
    };
  } finally {
    await sessions.close();
    await scratch.drop();
  }
}

interface Bench {
  readonly target: Target;
  /** Runs a program and has the mechanism verifier judge it. */
  readonly observe: (program: Pick<RunRequest, 'case' | 'schedule'>) => ReturnType<typeof runAndJudge>;
}

interface FoundInRun {
  readonly raw: RawFinding;
  readonly history: History;
  readonly seed: number;
}

async function findInFreeRun(
  { bug, operations, seed: first, mostSeeds = 10, progress }: RawRunOptions,
  { target, observe }: Bench,
): Promise<FoundInRun | undefined> {
  const isAsked = ({ kind }: Finding) => kind === bug.kind;
  for (let seed = first; seed < first + mostSeeds; seed++) {
    const program = rawWorkload({
      ...{ name: bug.name, dialect: target.dialect, level: bug.level, operations, seed },
      ...{ sessions: sessionCount, keyedOrders: bug.keyedOrders, lockingReads: target.features.lockingReads },
    });
    progress?.(`free run, seed ${seed}`);
    const { history, findings } = await observe({ case: program });
    const raw = rawFinding(history, contractOf(history, target), findings.filter(isAsked));
    if (raw !== undefined) return { raw, history, seed };
  }
  return undefined;
}

/** The finding as a replay shows it: the same, or a sharper one with the same root cause. */
async function asReplayed(
  raw: RawFinding,
  inferred: InferredOrder,
  { observe }: Bench,
): Promise<FindingInRun> {
  const wanted = identityOf(raw.finding, raw.history);
  const { history, findings } = await observe(inferred);
  if (findings.some((finding) => identityOf(finding, history) === wanted)) return raw;
  const finding = sharperFinding(raw, findings, history);
  return finding === undefined ? raw : { finding, history };
}

/** Replays the whole history a number of times, and looks where the finding shows. */
async function replayWhole(
  seen: readonly FindingInRun[],
  inferred: InferredOrder,
  inference: Inference,
  options: Bench & Pick<RawRunOptions, 'replays'> & { mode: ReplayMode; progress: (text: string) => void },
): Promise<{ readonly result: Reproduction; readonly ratio: Ratio }> {
  const { mode, replays, progress } = options;
  const began = performance.now();
  const [raw, followed] = seen.map(({ finding, history }) => identityOf(finding, history));
  // However sharply a replay shows it, it is one finding.
  const identity = (finding: Finding, run: History) => {
    if (seen.some((each) => each.finding === finding)) return raw!;
    const own = identityOf(finding, run);
    return own === followed ? raw! : own;
  };
  const places = seen.map(({ finding, history }) => placeOf(finding, history));
  const inPlace: boolean[] = [];
  const observe: Bench['observe'] = async (program) => {
    const judged = await options.observe(program);
    const { findings, history } = judged;
    inPlace.push(
      findings.some((each) => places.includes(placeOf(each, history)) && identity(each, history) === raw),
    );
    return judged;
  };
  const result = await reproduceOrder(inference, inferred, seen[0]!.finding, {
    ...{ mode, runs: replays, observe, identity },
    onRun: (done, shown) => progress(`${mode} ${shown} of ${done}`),
  });
  const { reproduced: shown, identical, runs } = result;
  // Other orders may have been tried first; those runs are not counted.
  const counted = inPlace.slice(-runs).filter(Boolean).length;
  const seconds = (performance.now() - began) / 1000;
  return { result, ratio: { shown, inPlace: counted, identical, runs, seconds } };
}

/** The statement a finding is about, in its program. */
function placeOf(finding: Finding, history: History): string | undefined {
  const judged = finding.operations[0]?.index;
  return history.operations.find(({ index }) => index === judged)?.statement?.join('/');
}

/** Where replays first diverged from the history, if the finding did not come back every time. */
function divergenceOf({ runs, reproduced, divergences }: Reproduction): string {
  const first = divergences[0]?.first;
  if (reproduced === runs || first === undefined) return '';
  return `replays diverge at operation ${first.operation}, ${first.session}: ${first.sql}: ${first.why}`;
}
