/** What a store keeps besides bugs, in the form that `isolde bugs` lists, shows and reruns (`bugs-beside.ts`). */
import type { CliContext, ExitCode } from './context.js';
import type { ReplayFlags } from './replay-counterexample.js';

export type RerunBeside = ReplayFlags;

export interface Beside {
  readonly id: string;
  readonly folder: string;
  readonly title: string;
  /** What it is, in a line. */
  readonly what: string;
  /** For `--json`. */
  readonly data: object;
  rerun(flags: RerunBeside, context: CliContext): Promise<ExitCode>;
}

/** What a folder holds of one sort. */
export type BesideShelf = (
  store: string,
) => Promise<{ readonly kept: readonly Beside[]; readonly problems: readonly string[] }>;
