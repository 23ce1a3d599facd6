/** Whether a fault strikes: which statements are occasions, and which occasion it is. */
import { writtenNameKey } from '../../sql/index.js';
import type { FaultSpec } from './fault-spec.js';
import type { Shape } from './statement-shape.js';

/** A certifier that misses a conflict misses one of a thousand unless told otherwise. */
function usually({ name }: FaultSpec): number | undefined {
  return name === 'missed-certification' ? 1000 : undefined;
}

export class Trigger {
  #count = 0;
  readonly #match: RegExp | undefined;

  constructor(readonly spec: FaultSpec) {
    this.#match = spec.match === undefined ? undefined : new RegExp(spec.match, 'i');
  }

  /** Counts again from the start. */
  reset(): void {
    this.#count = 0;
  }

  /** Counts the occasion if one of these statements passes the filters; true when the fault strikes. */
  fires(about: readonly Shape[]): boolean {
    if (!about.some((statement) => this.#passes(statement))) return false;
    this.#count++;
    const { nth, every = usually(this.spec) } = this.spec;
    if (nth !== undefined) return this.#count === nth;
    return every === undefined || this.#count % every === 0;
  }

  #passes(statement: Shape): boolean {
    const { table, kind } = this.spec;
    if (table !== undefined && !statement.words.has(writtenNameKey(table, statement.dialect))) return false;
    if (kind !== undefined && statement.kind !== kind.toLowerCase()) return false;
    return this.#match === undefined || this.#match.test(statement.sql);
  }
}
