/** The probe's matrix: what each level of a database allows; each cell is a run that can be looked at. */

import { findContract } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { type ProbeReport, type ProbeResult, probeCases, runProbe } from '../probe/index.js';
import { type RunPage, runPage } from '../report/index.js';
import type { NewsHub } from './events.js';
import { NotFound, type Routes, textIn } from './routes.js';
import type { StudioTargets } from './studio-targets.js';

export interface ProbePage {
  readonly state: 'never' | 'running' | 'done';
  readonly target?: string;
  readonly name?: string;
  readonly progress?: { readonly done: number; readonly total: number; readonly what: string };
  readonly failure?: string;
  readonly levels: readonly {
    readonly level: string;
    readonly contract: string;
    readonly cells: readonly Omit<ProbeResult, 'history'>[];
  }[];
  readonly cases: readonly { readonly id: string; readonly title: string; readonly anomaly: string }[];
}

export interface ProbeCellPage {
  readonly setup: readonly string[];
  readonly run: RunPage;
}

export class Probing {
  #target: string | undefined;
  #report: ProbeReport | undefined;
  #progress: ProbePage['progress'];
  #failure: string | undefined;
  #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    private readonly targets: StudioTargets,
    private readonly hub: NewsHub,
  ) {}

  readonly routes: Routes = {
    'GET probe': () => this.#page(),
    'POST probe/start': ({ body }) => this.#start(textIn(body, 'target')),
    'POST probe/stop': () => {
      this.#stop.abort();
      return this.#page();
    },
    'GET probe/cell/:level/:case': ({ params }) => this.#cell(params.level ?? '', params.case ?? ''),
  };

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #page(): ProbePage {
    const used = new Set(this.#report?.levels.flatMap(({ results }) => results.map((result) => result.case)));
    return {
      state: this.#running !== undefined ? 'running' : this.#report === undefined ? 'never' : 'done',
      ...(this.#target !== undefined && { target: this.#target }),
      ...(this.#report !== undefined && {
        name: `${this.#report.target.name} ${this.#report.target.version}`,
      }),
      ...(this.#progress !== undefined && { progress: this.#progress }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      levels: (this.#report?.levels ?? []).map(({ level, contract, results }) => ({
        level,
        contract,
        cells: results.map(({ history: _, ...cell }) => cell),
      })),
      cases: probeCases
        .filter(({ id }) => used.has(id))
        .map(({ id, title, anomaly }) => ({ id, title, anomaly })),
    };
  }

  #start(target: string): ProbePage {
    if (this.#running !== undefined)
      throw new IsoldeError('usage', 'a probe is running already; stop it first');
    this.#target = this.targets.choices.find(({ id }) => id === target)?.url ?? target;
    this.#stop = new AbortController();
    [this.#report, this.#failure, this.#progress] = [undefined, undefined, undefined];
    this.#running = this.#probe(target)
      .catch((error: unknown) => {
        this.#failure = errorText(error);
      })
      .then(() => {
        this.#running = undefined;
        this.#progress = undefined;
        this.hub.tell({ kind: 'probe' });
      });
    return this.#page();
  }

  async #probe(id: string): Promise<void> {
    const target = await this.targets.open(id);
    try {
      this.#report = await runProbe(target, {
        signal: this.#stop.signal,
        onProgress: ({ level, case: name, done, total }) => {
          this.#progress = { done, total, what: `${level}, ${name}` };
          if (done % 10 === 0) this.hub.tell({ kind: 'probe' });
        },
      });
      this.#failure = this.#report.failure;
    } finally {
      await target.close();
    }
  }

  #cell(level: string, name: string): ProbeCellPage {
    const row = this.#report?.levels.find((each) => each.level === level);
    const result = row?.results.find((each) => each.case === name);
    const probe = probeCases.find(({ id }) => id === name);
    if (row === undefined || result === undefined || probe === undefined)
      throw new NotFound('there is no such cell');
    return {
      setup: probe.case.setup,
      run: runPage(result.history, {
        witnesses: new Set(),
        finding: undefined,
        contract: findContract(row.contract),
        scheduled: probe,
      }),
    };
  }
}
