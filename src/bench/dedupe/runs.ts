/**
 * Runs of cases on builds, each kept: the same question is asked by many bugs and every method. A run that is taken from what is kept counts with the time
 * it took, so that the time of an answer is what it would be alone.
 */
import type { Observed, RunRequest } from '../../judge/index.js';
import type { Build } from '../../known/index.js';
import { parseFault } from '../../targets/index.js';
import type { Builds } from './builds.js';

/** An engine, with a fault or none. */
export interface BuildSpec {
  readonly url: string;
  readonly fault?: string | undefined;
}

interface KeptRun {
  readonly observed: Observed;
  readonly ms: number;
}

/** Each holds a history of some kilobytes. */
const mostKept = 40_000;

export class Runs {
  readonly #kept = new Map<string, Promise<KeptRun>>();
  readonly #places = new Map<string, Promise<Build>>();
  /** Milliseconds of running, for everything that was asked; and those that were really spent. */
  spentMs = 0;
  reallySpentMs = 0;

  constructor(private readonly builds: Builds) {}

  /** A build as a place where cases are run; its name must not say which fault it has. */
  place(spec: BuildSpec, name: string): Promise<Build> {
    const key = JSON.stringify([spec.url, spec.fault, name]);
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#open(spec, name);
      this.#places.set(key, place);
    }
    return place;
  }

  async #open(spec: BuildSpec, name: string): Promise<Build> {
    const { target } = await this.#database(spec);
    return { name, target, observe: (request, again) => this.observe(request, spec, again) };
  }

  #database({ url, fault }: BuildSpec) {
    return this.builds.database(url, fault === undefined ? undefined : parseFault(fault));
  }

  /** Runs a request on a build; the same request only once, unless it is asked for again. */
  async observe(request: RunRequest, on: BuildSpec, again?: string): Promise<Observed> {
    const { case: program, schedule, level, oracle, contract } = request;
    const asked = [program.setup, program.sessions, schedule, level, oracle, contract?.id, again];
    const key = JSON.stringify([on.url, on.fault, ...asked]);
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      kept = this.#run(request, on);
      this.#kept.set(key, kept);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > mostKept) this.#kept.delete(oldest!);
    }
    const { observed, ms } = await kept;
    this.spentMs += ms;
    return observed;
  }

  async #run(request: RunRequest, on: BuildSpec): Promise<KeptRun> {
    const database = await this.#database(on);
    const began = performance.now();
    const observed = await database.observe(request, 0);
    const ms = performance.now() - began;
    this.reallySpentMs += ms;
    return { observed, ms };
  }
}
