/** What a hunt is asked for, what it tells on the way, and what it returns. */
import type { ScheduledCase } from '../cases/index.js';
import type { OracleName } from '../check/index.js';
import type { Contract, Level } from '../contracts/index.js';
import type { Profile } from '../generate/index.js';
import type { History, TargetStamp } from '../histories/index.js';
import type { ContractChoice } from '../judge/index.js';
import type { KnownPlace, KnownVerdict } from '../known/index.js';
import type { Bug } from '../report/index.js';
import type { Dialect } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import type { BurstFinding, BurstShareOptions } from './burst/index.js';
import type { HuntCounters } from './counters.js';
import type { Round } from './round.js';

/** Where bugs go. */
export interface Shelf {
  /** Whether this bug was declared known, by signature or id. */
  isIgnored(bug: Pick<Bug, 'id' | 'signature'>): Promise<boolean>;
  /** Keeps a bug or counts it. Returns only when it is on disk. */
  add(bug: Bug, raw: History): Promise<Shelved>;
  /** One more raw finding that looks like a bug already there. */
  seenAgain(id: string): void;
  /** Keeps a broken burst or counts it. Absent: they cannot be kept here, and hunts run none. */
  addBurst?(found: BurstFinding, dialect: Dialect): Promise<ShelvedBurst>;
  /** For study only: what did not reproduce. */
  keepUnconfirmed?(round: Round, history: History, why: string): Promise<void>;
}

export interface Shelved {
  readonly bug: Bug;
  readonly isNew: boolean;
  /** Reports and exports that were written. */
  readonly files: readonly string[];
}

export interface ShelvedBurst {
  readonly id: string;
  readonly isNew: boolean;
  /** Its folder; empty where it has none. */
  readonly folder: string;
  readonly finding: BurstFinding;
}

export interface HuntOptions {
  /** Opens the database; called again when it went away. */
  readonly open: () => Promise<Target>;
  /** Opens another engine or version, on which the case of each bug is run as well (`sibling.ts`). */
  readonly openSibling?: () => Promise<Target>;
  /**
   * Without `openSibling`: opens another version to compare with, if there is one here. It is asked about the first finding of each
   * kind, so it is opened when there is one.
   */
  readonly openUsualSibling?: (hunted: TargetStamp) => Promise<Target | undefined>;
  readonly shelf: Shelf;
  readonly seed: string;
  /** What the database is held to. Default `reported`. */
  readonly contract?: ContractChoice;
  /** Default: the target's default level. */
  readonly levels?: readonly Level[];
  /** Only these oracles take part; default: all that can judge by the contract. */
  readonly oracles?: readonly OracleName[];
  readonly profile?: Profile | string;
  /** Bursts; default: some hundredths of the time, and none where profile or oracles are chosen. */
  readonly bursts?: BurstShareOptions;
  readonly templates?: readonly ScheduledCase[];
  /** Bugs found before, to be varied (`templatesOfStore`). */
  readonly found?: readonly ScheduledCase[];
  /** First round, and the one after the last. */
  readonly from?: number;
  readonly to?: number;
  readonly jobs?: number;
  readonly forMs?: number;
  /** Stop after so many bugs that were not on the shelf before. */
  readonly bugs?: number;
  /** Replays that must all show a finding. Default 3. */
  readonly confirmRuns?: number;
  /** How long to wait for a database that went away. Default 30 s. */
  readonly reopenMs?: number;
  /** Asks whether others have reported a bug; `place` is where it was found. Undefined: nothing could be asked. */
  readonly identify?: (bug: Bug, place: KnownPlace) => Promise<KnownVerdict | undefined>;
  readonly signal?: AbortSignal;
  /** The command that runs round i again. */
  readonly replayLine?: (round: number) => string;
  /** Where the hunt runs, for reports (`environment.ts`). */
  readonly environment?: string;
  readonly onEvent?: (event: HuntEvent) => void;
  /** Called with every round that ran, and what happened. */
  readonly onRound?: (round: Round, history: History) => void;
  /** ISO 8601; default: the system's clock. */
  readonly date?: () => string;
  /** Milliseconds; default: the process's clock. */
  readonly now?: () => number;
}

export type HuntEvent =
  | {
      readonly kind: 'opened';
      readonly target: Target;
      readonly levels: readonly Level[];
      /** For each level: what the database is held to. */
      readonly contracts: readonly Contract[];
    }
  | {
      readonly kind: 'progress';
      readonly counters: HuntCounters;
      readonly finished: number;
      readonly distinct: number;
    }
  | { readonly kind: 'pursuing'; readonly round: Round; readonly finding: string }
  | { readonly kind: 'bug'; readonly shelved: Shelved; readonly round: Round; readonly seconds: number }
  | { readonly kind: 'burst'; readonly shelved: ShelvedBurst; readonly seconds: number }
  | { readonly kind: 'unconfirmed'; readonly round: Round; readonly finding: string; readonly why: string }
  | { readonly kind: 'refused'; readonly round: Round; readonly message: string }
  /** A bug could not be kept, and is lost but for its replay line. */
  | { readonly kind: 'not-kept'; readonly round: Round; readonly why: string }
  | { readonly kind: 'reopened'; readonly cause: string };

export interface HuntResult {
  /** What was hunted: the engine that answered, and at which levels. */
  readonly target: TargetStamp;
  readonly levels: readonly Level[];
  readonly counters: HuntCounters;
  /** Bugs met in this hunt, each once. */
  readonly bugs: readonly Shelved[];
  /** Broken bursts, each program once. */
  readonly bursts: readonly ShelvedBurst[];
  /** All rounds below this number are done. */
  readonly finished: number;
  readonly stopped: 'rounds' | 'time' | 'bugs' | 'interrupted';
}
