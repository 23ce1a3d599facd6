/** How much a check may cost: seconds by a clock that is passed in, and bytes for the tables it builds. */
export interface EffortLimits {
  /** Seconds a check may take before what is still open becomes `unknown`. */
  readonly seconds: number;
  /** Bytes the clocks and choices of one question may take. */
  readonly memoryBytes: number;
}

export const defaultEffort: EffortLimits = { seconds: 60, memoryBytes: 4 * 1024 ** 3 };

export class Effort {
  readonly limits: EffortLimits;
  readonly #now: () => number;
  readonly #until: number;
  readonly #report: (stage: string) => void;

  /** `now` counts milliseconds. */
  constructor(
    limits: EffortLimits = defaultEffort,
    now: () => number = () => performance.now(),
    report: (stage: string) => void = () => {},
  ) {
    this.limits = limits;
    this.#now = now;
    this.#until = now() + limits.seconds * 1000;
    this.#report = report;
  }

  /** Seconds left, never below 0. */
  left(): number {
    return Math.max(0, (this.#until - this.#now()) / 1000);
  }

  spent(): boolean {
    return this.#now() >= this.#until;
  }

  /** The same clock with an earlier end: `part` of what is left. */
  share(part: number): Effort {
    return new Effort({ ...this.limits, seconds: this.left() * part }, this.#now, this.#report);
  }

  /** The same clock, from now on for `seconds`: for what must be said even when the time is up. */
  again(seconds: number): Effort {
    return new Effort({ ...this.limits, seconds }, this.#now, this.#report);
  }

  progress(stage: string): void {
    this.#report(stage);
  }
}
