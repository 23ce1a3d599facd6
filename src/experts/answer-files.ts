/** Answers kept on the disk, one small file each, by the hash of the question. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mostAnswerChars } from './endpoint.js';
import type { AnswerCache } from './panel.js';

export function answersIn(folder: string): AnswerCache {
  const place = (key: string) => join(folder, key.slice(0, 2), `${key}.txt`);
  return {
    async get(key) {
      const text = await readFile(place(key), 'utf8').catch(() => undefined);
      return text === undefined || text.length > mostAnswerChars ? undefined : text;
    },
    async set(key, text) {
      const file = place(key);
      await mkdir(join(folder, key.slice(0, 2)), { recursive: true });
      // Whole or not at all: another process may read it at this moment.
      await writeFile(`${file}.${process.pid}`, text);
      await rename(`${file}.${process.pid}`, file);
    },
  };
}
