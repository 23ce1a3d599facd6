/**
 * The oracle of a reduction whose trials run on other machines. Which candidates are tried, and in which order their answers count, is the
 * reduction's own business (`reduce/trials.ts`): trials ahead of the order run at the same time, and their answers are used only if the
 * order reaches them. So the result is the one that a single worker comes to.
 *
 * For that a trial must be answered alike wherever it runs. Workers that take it have the same version of the engine; and the one thing
 * that an oracle remembers from trial to trial, how many statements failed in the first run that showed the finding, is sent along. Until
 * it is known, trials run here, one after another in the order they were asked.
 */
import { createHash } from 'node:crypto';
import { type Finding, usualOracle } from '../check/index.js';
import type { History } from '../histories/index.js';
import {
  type Candidate,
  contentKey,
  type DatabaseOracle,
  type FindingOracle,
  type ObservedRun,
  type TrialResult,
} from '../reduce/index.js';
import { printJob, type TrialSettingData } from './job.js';
import type { TrialDesk } from './trial-desk.js';

export interface FleetOracleOptions {
  /** The database here. */
  readonly local: DatabaseOracle;
  readonly desk: TrialDesk;
  /** The target as jobs name it. */
  readonly target: string;
  /** Trials that run at once when somebody helps. */
  readonly lanes: number;
}

export class FleetOracle implements FindingOracle {
  #identity = '';
  #turn: Promise<unknown> = Promise.resolve();
  #begun = false;
  /** Trials that others answered. */
  remote = 0;

  constructor(private readonly options: FleetOracleOptions) {}

  /** The most at first; then one, while nobody is there to help. */
  get lanes(): number {
    const { desk, lanes } = this.options;
    return this.#begun && !desk.hasHelpers ? 1 : lanes;
  }

  get subject(): FindingOracle['subject'] {
    return this.options.local.subject;
  }

  observe(candidate: Candidate): Promise<ObservedRun> {
    return this.options.local.observe(candidate);
  }

  identity(finding: Finding, history: History): string {
    return this.options.local.identity(finding, history);
  }

  lookFor(identity: string): void {
    this.#identity = identity;
    this.options.local.lookFor(identity);
  }

  runOnce(candidate: Candidate): Promise<TrialResult> {
    return this.#here(() => this.options.local.runOnce(candidate, 0));
  }

  async run(candidate: Candidate, lane: number): Promise<TrialResult> {
    this.#begun = true;
    const { local } = this.options;
    const here = () => this.#here(() => local.run(candidate, 0));
    if (lane === 0) return here();
    // What waits here may bring what is not known yet.
    if (local.tolerated === undefined) await this.#turn.catch(() => undefined);
    const { tolerated } = local;
    if (tolerated === undefined) return here();
    const answer = await this.#elsewhere(candidate, tolerated);
    if (answer === undefined) return here();
    this.remote++;
    return answer;
  }

  #elsewhere(candidate: Candidate, tolerated: readonly string[]): Promise<TrialResult | undefined> {
    const { desk, target } = this.options;
    const identity = this.#identity;
    const payload = printJob({
      kind: 'trial',
      target,
      ...candidate,
      setting: this.#setting(),
      identity,
      tolerated,
    });
    const rest = createHash('sha256')
      .update(JSON.stringify([identity, this.#setting(), tolerated]))
      .digest('base64url');
    return desk.ask(`${contentKey(candidate)} ${rest}`, payload);
  }

  #setting(): TrialSettingData {
    const { contract, level, oracle = usualOracle(contract).name } = this.options.local.setting;
    return {
      oracle,
      ...(contract !== undefined && { contract: contract.id }),
      ...(level !== undefined && { level }),
    };
  }

  /** One after another, in the order they were asked. */
  #here(work: () => Promise<TrialResult>): Promise<TrialResult> {
    const turn = this.#turn.catch(() => undefined).then(work);
    this.#turn = turn;
    turn.catch(() => undefined);
    return turn;
  }
}
