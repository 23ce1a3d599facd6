/**
 * Databases that stay open from job to job: starting a server takes longer than many a job. One is kept, the last one used; a job that
 * asks for another, or that saw its database go away, gets a new one.
 */
import { inOwnProcess, openTarget, type Target } from '../targets/index.js';

export class OpenTargets {
  #kept: { readonly url: string; readonly target: Target } | undefined;

  /** Opens a database for one job; what it gives back may be closed without being gone. */
  opener(url: string, { ownProcess }: { readonly ownProcess: boolean }): () => Promise<Target> {
    // What may have taken a worker with it runs in a process of its own.
    const wanted = ownProcess ? (inOwnProcess(url) ?? url) : url;
    let asked = 0;
    return async () => {
      // Asked for again by the same job, the database went away.
      if (asked++ > 0 || this.#kept?.url !== wanted) await this.close();
      this.#kept ??= { url: wanted, target: await openTarget(wanted) };
      return keptOpen(this.#kept.target);
    };
  }

  /** Closes what is kept. */
  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.target.close().catch(() => undefined);
  }
}

/** The target, but `close` leaves it open. */
function keptOpen(target: Target): Target {
  return new Proxy(target, {
    get(whole, name) {
      if (name === 'close') return () => Promise.resolve();
      const member: unknown = Reflect.get(whole, name, whole);
      return typeof member === 'function' ? member.bind(whole) : member;
    },
  });
}
