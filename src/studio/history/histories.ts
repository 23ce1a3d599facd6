/**
 * The histories that pages can open: files given when the studio was started, and those that the bugs of the store hold. A page names
 * them by their number or by a bug's id, never by a path. The last two that were opened stay in memory.
 */
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { type BugStore, bugFileNames } from '../../store/index.js';
import { makeTemporaryFolder } from '../../temporary-folder.js';
import type { NewsHub } from '../events.js';
import { type Asked, Exactly, NotFound, type Routes } from '../routes.js';
import { type CheckFile, markOf } from './findings.js';
import { type HistoryFilter, nextOperation, tileOf } from './history-window.js';
import { OpenedHistory, operationPage, type ReadHistory } from './opened-history.js';
import { readColumns, sqlColumns } from './read-columns.js';

export interface HistoryChoices {
  readonly files: readonly HistoryChoice[];
  /** Runs that bugs keep: the one that confirmed it, and the one it was found in. */
  readonly bugs: readonly HistoryChoice[];
  /** Bugs that could not be read. */
  readonly problems: readonly string[];
}

export interface HistoryChoice {
  readonly id: string;
  readonly title: string;
}

export interface HistoriesOptions {
  readonly files: readonly string[];
  readonly store: BugStore;
  readonly hub: NewsHub;
  readonly checkFile?: CheckFile | undefined;
}

const mostOpened = 2;
const mostSuggestions = 30;

export class Histories {
  readonly #opened = new Map<string, OpenedHistory>();
  readonly #stop = new AbortController();

  constructor(private readonly options: HistoriesOptions) {}

  readonly routes: Routes = {
    'GET histories': () => this.#choices(),
    'GET histories/:id': ({ params }) => this.#open(params.id!).page(),
    'POST histories/:id/check': ({ params }) => this.#open(params.id!).startCheck(this.#stop.signal),
    'GET histories/:id/tile': async (asked) => {
      const [opened, columns] = await this.#read(asked);
      const where = {
        zoom: count(asked, 'zoom', 50),
        tile: count(asked, 'tile'),
        lanes: count(asked, 'lanes'),
      };
      const tile = tileOf(columns, where, opened.mask(columns, filterOf(asked.query)));
      if ('operations' in tile) return new Exactly(tile);
      return new Exactly({ bins: packed(tile.bins), failed: packed(tile.failed) });
    },
    'GET histories/:id/next': async (asked) => {
      const [opened, columns] = await this.#read(asked);
      const mask = opened.mask(columns, filterOf(asked.query));
      const from = asked.query.has('from') ? count(asked, 'from', columns.count - 1) : undefined;
      const backwards = asked.query.get('backwards') === '1';
      const index = nextOperation(columns, { from, backwards, ...(mask !== undefined && { mask }) });
      return index === undefined ? {} : { operation: operationPage(columns, index) };
    },
    'GET histories/:id/operations/:index': async (asked) => {
      const [, columns] = await this.#read(asked);
      const index = Number(asked.params.index);
      if (!Number.isInteger(index) || index < 0 || index >= columns.count)
        throw new NotFound(`there is no operation ${asked.params.index}`);
      return operationPage(columns, index);
    },
    'GET histories/:id/objects': async (asked) => {
      const [, { objectNames }] = await this.#read(asked);
      const like = (asked.query.get('like') ?? '').toLowerCase();
      const found: string[] = [];
      for (const name of objectNames) {
        if (name.toLowerCase().includes(like)) found.push(name);
        if (found.length === mostSuggestions) break;
      }
      return new Exactly(found);
    },
  };

  close(): void {
    this.#stop.abort();
  }

  async #choices(): Promise<HistoryChoices> {
    const { bugs, problems } = await this.options.store.list();
    return {
      problems,
      files: this.options.files.map((file, i) => ({ id: `file-${i}`, title: file })),
      bugs: bugs.flatMap(({ id, title, raw }) => [
        { id: `bug-${id}`, title: `${title}: the run that confirmed it` },
        ...(raw === undefined ? [] : [{ id: `raw-${id}`, title: `${title}: the run it was found in` }]),
      ]),
    };
  }

  async #read({ params }: Asked) {
    const opened = this.#open(params.id!);
    return [opened, await opened.columns] as const;
  }

  #open(id: string): OpenedHistory {
    const known = this.#opened.get(id);
    const opened = known ?? this.#start(id);
    // The one used last is the last to go.
    this.#opened.delete(id);
    this.#opened.set(id, opened);
    if (this.#opened.size > mostOpened) this.#opened.delete(this.#opened.keys().next().value!);
    return opened;
  }

  #start(id: string): OpenedHistory {
    const changed = () => this.options.hub.tell({ kind: 'history', id });
    const file = /^file-\d+$/.test(id) ? this.options.files[Number(id.slice(5))] : undefined;
    if (file !== undefined)
      return new OpenedHistory(
        { title: file, file, changed },
        async (onProgress) => ({ columns: await readColumns(file, onProgress) }),
        this.options.checkFile,
      );
    const [kind, bug] = [id.slice(0, 4), id.slice(4)];
    if (kind === 'bug-') return new OpenedHistory({ title: bug, changed }, () => this.#confirmed(bug));
    if (kind === 'raw-') return new OpenedHistory({ title: bug, changed }, () => this.#raw(bug));
    throw new NotFound(`there is no history "${id}"`);
  }

  /** The run that confirmed a bug, with its finding. */
  async #confirmed(id: string): Promise<ReadHistory> {
    const { history, finding } = await this.options.store.get(id);
    const columns = sqlColumns(history);
    const findings = [markOf(finding, columns)];
    return { columns, check: { state: 'done', valid: false, reasons: [], findings, more: 0 } };
  }

  /** The run a bug was found in, before reduction; stores of every kind can write it to a folder. */
  async #raw(id: string): Promise<ReadHistory> {
    const folder = await makeTemporaryFolder('history');
    try {
      const exported = await this.options.store.exportTo(id, folder.path);
      return { columns: await readColumns(join(exported, bugFileNames.raw)) };
    } finally {
      await folder.remove();
    }
  }
}

function packed(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function filterOf(query: URLSearchParams): HistoryFilter {
  const text = (name: string) => query.get(name) || undefined;
  const [session, transaction, object, part] = ['session', 'transaction', 'object', 'text'].map(text);
  return {
    ...(session !== undefined && { session: Number(session) }),
    ...(transaction !== undefined && { transaction }),
    ...(object !== undefined && { object }),
    ...(part !== undefined && { text: part }),
    ...(query.get('failed') === '1' && { failed: true }),
  };
}

/** A part of the query that must be a whole number from 0 on. */
function count({ query }: Asked, name: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(query.get(name) ?? Number.NaN);
  if (Number.isSafeInteger(value) && value >= 0 && value <= most) return value;
  throw new IsoldeError('usage', `"${name}" must be a whole number from 0 to ${most}`);
}
