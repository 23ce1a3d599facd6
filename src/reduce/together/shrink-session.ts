/**
 * Shrinking together (D4 §4.1): a person and the shrinker take turns. A session holds every state of the case that was reached, as a
 * tree: undo goes to the parent, redo to a child, and a change after an undo starts another branch, so that nothing is ever lost. `try`
 * runs the current state on the database and says whether the same finding is there; `auto` hands it to the automatic shrinker and
 * takes the result back as one more state, from which the person goes on.
 *
 * No part of this knows a user interface: the studio and `isolde reduce --interactive` are two of them.
 */
import type { StatementRef } from '../../cases/index.js';
import type { Finding } from '../../check/index.js';
import { IsoldeError } from '../../errors.js';
import type { History } from '../../histories/index.js';
import { type Candidate, contentKey, sizeOf } from '../candidate.js';
import { modelOf } from '../case-model.js';
import { dependencyGraph, reachable } from '../dependencies.js';
import type { ReductionProgress } from '../reduce.js';
import { reduceFinding } from '../reduce-finding.js';
import { type SeenFinding, witnessOf } from '../seen-finding.js';
import { sqlAccesses } from '../sql-accesses.js';
import type { FindingOracle, TrialResult } from '../trial.js';
import { type EditableCase, editableCase, effectiveCase } from './editable-case.js';

export interface ShrinkNode {
  readonly id: number;
  /** Undefined: the start. */
  readonly parent: number | undefined;
  /** What was changed: `switched off line 3`. */
  readonly change: string;
  readonly state: EditableCase;
  /** What trying it gave; undefined: it was not tried. */
  readonly trial: TrialResult | undefined;
}

/** What the dependencies say of a line: the finding names it, what the finding names was made from it, or neither. */
export type Hint = 'named' | 'needed' | 'free';

export interface AutoOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ReductionProgress) => void;
}

export interface ShrinkOptions {
  readonly oracle: FindingOracle;
  readonly start: Candidate;
  /** The finding to keep, and a run of the start that shows it. */
  readonly seen: SeenFinding;
  /** Rejects what must not be sent to the database; called before every trial. */
  readonly admit?: (candidate: Candidate) => Promise<void>;
}

export class ShrinkSession {
  readonly #nodes: ShrinkNode[] = [];
  readonly #identity: string;
  readonly #tried = new Map<string, TrialResult>();
  #current = 0;
  #working = false;

  constructor(private readonly options: ShrinkOptions) {
    const { oracle, start, seen } = options;
    this.#identity = oracle.identity(seen.finding, seen.history);
    oracle.lookFor(this.#identity);
    const trial: TrialResult = { verdict: 'same', ...seen };
    this.#tried.set(contentKey(start), trial);
    this.#nodes.push({ id: 0, parent: undefined, change: 'the start', state: editableCase(start), trial });
  }

  /** All states, in the order in which they were reached. */
  get nodes(): readonly ShrinkNode[] {
    return this.#nodes;
  }

  get current(): ShrinkNode {
    return this.#nodes[this.#current]!;
  }

  /** What would be sent now. */
  get candidate(): Candidate {
    return effectiveCase(this.current.state).candidate;
  }

  get isWorking(): boolean {
    return this.#working;
  }

  /** Makes a change; what it changes into is the current state from then on. */
  change(what: string, make: (state: EditableCase) => EditableCase): ShrinkNode {
    this.#checkIdle();
    return this.#add(what, make(this.current.state));
  }

  undo(): ShrinkNode {
    this.#checkIdle();
    const { parent } = this.current;
    if (parent === undefined) throw new IsoldeError('usage', 'this is the start; there is nothing to undo');
    return this.goTo(parent);
  }

  /** To the state that was undone last, or to the one named. */
  redo(id?: number): ShrinkNode {
    const children = this.#nodes.filter(({ parent }) => parent === this.#current);
    const to = id === undefined ? children.at(-1) : children.find((child) => child.id === id);
    if (to === undefined) throw new IsoldeError('usage', 'there is nothing to redo from here');
    return this.goTo(to.id);
  }

  /** To any state of the tree. */
  goTo(id: number): ShrinkNode {
    this.#checkIdle();
    if (this.#nodes[id] === undefined) throw new IsoldeError('usage', `there is no state ${id}`);
    this.#current = id;
    return this.current;
  }

  /** Runs the current state. What was tried before is not run again. */
  async try(): Promise<TrialResult> {
    return this.#work(async () => {
      const { candidate } = this;
      const key = contentKey(candidate);
      const trial = this.#tried.get(key) ?? (await this.#run(candidate));
      this.#tried.set(key, trial);
      this.#nodes[this.#current] = { ...this.current, trial };
      return trial;
    });
  }

