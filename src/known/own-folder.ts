/** The user's own folder of known bugs: entries in `own.jsonl`, their cases beside them. Files are replaced as a whole. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printScript, type ScheduledCase } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { type KnownEntry, parseEntries, printEntry } from './entry.js';

export interface OwnReport {
  readonly entry: KnownEntry;
  readonly case?: Required<ScheduledCase>;
  /** Lines for the head of its script: what is wrong when the bug shows. */
  readonly wrong?: readonly string[];
}

/** Adds entries to a folder, replacing those of the same id. */
export async function addToFolder(folder: string, reports: readonly OwnReport[]): Promise<void> {
  const file = join(folder, 'own.jsonl');
  try {
    await mkdir(join(folder, 'cases'), { recursive: true });
    const before = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const entries = new Map(parseEntries(before, file).map((entry) => [entry.id, entry]));
    for (const { entry } of reports) entries.set(entry.id, entry);
    for (const report of reports) {
      if (report.case !== undefined)
        await replace(join(folder, 'cases', `${report.entry.id}.sql`), scriptOf(report.case, report));
    }
    await replace(file, [...entries.values()].map(printEntry).join(''));
  } catch (error) {
    if (error instanceof IsoldeError) throw error;
    throw new IsoldeError('file-system', `cannot write ${folder}: ${errorText(error)}`, { cause: error });
  }
}

function scriptOf(scheduled: Required<ScheduledCase>, { entry, wrong = [] }: OwnReport): string {
  const description = entry.about === '' ? {} : { description: entry.about };
  const script = printScript({ ...scheduled, case: { ...scheduled.case, name: entry.id, ...description } });
  const [first, ...rest] = script.split('\n');
  return [first, ...wrong.map((line) => `-- wrong: ${line}`), ...rest].join('\n');
}

async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  await writeFile(beside, text);
  await rename(beside, file);
}
