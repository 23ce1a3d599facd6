/** Where a hunt's bugs go: the store's folder, one folder a bug, with reports and exports beside the data. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { History } from '../histories/index.js';
import { type Bug, exportFiles, reportHtml, reportMarkdown } from '../report/index.js';
import type { Shelf, Shelved } from './hunt.js';

export interface ShelfOptions {
  /** Known bugs, by id or signature. */
  readonly ignore?: readonly string[];
  readonly keepUnconfirmed?: boolean;
}

export async function openShelf(
  folder: string,
  { ignore = [] }: ShelfOptions = {},
): Promise<Shelf & { close(): Promise<void> }> {
  const known = new Map<string, Shelved>();
  return {
    isIgnored: ({ id, signature }) => ignore.includes(id) || ignore.includes(signature),
    async add(bug: Bug, _raw: History): Promise<Shelved> {
      const before = known.get(bug.id);
      if (before !== undefined) return { ...before, isNew: false };
      const place = join(folder, 'bugs', bug.id);
      await mkdir(place, { recursive: true });
      const files = [
        { name: 'report.md', text: reportMarkdown(bug) },
        { name: 'report.html', text: reportHtml(bug) },
        ...exportFiles(bug),
      ];
      for (const { name, text } of files) await writeFile(join(place, name), text);
      const shelved = { bug, isNew: true, files: files.slice(0, 2).map(({ name }) => join(place, name)) };
      known.set(bug.id, shelved);
      return shelved;
    },
    seenAgain: () => undefined,
    close: async () => undefined,
  };
}
