/**
 * Bugs from somebody else: a bug's folder, a folder of such folders, or another store. Nothing in them is run, and nothing
 * but data is taken over: ids, signatures, titles and replay lines are computed anew, reports and exports are not read.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { IsoldeError } from '../errors.js';
import { readHistory } from '../histories/index.js';
import { type Bug, makeBug } from '../report/index.js';
import { findForbiddenStatement, sqlOfCase } from '../targets/index.js';
import { fileNames, readBug } from './bug-folder.js';
import { exists, namesIn } from './files.js';

export interface ForeignBug {
  readonly bug: Bug;
  /** Its raw history, a file that was read to its end. */
  readonly raw: string | undefined;
}

/** Reads them all or none: a bad one among them must not leave half an import. */
export async function readForeignBugs(folder: string, trust: boolean): Promise<ForeignBug[]> {
  const folders = await bugFolders(folder);
  if (folders.length === 0) {
    throw new IsoldeError(
      'bad-file',
      `${folder} is no bug's folder and holds none; a bug's folder has a ${fileNames.record}`,
    );
  }
  const bugs: ForeignBug[] = [];
  for (const each of folders) bugs.push(await readForeignBug(each, trust));
  return bugs;
}

async function readForeignBug(folder: string, trust: boolean): Promise<ForeignBug> {
  const read = await readBug(folder);
  const forbidden = trust
    ? undefined
    : findForbiddenStatement(sqlOfCase(read.case), read.case.dialect ?? read.history.header.dialect);
  if (forbidden !== undefined) throw new IsoldeError('safety', `${folder} is not imported: ${forbidden}`);
  const raw = join(folder, fileNames.raw);
  const hasRaw = await exists(raw);
  if (hasRaw) await checkHistory(raw);
  const bug = makeBug({ ...read, at: read.firstSeen, replay: undefined });
  return { bug: { ...bug, lastSeen: read.lastSeen }, raw: hasRaw ? raw : undefined };
}

async function bugFolders(folder: string): Promise<string[]> {
  if (await exists(join(folder, fileNames.record))) return [folder];
  const inside = (await exists(join(folder, 'bugs'))) ? join(folder, 'bugs') : folder;
  const found: string[] = [];
  for (const name of await namesIn(inside))
    if (await exists(join(inside, name, fileNames.record))) found.push(join(inside, name));
  return found;
}

/** A raw history is gone through, never kept whole. */
const mostRawBytes = 1024 ** 3;

async function checkHistory(file: string): Promise<void> {
  if (!(await lstat(file)).isFile()) throw new IsoldeError('bad-file', `${file} is not a plain file`);
  const reader = await readHistory(file, { maxBytes: mostRawBytes });
  for await (const _ of reader.operations);
}
