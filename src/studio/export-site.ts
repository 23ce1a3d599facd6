/**
 * `isolde studio --export`: a store as a static site, for CI artifacts and colleagues without Isolde. The same page as the studio's, with its
 * data in scripts beside it, because a page opened from a file may not fetch anything: the list at once, each bug when it is looked at.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from '../errors.js';
import { bugPage, shown } from '../report/index.js';
import { openBugStore } from '../store/index.js';
import { bugList } from './bugs.js';
import { type ClientFiles, clientFileTypes, readClient } from './client-files.js';

export interface ExportOptions {
  /** The store: a folder, or the URL of one that machines share. */
  readonly store: string;
  readonly folder: string;
  /** Where the built page lies; default: beside this program. */
  readonly client?: string;
}

export interface Exported {
  readonly bugs: number;
  /** Bugs that could not be read, and why. */
  readonly problems: readonly string[];
}

/** `file:` has no origin of its own: a page opened from a disk names the scheme. */
const policy =
  "default-src 'none'; script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; form-action 'none'";

export async function exportSite({ store: place, folder, client }: ExportOptions): Promise<Exported> {
  const files = await readClient(client);
  const store = await openBugStore(place);
  try {
    const list = await bugList(store);
    await writeAll(join(folder, 'data'), [['bugs.js', dataScript('bugs', list)]]);
    const problems = [...list.problems];
    for (const { id } of list.bugs) {
      try {
        const page = bugPage(await store.get(id));
        await writeAll(join(folder, 'data'), [[`${id}.js`, dataScript(`bugs/${id}`, page)]]);
      } catch (error) {
        if (!(error instanceof IsoldeError) || error.code === 'file-system') throw error;
        problems.push(errorText(error));
      }
    }
    await writeAll(folder, pageFiles(files));
    return { bugs: list.bugs.length, problems };
  } finally {
    await store.close();
  }
}

/** A script that says what the server would answer at a path. */
function dataScript(path: string, value: unknown): string {
  return `(globalThis.isoldeExport ??= {})[${JSON.stringify(path)}] = ${JSON.stringify(shown(value))};\n`;
}

function pageFiles(files: ClientFiles): (readonly [name: string, content: string | Uint8Array])[] {
  return Object.keys(clientFileTypes).map((name) => {
    const { content } = files.get(name === 'index.html' ? '' : name)!;
    if (name !== 'index.html') return [name, content] as const;
    const page = Buffer.from(content)
      .toString('utf8')
      .replace('<head>', `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`)
      .replace(
        '<script src="app.js"',
        '<script src="data/bugs.js" defer></script>\n    <script src="app.js"',
      );
    return [name, page] as const;
  });
}

async function writeAll(
  folder: string,
  files: readonly (readonly [name: string, content: string | Uint8Array])[],
): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of files) await writeFile(join(folder, name), content);
  } catch (error) {
    throw new IsoldeError('file-system', `cannot write ${folder}: ${errorText(error)}`, { cause: error });
  }
}
