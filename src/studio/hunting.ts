/** One hunt at a time, started and stopped from pages; all open pages watch the same one. */
import { type Level, levels } from '../contracts/index.js';
import { describeEnvironment } from '../environment.js';
import { errorText, IsoldeError } from '../errors.js';
import { profiles } from '../generate/index.js';
import {
  type HuntCounters,
  type HuntEvent,
  type HuntOptions,
  hunt,
  newCounters,
  openShelf,
  replayLine,
  templatesOfStore,
} from '../hunt/index.js';
import { usualChoice } from '../judge/index.js';
import { isSharedUrl } from '../store/index.js';
import type { NewsHub } from './events.js';
import { CoverageCounter, type HuntCoverage } from './hunt-coverage.js';
import { maybeTextIn, type Routes, textIn } from './routes.js';
import type { StudioTargets } from './studio-targets.js';

export interface HuntPage {
  readonly state: 'never' | 'running' | 'stopping' | 'done';
  readonly target?: string;
  readonly seed?: string;
  readonly counters: HuntCounters;
  /** How it went, a line each second at most: seconds, rounds, conflicts, findings, bugs. */
  readonly samples: readonly HuntSample[];
  readonly bugs: readonly {
    readonly id: string;
    readonly title: string;
    readonly seconds: number;
    readonly isNew: boolean;
  }[];
  readonly coverage: HuntCoverage;
  /** What it is busy with, and what went wrong; the last ones. */
  readonly log: readonly string[];
  readonly failure?: string;
  readonly profiles: readonly string[];
  readonly levels: readonly Level[];
}

export type HuntSample = readonly [
  seconds: number,
  rounds: number,
  conflicts: number,
  findings: number,
  bugs: number,
];

const mostSamples = 2000;
const mostLog = 30;

