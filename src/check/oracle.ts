/**
 * An oracle: one way to decide whether something is wrong with what a database did. Everything that runs and judges (hunts,
 * reductions, reruns, `check`) knows oracles only by this interface; `registry.ts` lists them.
 *
 * An oracle judges runs, recorded histories, or both:
 * - of a run it says what it `needs`, makes the program that is sent in place of the case (`prepare`), and judges the history
 *   of that program (`judge`), telling it again as the author of the case knows it;
 * - a recorded history (`check`) it takes as it is.
 *
 * Either way the answer has one shape, `CheckResult`: a verdict, its findings, and what could not be decided and why.
 */
import type { ScheduledCase } from '../cases/index.js';
import type { Contract, Level } from '../contracts/index.js';
import type { History, KvHistory, PlainOperation } from '../histories/index.js';
import type { Target } from '../targets/index.js';
import type { Demand } from './demand.js';
import type { Finding, OracleName } from './finding.js';
import type { Certificate } from './kv/certificate/certificate.js';
import type { LevelStatus } from './kv/kv-result.js';
import type { CheckLevel } from './levels.js';
import type { Checked, ContractComparison, SkippedReason } from './mechanism/result.js';
import type { MemoryUse } from './server/server-finding.js';
import type { WorkloadName, WorkloadOptions } from './workloads/workload.js';

/** The answer of an oracle. */
export interface CheckResult {
  /** `true`: everything was judged and nothing is wrong. `false`: there are findings. `unknown`: there are reasons. */
  readonly valid: boolean | 'unknown';
  readonly oracle: OracleName;
  /** What the history was held to: a contract, by its id, or a level of the lattice. */
  readonly contract?: string;
  readonly level?: CheckLevel;
  readonly findings: readonly Finding[];
  /** What breaks only stronger levels than the one asked for. */
  readonly beyond: readonly Finding[];
  /** The strongest levels that nothing rules out, where levels were decided. */
  readonly strongest: readonly CheckLevel[];
  readonly levels?: Readonly<Record<CheckLevel, LevelStatus>>;
  /** Why the verdict is `unknown`; empty where it is not, or what stayed open beside findings. */
  readonly unknownReasons: readonly string[];
  /** What was not judged, by reason. */
  readonly skipped: readonly SkippedReason[];
  readonly notes: readonly string[];
  /** The proof of the verdict on a key-value history, if it was asked for. */
  readonly certificate?: Certificate;
  /** How much was judged. */
  readonly checked?: Checked;
  /** What would change under another contract, if that was asked. */
  readonly comparison?: ContractComparison;
}

/** The answer about a run, with the history as the author of the case knows it; findings refer to its operations. */
export interface JudgedHistory extends CheckResult {
  readonly history: History;
}

export interface OracleNeeds {
  /**
   * What is sent: the statements as they are, statements rewritten so that the rows they touch are seen, or reads added
   * before and after them. `any`: it judges whatever another oracle has run. `none`: it judges recorded histories only.
   */
  readonly run: 'plain' | 'instrumented' | 'extra-reads' | 'any' | 'none';
  /** Judging executes further programs on the same database. */
  readonly executions?: boolean;
}

/** Where a case is about to run, and what it is held to. */
export interface RunSetting {
  readonly target: Pick<Target, 'name' | 'dialect'>;
  readonly contract: Contract;
}

/** What is sent in place of a case. */
export interface PreparedRun<Plan = unknown> {
  readonly program: ScheduledCase;
  /** Queries that an extra session asks before the first statement and after the last one. */
  readonly observe?: readonly string[];
  /** What the oracle must remember to judge the run. */
  readonly plan: Plan;
}

export interface JudgeContext {
  readonly contract: Contract;
  readonly target: Pick<Target, 'name' | 'dialect'>;
  /** What the server's processes held before and after the run, where the target can tell. */
  readonly memory?: MemoryUse;
  /** Runs another program in the same namespace, which is reset first; only for oracles that need executions. */
  readonly execute?: (program: ScheduledCase, level?: Level) => Promise<History>;
}

