/** The built page: a handful of files, read once. A request names one of them or gets nothing; no path is ever made of a request. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtPageFolder } from '../built-page.js';
import { errorText, IsoldeError } from '../errors.js';

export interface ClientFile {
  readonly type: string;
  readonly content: Uint8Array;
}

export type ClientFiles = ReadonlyMap<string, ClientFile>;

/** What a build writes (`scripts/bundle-studio.mjs`), with the types browsers insist on. */
export const clientFileTypes: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
};

/** The files by the path they are asked for; the empty path is the page. */
export async function readClient(folder?: string): Promise<ClientFiles> {
  const place = folder ?? builtPageFolder('index.html') ?? 'dist/bin/studio';
  const files = new Map<string, ClientFile>();
  for (const [name, type] of Object.entries(clientFileTypes)) {
    try {
      files.set(name === 'index.html' ? '' : name, { type, content: await readFile(join(place, name)) });
    } catch (error) {
      throw new IsoldeError(
        'file-system',
        `the studio's page is not built (${errorText(error)}); run npm run build`,
        { cause: error },
      );
    }
  }
  return files;
}
