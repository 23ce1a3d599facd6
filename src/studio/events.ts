/**
 * News for open pages, as server-sent events: which part changed, and whose. Pages ask for the content again themselves, so that
 * a page that missed some news shows the truth with the next.
 */
import type { BugStore } from '../store/index.js';

export type NewsKind = 'bugs' | 'hunt' | 'probe' | 'shrink' | 'history';

export interface News {
  readonly kind: NewsKind;
  readonly id?: string;
}

export class NewsHub {
  readonly #listeners = new Set<(news: News) => void>();

  tell(news: News): void {
    for (const listener of this.#listeners) listener(news);
  }

  /** Returns what ends it. */
  listen(listener: (news: News) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }
}

const leastMs = 1000;
/** Looking takes up a twentieth of the time, however large the store is; */
const share = 20;
/** but a moment in which the process was busy with something else is no reason to look away for long. */
const mostMs = 5000;

/** Tells when the store changed, whoever changed it; looks only while somebody listens. */
export function watchStore(store: BugStore, hub: NewsHub): () => void {
  let last: string | undefined;
  let timer: NodeJS.Timeout;
  let stopped = false;
  const look = async () => {
    const began = performance.now();
    if (hub.isHeard) {
      const now = await storeState(store).catch(() => last);
      if (last !== undefined && now !== last) hub.tell({ kind: 'bugs' });
      last = now;
    }
    again(Math.min(mostMs, Math.max(leastMs, share * (performance.now() - began))));
  };
  const again = (ms: number) => {
    if (stopped) return;
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  again(leastMs);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function storeState(store: BugStore): Promise<string> {
  const [{ bugs, problems }, ignored] = await Promise.all([store.list(), store.ignored()]);
  const seen = bugs.map(({ id, count, lastSeen, known }) => [id, count, lastSeen, known]);
  return JSON.stringify([seen, problems, ignored]);
}
