/** What is asked of a check of a key-value history, and its answer. */
import type { Definitions } from '../../histories/index.js';
import type { Finding } from '../finding.js';
import type { CheckLevel } from '../levels.js';
import type { Certificate } from './certificate/certificate.js';

export interface CheckOptions {
  /** The level to hold the history to; serializable by default. */
  readonly level?: CheckLevel;
  /** What level names mean; by default what the history's format means by them, else `adya` for lists and `axiomatic` for registers. */
  readonly definitions?: Definitions;
  /** Findings to report: all but `ignore`, or only `only`. The verdict follows. */
  readonly anomalies?: { readonly only?: readonly string[]; readonly ignore?: readonly string[] };
  /** Seconds after which what is still open becomes `unknown`; 60 by default. */
  readonly budget?: number;
  /** Bytes the tables of one question may take; 4 GiB by default. */
  readonly memory?: number;
  /** A clock in milliseconds, for `budget`. */
  readonly now?: () => number;
  /** Also give the proof of the verdict, for others to verify. */
  readonly certificate?: boolean;
  /** Also find the strongest level that holds; true by default. */
  readonly strongest?: boolean;
  readonly onProgress?: (stage: string) => void;
  /** Called with the verdict as soon as it is known, before the other levels are looked at. */
  readonly onVerdict?: (valid: boolean | 'unknown') => void;
}

export type LevelStatus = 'holds' | 'broken' | 'unknown';

export interface CheckResult {
  readonly valid: boolean | 'unknown';
  /** The level checked, after `definitions`. */
  readonly level: CheckLevel;
  /** The strongest levels that hold, or, where that is not known, still may; none if even the weakest is broken. */
  readonly strongest: readonly CheckLevel[];
  readonly levels: Readonly<Record<CheckLevel, LevelStatus>>;
  /** What breaks the level checked. */
  readonly findings: readonly Finding[];
  /** What breaks only stronger levels. */
  readonly beyond: readonly Finding[];
  readonly unknownReasons: readonly string[];
  readonly notes: readonly string[];
  /** The proof of a verdict that is not `unknown`, if it was asked for. */
  readonly certificate?: Certificate;
}