/** How a recorded history is looked at. */
export interface CheckOptions {
  /** Findings of key-value histories to report: all but `ignore`, or only `only`. The verdict follows. */
  readonly anomalies?: { readonly only?: readonly string[]; readonly ignore?: readonly string[] };
  /** Seconds after which what is still open of a key-value history becomes `unknown`; 60 by default. */
  readonly budget?: number;
  /** Bytes the tables of one question about a key-value history may take; 4 GiB by default. */
  readonly memory?: number;
  /** Also find the strongest level that holds for a key-value history; true by default. */
  readonly strongest?: boolean;
  /** The workload a history of Jepsen's is of; recognised where it is unmistakable and not given. */
  readonly workload?: WorkloadOptions & { readonly name: WorkloadName };
  /** Also give the proof of the verdict on a key-value history, for `verifyCertificate`. */
  readonly certificate?: boolean;
  /** For an SQL history: say what would change under this contract. */
  readonly compareWith?: Contract;
  readonly onProgress?: (stage: string) => void;
  /** Called with whether the level asked for holds for a key-value history, before other levels are looked at. */
  readonly onVerdict?: (valid: boolean | 'unknown') => void;
}

export type RecordedHistory =
  | {
      readonly kind: 'kv';
      readonly history: KvHistory;
      /** Operations of the same file that are no transactions. */
      readonly operations?: readonly PlainOperation[];
    }
  | { readonly kind: 'sql'; readonly history: History };

export interface Oracle<Plan = unknown> {
  readonly name: OracleName;
  /** What it looks at, in a few words for people. */
  readonly title: string;
  readonly needs: OracleNeeds;
  /** How many of about eight rounds of a hunt are run for it; absent: hunts do not run anything for it. */
  readonly rounds?: number;
  /** For one that judges every run: the database itself failed, so that there is nothing left for others to judge. */
  readonly decisive?: true;
  /**
   * It sees who read and wrote which version of each row, by columns and reads that it adds: it can tell what a broken rule led to, and what it
   * tells need not be in the answers of a plain run.
   */
  readonly tracesVersions?: true;
  /** Hunts run something for it only if they are asked to. */
  readonly onlyIfNamed?: true;
  /** Why it cannot hold a run to this contract; undefined, or absent: it can. */
  refuses?(contract: Contract): string | undefined;
  /** Absent: the case runs as it is. */
  prepare?(program: ScheduledCase, setting: RunSetting): PreparedRun<Plan>;
  /** The history of a prepared run as the author of the case knows it. Absent: it is that already. */
  asWritten?(history: History, plan: Plan): History;
  /** Judges the history of a prepared run (`plan` is undefined where nothing was prepared). */
  judge?(history: History, plan: Plan, context: JudgeContext): JudgedHistory | Promise<JudgedHistory>;
  /** Judges a recorded history; undefined: histories of this kind are not for this oracle. */
  check?(recorded: RecordedHistory, demand: Demand, options: CheckOptions): CheckResult | undefined;
  /** What makes a finding the finding it is while its case is replayed and shrinks. Default: `findingIdentity`. */
  identity?(finding: Finding, history: History): string;
  /** The finding with only the operations that play a part in it. Default: the finding as it is. */
  focus?(finding: Finding): Finding;
}

/** What an oracle found in a run, as its answer. */
export function judgedHistory(
  history: History,
  about: Pick<CheckResult, 'oracle' | 'findings'> & Partial<CheckResult>,
): JudgedHistory {
  const { findings, unknownReasons = [] } = about;
  return {
    valid: verdictOf(findings, unknownReasons),
    beyond: [],
    strongest: [],
    unknownReasons,
    skipped: [],
    notes: [],
    ...about,
    history,
  };
}

/** The one policy of verdicts: a finding decides; without one, whatever was not judged leaves it open. */
export function verdictOf(
  findings: readonly unknown[],
  unknownReasons: readonly unknown[],
): boolean | 'unknown' {
  if (findings.length > 0) return false;
  return unknownReasons.length > 0 ? 'unknown' : true;
}
