/** Engines with and without a fault: one server for all, each build a wrapper around it. */
import { Database } from '../../judge/index.js';
import {
  type FaultSpec,
  openTarget,
  showFault,
  type Target,
  UnfitFault,
  withFault,
} from '../../targets/index.js';

/** Each may have some ten sessions, auxiliary ones of its fault included. */
const mostOpen = 12;

export class Builds {
  readonly #engines = new Map<string, Promise<Target>>();
  readonly #databases = new Map<string, Promise<Database>>();

  /** A target whose `close` leaves the server to the others. */
  async target(engine: string, fault?: FaultSpec): Promise<Target> {
    let opened = this.#engines.get(engine);
    if (opened === undefined) {
      opened = openTarget(engine);
      this.#engines.set(engine, opened);
    }
    const shared = borrow(await opened);
    return fault === undefined ? shared : withFault(shared, fault);
  }

  /** Where cases are run and judged; those used last are kept open, because a server has only so many connections. */
  async database(engine: string, fault?: FaultSpec): Promise<Database> {
    const name = `${engine} ${fault === undefined ? '' : showFault(fault)}`;
    const opened = this.#databases.get(name) ?? Database.open({ open: () => this.target(engine, fault) });
    this.#databases.delete(name);
    this.#databases.set(name, opened);
    const [oldest] = this.#databases;
    if (oldest !== undefined && this.#databases.size > mostOpen) {
      this.#databases.delete(oldest[0]);
      await (await oldest[1]).close();
    }
    return opened;
  }

  async close(): Promise<void> {
    for (const database of this.#databases.values()) await (await database).close();
    for (const engine of this.#engines.values()) await (await engine).close();
    this.#databases.clear();
    this.#engines.clear();
  }
}

function borrow(target: Target): Target {
  const { name, dialect, stamp, levels, defaultLevel, features } = target;
  return {
    ...{ name, dialect, stamp, levels, defaultLevel, features },
    createScratch: () => target.createScratch(),
    reach: async () => (await target.reach?.()) ?? { kind: 'unknown' },
    close: async () => undefined,
  };
}

/** The wrapper refuses faults of features that an engine lacks; nothing else may pass for that. */
export function isUnfit(error: unknown): boolean {
  return error instanceof UnfitFault;
}
