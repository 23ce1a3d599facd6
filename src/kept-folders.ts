/**
 * What a store keeps besides bugs: a shelf is a folder of folders, one for each thing that was found, with a file that says all of it and texts for
 * people (docs/decisions/counterexamples.md). A folder is written beside and renamed, so that a kill leaves the old one or the new one.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, IsoldeError } from './errors.js';

/** One folder of a shelf, and what its file says. */
export interface Kept<File> {
  readonly id: string;
  readonly folder: string;
  readonly file: File;
}

/** Writes a folder with these files; one of the same name is replaced as a whole. */
export function replaceFolder(folder: string, files: Readonly<Record<string, string>>): void {
  const fresh = `${folder}.new-${process.pid}`;
  try {
    mkdirSync(fresh, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(fresh, name), text);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } catch (cause) {
    try {
      rmSync(fresh, { recursive: true, force: true });
    } catch {
      // Whatever keeps us from cleaning up is what kept us from writing.
    }
    throw new IsoldeError('file-system', `cannot write ${folder}: ${errorText(cause)}`, { cause });
  }
}

/** The folders of a shelf, by their names; files that cannot be read are problems, and hide no others. */
export async function listKept<File>(
  shelf: string,
  name: string,
  parse: (text: string, file: string) => File,
): Promise<{ readonly kept: readonly Kept<File>[]; readonly problems: readonly string[] }> {
  const ids = await readdir(shelf).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw new IsoldeError('file-system', `cannot read ${shelf}: ${errorText(error)}`, { cause: error });
  });
  const kept: Kept<File>[] = [];
  const problems: string[] = [];
  for (const id of ids.filter((each) => !each.includes('.new-')).sort()) {
    const folder = join(shelf, id);
    const file = join(folder, name);
    try {
      kept.push({ id, folder, file: parse(await readFile(file, 'utf8'), file) });
    } catch (error) {
      problems.push(`${file}: ${errorText(error)}`);
    }
  }
  return { kept, problems };
}
