/**
 * Bugs from somebody else: a bug's folder, a folder of such folders, or another store. Nothing in them is run, and nothing
 * but data is taken over: ids, signatures and titles are computed anew, reports and exports are not read. Runs, the command that found
 * the bug and what it was taken for are looked at field by field (`foreign-facts.ts`).
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { IsoldeError } from '../errors.js';
import { readHistory } from '../histories/index.js';
import { openKnown } from '../known/index.js';
import { type Bug, makeBug, type VersionTried } from '../report/index.js';
import { findForbiddenStatement, sqlOfCase } from '../targets/index.js';
import { parseRuns, type RunLine } from './bug-file.js';
import { fileNames, readBug } from './bug-folder.js';
import { exists, namesIn, readText } from './files.js';
import { foreignKnown, foreignReplay, foreignRuns } from './foreign-facts.js';

export interface ForeignBug {
  readonly bug: Bug;
  /** Its raw history, a file that was read to its end. */
  readonly raw: string | undefined;
  /** Each time it was found or tried again; empty: nobody says. */
  readonly runs: readonly RunLine[];
}

export interface ForeignOptions {
  /** The user vouches for SQL that is not on the allow-list. */
  readonly trust?: boolean;
  /** One of several bugs cannot be read or is refused, and is left out. */
  readonly onProblem?: (why: string) => void;
}

/** Reads them all. One that cannot be taken in does not stop the others; if none can, that is an error. */
export async function readForeignBugs(
  folder: string,
  { trust = false, onProblem = () => undefined }: ForeignOptions,
): Promise<ForeignBug[]> {
  const folders = await bugFolders(folder);
  if (folders.length === 0) {
    throw new IsoldeError(
      'bad-file',
      `${folder} is no bug's folder and holds none; a bug's folder has a ${fileNames.record}`,
    );
  }
  const bugs: ForeignBug[] = [];
  const problems: IsoldeError[] = [];
  for (const each of folders) {
    try {
      bugs.push(await readForeignBug(each, trust));
    } catch (error) {
      if (!(error instanceof IsoldeError) || !['bad-file', 'safety'].includes(error.code)) throw error;
      problems.push(error);
    }
  }
  if (bugs.length === 0) throw problems[0]!;
  for (const { message } of problems) onProblem(message);
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
  const file = join(folder, fileNames.runs);
  const runs = foreignRuns(parseRuns((await readText(file)) ?? '', file));
  const known = read.known === undefined ? undefined : foreignKnown(read.known, (await openKnown()).bugs);
  const replay = foreignReplay(read.replay);
  const bug = makeBug({ ...read, at: read.firstSeen, replay, known, versions: versionsIn(runs) });
  return { bug: { ...bug, lastSeen: read.lastSeen }, raw: hasRaw ? raw : undefined, runs };
}

function versionsIn(runs: readonly RunLine[]): VersionTried[] {
  return runs.flatMap((run) => {
    if (run.kind !== 'rerun') return [];
    const { kind, ...tried } = run;
    return [tried];
  });
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
