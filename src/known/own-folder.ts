/**
 * The user's own folder of known bugs: entries in `own.jsonl`, beside them `cases/` and the texts of reports without one (`texts/`). Files are
 * replaced as a whole.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printScript, type ScheduledCase } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import { type KnownEntry, parseEntries, printEntry } from './entry.js';
import { mostTextChars } from './import-report.js';
import type { CaseSource } from './known-case.js';

export interface OwnReport {
  readonly entry: KnownEntry;
  readonly case?: Required<ScheduledCase>;
  /** Lines for the head of its script: what is wrong when the bug shows. */
  readonly wrong?: readonly string[];
  /** What its case was written from. */
  readonly source?: CaseSource;
  /** What a report without a case says, as it is. */
  readonly text?: string;
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
      await keepText(textFile(folder, report.entry.id), report.text);
    }
    await replace(file, [...entries.values()].map(printEntry).join(''));
  } catch (error) {
    if (error instanceof IsoldeError) throw error;
    throw new IsoldeError('file-system', `cannot write ${folder}: ${errorText(error)}`, { cause: error });
  }
}

const textFile = (folder: string, id: string): string => join(folder, 'texts', `${id}.txt`);

/** What a report in a user's folder says, where it has no case; undefined: nothing is kept of it. */
export async function readReportText(folder: string, id: string): Promise<string | undefined> {
  const text = await readFile(textFile(folder, id), 'utf8').catch(() => undefined);
  return text?.slice(0, 2 * mostTextChars);
}

async function keepText(file: string, text: string | undefined): Promise<void> {
  if (text === undefined) return rm(file, { force: true });
  await mkdir(dirname(file), { recursive: true });
  await replace(file, text);
}

function scriptOf(scheduled: Required<ScheduledCase>, { entry, wrong = [], source }: OwnReport): string {
  const description = entry.about === '' ? {} : { description: entry.about };
  const script = printScript({ ...scheduled, case: { ...scheduled.case, name: entry.id, ...description } });
  const [first, ...rest] = script.split('\n');
  const head = [
    ...(source === undefined ? [] : [`-- source: ${source}`]),
    ...wrong.map((line) => `-- wrong: ${line}`),
  ];
  return [first, ...head, ...rest].join('\n');
}

async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  await writeFile(beside, text);
  await rename(beside, file);
}
