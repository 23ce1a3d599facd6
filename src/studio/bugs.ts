/** The bugs of a store as pages list and show them. */
import { createHash } from 'node:crypto';
import { describeClaim, type FindingLabel, labelOf, shortLevel } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type BugPage, bugPage, knownLine, nameEngine, shown } from '../report/index.js';
import type { BugRecord, BugStore } from '../store/index.js';
import { NotFound } from './routes.js';

export interface BugListPage {
  readonly place: string;
  readonly bugs: readonly BugLine[];
  /** Folders that could not be read, and why. */
  readonly problems: readonly string[];
}

export interface BugLine {
  readonly id: string;
  readonly title: string;
  readonly engine: string;
  readonly version: string;
  readonly settings: string;
  readonly level: string;
  readonly label: FindingLabel;
  readonly labelText: string;
  readonly kind: string;
  readonly clause: string;
  readonly count: number;
  readonly forms: number;
  readonly shown: number;
  readonly runs: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly known?: { readonly verdict: string; readonly names: string; readonly line: string };
  readonly ignored: boolean;
}

export async function bugList(store: BugStore): Promise<BugListPage> {
  const [{ bugs, problems }, ignored] = await Promise.all([store.list(), store.ignored()]);
  const passed = new Set(ignored.map(({ what }) => what));
  const lines = bugs.map((bug) => bugLine(bug, passed.has(bug.id) || passed.has(bug.signature)));
  return { place: store.place, bugs: lines, problems };
}

function bugLine(bug: BugRecord, ignored: boolean): BugLine {
  const { id, title, target, count, variants, reproduced, firstSeen, lastSeen, known, clause } = bug;
  const label = labelOf(bug);
  return {
    ...{ id, title, clause, count, firstSeen, lastSeen, label, ignored, ...reproduced },
    engine: nameEngine(target.name),
    version: target.version,
    settings: Object.entries(target.settings ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    level: shortLevel(bug.level),
    labelText: describeClaim(bug),
    kind: variants?.[0]?.kind ?? '',
    forms: variants?.length ?? 1,
    ...(known !== undefined && {
      known: {
        verdict: known.verdict,
        names: known.reports.map(({ name }) => name).join(', '),
        line: knownLine(known),
      },
    }),
  };
}

const mostPages = 20;

/** Pages of bugs, kept while the bug is the same: a trace of thousands of rows takes seconds. */
export class BugPages {
  readonly #kept = new Map<string, BugPage>();

  constructor(private readonly store: BugStore) {}

  async of(name: string): Promise<BugPage> {
    const bug = await this.store.get(name).catch((error: unknown) => {
      if (error instanceof IsoldeError && error.code === 'usage') throw new NotFound(error.message);
      throw error;
    });
    const key = createHash('sha256').update(JSON.stringify(bug)).digest('base64url');
    const page = this.#kept.get(key) ?? shown(bugPage(bug));
    this.#kept.delete(key);
    this.#kept.set(key, page);
    if (this.#kept.size > mostPages) this.#kept.delete(this.#kept.keys().next().value!);
    return page;
  }
}
