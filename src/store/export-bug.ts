/** Writes a bug's folder: data, reports and exports, whatever kind of store the bug comes from. */
import { join } from 'node:path';
import { IsoldeError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import type { Bug } from '../report/index.js';
import { changingFiles, fileNames, fixedFiles } from './bug-folder.js';
import { exists, type StoreFiles } from './files.js';

export interface ExportedBug {
  readonly bug: Bug;
  /** The text of `runs.jsonl`. */
  readonly runs: string;
  /** A file to copy as the raw history. */
  readonly raw?: string;
}

/** Writes the files that follow from a bug into a new folder; `more` writes the others. */
export async function writeBugFolder(
  files: StoreFiles,
  folder: string,
  bug: Bug,
  more: () => Promise<void>,
): Promise<void> {
  await files.makeFolder(join(folder, fileNames.exports));
  for (const { name, text } of [...fixedFiles(bug), ...changingFiles(bug)])
    await files.write(join(folder, name), text);
  await files.writeHistory(join(folder, fileNames.history), bug.history);
  await more();
  await files.syncFolder(folder);
}

/** Writes `into/<id>`, which must not exist; a kill leaves nothing of that name. */
export async function exportBug(
  { bug, runs, raw }: ExportedBug,
  into: string,
  files: StoreFiles,
): Promise<string> {
  const to = join(into, bug.id);
  if (await exists(to)) throw new IsoldeError('file-system', `cannot write ${to}: it exists already`);
  const temporary = `${to}.part-${process.pid}`;
  try {
    await writeBugFolder(files, temporary, bug, async () => {
      if (raw !== undefined) await files.copy(raw, join(temporary, fileNames.raw));
      await files.write(join(temporary, fileNames.runs), runs);
    });
    await files.rename(temporary, to);
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw fileProblem('write', to, error);
  }
  return to;
}