  /** Hands the current state to the automatic shrinker, and takes the smallest case that it found back as a new state. */
  async auto(options: AutoOptions = {}): Promise<ShrinkNode> {
    const before = await this.try();
    const { finding, history } = before;
    if (before.verdict !== 'same' || finding === undefined || history === undefined)
      throw new IsoldeError(
        'usage',
        'this state does not show the finding; the shrinker has nothing to keep',
      );
    return this.#work(async () => {
      const start = this.candidate;
      const outcome = await reduceFinding(start, {
        oracle: this.options.oracle,
        seen: { finding, history },
        startShows: true,
        ...options,
      });
      this.options.oracle.lookFor(this.#identity);
      if (outcome.kind !== 'reduced')
        throw new IsoldeError(
          'usage',
          `the shrinker gave up: ${outcome.kind === 'stopped' ? 'it was stopped' : 'the finding did not come back'}`,
        );
      const { result } = outcome;
      const counts = `${sizeOf(start.case).operations} → ${result.operations} statements in ${result.counts.trials} trials`;
      const trial: TrialResult = {
        verdict: 'same',
        ...(result.finding !== undefined && { finding: result.finding }),
        ...(result.history !== undefined && { history: result.history }),
      };
      this.#tried.set(contentKey(result.result), trial);
      return this.#add(`automatic: ${counts}`, editableCase(result.result), trial);
    });
  }

  /** A hint for every statement, from the last run of this state or of one it comes from. Advice only: a trial decides. */
  hints(): readonly (Hint | undefined)[] {
    const { state } = this.current;
    const shown = this.#lastShown();
    if (shown === undefined) return state.statements.map(() => undefined);
    const { candidate, lineOf } = effectiveCase(shown.state);
    const model = modelOf(candidate);
    const { finding, history } = shown;
    const witness = witnessOf(finding, history, candidate);
    const { dialect } = this.options.oracle.subject;
    const { predecessors } = dependencyGraph(model, sqlAccesses(model, dialect, history));
    const needed = new Set(reachable(predecessors, witness));
    const named = new Set(witness);
    const hints = new Map<number, Hint>();
    const statements = candidate.case.sessions.flatMap((session, s) =>
      session.statements.map((_, p): StatementRef => [s, p]),
    );
    for (const ref of statements) {
      const line = lineOf(ref);
      const operation = model.operationOf(ref);
      if (line === undefined || operation < 0) continue;
      hints.set(line, named.has(operation) ? 'named' : needed.has(operation) ? 'needed' : 'free');
    }
    // Lines that were moved since are other lines now.
    const same = shown.state.statements.length === state.statements.length;
    return state.statements.map(({ sql }, line) =>
      same && shown.state.statements[line]!.sql === sql ? hints.get(line) : undefined,
    );
  }

  #lastShown():
    | { readonly state: EditableCase; readonly finding: Finding; readonly history: History }
    | undefined {
    let at: number | undefined = this.#current;
    while (at !== undefined) {
      const { state, trial, parent }: ShrinkNode = this.#nodes[at]!;
      if (trial?.verdict === 'same' && trial.finding !== undefined && trial.history !== undefined)
        return { state, finding: trial.finding, history: trial.history };
      at = parent;
    }
    return undefined;
  }

  async #run(candidate: Candidate): Promise<TrialResult> {
    await this.options.admit?.(candidate);
    const trial = await this.options.oracle.run(candidate, 0);
    // For a person who edits, nothing wrong because a statement failed is not nothing wrong.
    const failed = trial.verdict === 'none' ? brokenStatements(trial.history) : [];
    const allowed = brokenStatements(this.options.seen.history).length;
    return failed.length > allowed ? { ...trial, verdict: 'infeasible', note: failed.at(-1)! } : trial;
  }

  #add(change: string, state: EditableCase, trial?: TrialResult): ShrinkNode {
    const known = trial ?? this.#tried.get(contentKey(effectiveCase(state).candidate));
    const node: ShrinkNode = { id: this.#nodes.length, parent: this.#current, change, state, trial: known };
    this.#nodes.push(node);
    this.#current = node.id;
    return node;
  }

  async #work<T>(work: () => Promise<T>): Promise<T> {
    this.#checkIdle();
    this.#working = true;
    try {
      return await work();
    } finally {
      this.#working = false;
    }
  }

  #checkIdle(): void {
    if (this.#working) throw new IsoldeError('usage', 'a trial is running; wait for it, or stop it');
  }
}

/** What statements failed with that says nothing of isolation: a name that is not there, a word that is missing. */
function brokenStatements(history: History | undefined): string[] {
  return (history?.operations ?? []).flatMap(({ error }) =>
    error !== undefined && ['syntax', 'unsupported', 'other'].includes(error.class) ? [error.message] : [],
  );
}

/** The verdict of a trial in words, with why. */
export function describeTrial({ verdict, finding, note }: TrialResult): string {
  const why = note === undefined ? '' : `: ${note}`;
  switch (verdict) {
    case 'same':
      return 'the same finding';
    case 'another':
      return `another finding${finding === undefined ? '' : ` (${finding.kind})`}${why}`;
    case 'none':
      return 'nothing is wrong any more';
    case 'infeasible':
      return `it does not run${why}`;
    case 'flaky':
      return `runs disagree${why}`;
    default:
      return verdict satisfies never;
  }
}