export class Hunting {
  #state: HuntPage['state'] = 'never';
  #about: { readonly target: string; readonly seed: string } | undefined;
  #counters = newCounters();
  #samples: HuntSample[] = [];
  #bugs: HuntPage['bugs'][number][] = [];
  #log: string[] = [];
  #failure: string | undefined;
  #coverage = new CoverageCounter();
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: string,
    private readonly targets: StudioTargets,
    private readonly hub: NewsHub,
    private readonly identify: HuntOptions['identify'],
  ) {}

  readonly routes: Routes = {
    'GET hunt': () => this.#page(),
    'POST hunt/start': ({ body }) => this.#start(body),
    'POST hunt/stop': () => {
      if (this.#state === 'running') this.#state = 'stopping';
      this.#stop.abort();
      return this.#page();
    },
  };

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  #page(): HuntPage {
    return {
      state: this.#state,
      ...this.#about,
      counters: this.#counters,
      samples: this.#samples,
      bugs: this.#bugs,
      coverage: this.#coverage.page(),
      log: this.#log,
      ...(this.#failure !== undefined && { failure: this.#failure }),
      profiles: profiles.map(({ name }) => name),
      levels,
    };
  }

  #start(body: unknown): HuntPage {
    if (this.#state === 'running' || this.#state === 'stopping')
      throw new IsoldeError('usage', 'a hunt is running already; stop it first');
    const target = textIn(body, 'target');
    const seed = maybeTextIn(body, 'seed') ?? '1';
    const profile = maybeTextIn(body, 'profile');
    const level = levelIn(maybeTextIn(body, 'level'));
    if (profile !== undefined && !profiles.some(({ name }) => name === profile))
      throw new IsoldeError('usage', `there is no workload "${profile}"`);
    const url = this.targets.choices.find(({ id }) => id === target)?.url ?? target;
    this.#about = { target: url, seed };
    this.#counters = newCounters();
    this.#coverage = new CoverageCounter();
    [this.#samples, this.#bugs, this.#log, this.#failure] = [[[0, 0, 0, 0, 0]], [], [], undefined];
    this.#stop = new AbortController();
    this.#state = 'running';
    this.#running = this.#hunt({ target, url, seed, profile, level }).then(
      () => this.#ended(),
      (error: unknown) => this.#ended(errorText(error)),
    );
    return this.#page();
  }

  async #hunt(asked: {
    readonly target: string;
    readonly url: string;
    readonly seed: string;
    readonly profile: string | undefined;
    readonly level: Level | undefined;
  }): Promise<void> {
    const { target, url, seed, profile, level } = asked;
    const shelf = await openShelf(this.store);
    const levelsAsked = level === undefined ? undefined : [level];
    try {
      const reused =
        profile !== undefined || isSharedUrl(this.store)
          ? undefined
          : await templatesOfStore(this.store, (why) => this.#note(why));
      await hunt({
        open: () => this.targets.open(target),
        shelf,
        seed,
        // Its pages show bugs, which have an order; broken bursts have none.
        bursts: { share: 0 },
        signal: this.#stop.signal,
        replayLine: replayLine({
          ...{ target: url, levels: levelsAsked, contract: usualChoice, profile, seed },
          ...{ reused: reused?.hash, store: this.store },
        }),
        environment: describeEnvironment(),
        onEvent: (event) => this.#hear(event),
        onRound: (round, history) => this.#coverage.add(round, history),
        ...(this.identify !== undefined && { identify: this.identify }),
        ...(reused !== undefined && { found: reused.templates }),
        ...(profile !== undefined && { profile }),
        ...(levelsAsked !== undefined && { levels: levelsAsked }),
      });
    } finally {
      await shelf.close();
    }
  }

  #ended(failure?: string): void {
    this.#state = 'done';
    this.#failure = failure;
    this.hub.tell({ kind: 'hunt' });
    this.hub.tell({ kind: 'bugs' });
  }

  #hear(event: HuntEvent): void {
    switch (event.kind) {
      case 'progress':
        this.#counters = { ...event.counters };
        this.#sample();
        return;
      case 'bug': {
        const { bug, isNew } = event.shelved;
        this.#bugs.push({ id: bug.id, title: bug.title, seconds: event.seconds, isNew });
        this.hub.tell({ kind: 'bugs' });
        this.hub.tell({ kind: 'hunt' });
        return;
      }
      case 'burst':
        return;
      case 'pursuing':
        this.#note(`round ${event.round.number}: ${event.finding}; confirming and reducing it`);
        return;
      case 'unconfirmed':
        this.#note(`round ${event.round.number}: ${event.finding} was not confirmed: ${event.why}`);
        return;
      case 'refused':
        this.#note(`round ${event.round.number}: the database refused it: ${event.message}`);
        return;
      case 'not-kept':
        this.#note(`round ${event.round.number}: a bug was not kept: ${event.why}`);
        return;
      case 'reopened':
        this.#note(`the database went away and was opened again: ${event.cause}`);
        return;
      case 'opened':
        this.#note(
          `${event.target.stamp.name} ${event.target.stamp.version}, held to ${event.contracts.map(({ id }) => id).join(', ')}`,
        );
        return;
      default:
        event satisfies never;
    }
  }

  #note(text: string): void {
    this.#log = [...this.#log, text].slice(-mostLog);
    this.hub.tell({ kind: 'hunt' });
  }

  /** Twice as coarse whenever there are too many: a hunt may run for days. */
  #sample(): void {
    const { seconds, rounds, conflicts, raw } = this.#counters;
    const last = this.#samples.at(-1);
    const apart = last === undefined ? 1 : Math.max(1, (seconds - this.#samples[0]![0]) / mostSamples);
    if (last !== undefined && seconds - last[0] < apart) return;
    this.#samples.push([seconds, rounds, conflicts, raw, this.#bugs.length]);
    if (this.#samples.length > 2 * mostSamples) this.#samples = this.#samples.filter((_, i) => i % 2 === 0);
    this.hub.tell({ kind: 'hunt' });
  }
}

function levelIn(text: string | undefined): Level | undefined {
  const level = levels.find((each) => each === text);
  if (text !== undefined && level === undefined)
    throw new IsoldeError('usage', `there is no level "${text}"; there are ${levels.join(', ')}`);
  return level;
}
