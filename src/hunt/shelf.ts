/**
 * The shelf of a hunt: the store (`store/`), with the known bugs of this hunt on top.
 *
 * Raw findings that only look like a bug already kept are counted in memory and added to its count in the end: they come
 * by the hundred, and each would otherwise rewrite a file.
 */
import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { type History, writeWholeHistory } from '../histories/index.js';
import type { Bug } from '../report/index.js';
import type { Dialect } from '../sql/index.js';
import { isSharedUrl, openBugStore, openStore, type StoreFiles } from '../store/index.js';
import { type BurstFinding, keepBurst } from './burst/index.js';
import type { Shelf, Shelved } from './hunt-options.js';
import { notesFolder } from './notes-folder.js';
import type { Round } from './round.js';

export interface ShelfOptions {
  /** Known bugs, by id or signature, besides those the store ignores. */
  readonly ignore?: readonly string[];
  /** Keep the histories of findings that did not reproduce under `unconfirmed/`. */
  readonly keepUnconfirmed?: boolean;
  /** How files are written; default: on the disk. */
  readonly files?: StoreFiles;
}

export interface OpenShelf extends Shelf {
  /** Writes down what is only counted yet. */
  close(): Promise<void>;
}

const reports = ['report.md', 'report.html'];

/** `folder`: of the store, or the URL of one that machines share, which has no files to name. */
export async function openShelf(folder: string, options: ShelfOptions = {}): Promise<OpenShelf> {
  const { ignore = [], keepUnconfirmed = false } = options;
  const own = isSharedUrl(folder)
    ? undefined
    : await openStore(folder, options.files === undefined ? {} : { files: options.files });
  const store = own ?? (await openBugStore(folder));
  const again = new Map<string, { readonly bug: Bug; count: number }>();
  return {
    isIgnored: async (bug) =>
      ignore.includes(bug.id) || ignore.includes(bug.signature) || store.isIgnored(bug),
    async add(bug: Bug, raw: History): Promise<Shelved> {
      const { id, isNew } = await store.add(bug, { raw });
      if (!again.has(bug.id)) again.set(bug.id, { bug, count: 0 });
      if (own === undefined) return { bug, isNew, files: [] };
      const place = relative(process.cwd(), own.folderOf(id));
      const shown = place.startsWith('..') ? own.folderOf(id) : place;
      return { bug, isNew, files: reports.map((name) => join(shown, name)) };
    },
    ...(own !== undefined && {
      addBurst: async (finding: BurstFinding, dialect: Dialect) => {
        const {
          id,
          isNew,
          folder: place,
        } = await keepBurst(folder, finding, {
          at: new Date().toISOString(),
          dialect,
        });
        return { id, isNew, folder: place, finding };
      },
    }),
    seenAgain(id: string): void {
      const known = again.get(id);
      if (known !== undefined) known.count++;
    },
    ...(keepUnconfirmed && {
      keepUnconfirmed: (round: Round, history: History, why: string) =>
        keep(notesFolder(folder), round, history, why),
    }),
    async close(): Promise<void> {
      for (const { bug, count } of again.values()) {
        if (count > 0) await store.add({ ...bug, count });
      }
      again.clear();
      await store.close();
    },
  };
}

async function keep(folder: string, round: Round, history: History, why: string): Promise<void> {
  const place = join(folder, 'unconfirmed');
  const file = join(place, `${round.case.name.replaceAll(/[^\w.-]+/g, '-')}-${round.number}.history.jsonl`);
  try {
    await mkdir(place, { recursive: true });
    await writeWholeHistory(file, { ...history, header: { ...history.header, replay: why } });
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${file}: ${errorText(error)}`, { cause: error });
  }
}
