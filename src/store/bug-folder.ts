/**
 * The folder of one bug: what is in it, and how it is read back. Whatever a folder holds is untrusted: every file is
 * validated, the identity of the bug is computed anew from its case, and reports are never read, only written.
 */
import { basename, join } from 'node:path';
import { parseCaseFile, printCaseFile, printScript, serialOrder } from '../cases/index.js';
import { signatureVersion } from '../dedupe/index.js';
import { FileError } from '../errors.js';
import { readWholeHistory } from '../histories/index.js';
import {
  type Bug,
  exportFiles,
  makeBug,
  reportHtml,
  reportMarkdown,
  type VersionTried,
} from '../report/index.js';
import { parseRecord, parseRuns, printRecord, recordOf } from './bug-file.js';
import { mostBytes, readText } from './files.js';
import { parseFinding, printFinding } from './finding-file.js';

export const fileNames = {
  record: 'bug.json',
  script: 'case.sql',
  case: 'case.case.json',
  finding: 'finding.json',
  history: 'confirmed.history.jsonl',
  raw: 'raw.history.jsonl.gz',
  runs: 'runs.jsonl',
  markdown: 'report.md',
  page: 'report.html',
  exports: 'exports',
} as const;

/** The files that say what the bug is; they never change. */
export function fixedFiles(bug: Bug): { readonly name: string; readonly text: string }[] {
  return [
    { name: fileNames.script, text: printScript(bug) },
    { name: fileNames.case, text: printCaseFile(bug) },
    { name: fileNames.finding, text: printFinding(bug.finding) },
    ...exportFiles(bug).map(({ name, text }) => ({ name: join(fileNames.exports, name), text })),
  ];
}

/** The files that change when the bug is seen or tried again. */
export function changingFiles(bug: Bug): { readonly name: string; readonly text: string }[] {
  return [
    { name: fileNames.record, text: printRecord(recordOf(bug), signedBy(bug)) },
    { name: fileNames.markdown, text: reportMarkdown(bug) },
    { name: fileNames.page, text: reportHtml(bug) },
  ];
}

/** The version of signatures that a bug is signed with, if it is today's. */
export function signedBy(bug: Bug): number | undefined {
  return makeBug({ ...bug, at: bug.firstSeen }).signature === bug.signature ? signatureVersion : undefined;
}

/**
 * In a store a bug's id is the name of its folder: everything that writes goes by the id, which in a shared store is
 * anybody's text.
 */
export function checkHome({ id }: Pick<Bug, 'id'>, folder: string): void {
  const name = basename(folder);
  if (id === name) return;
  throw new FileError(
    { file: join(folder, fileNames.record), field: 'id' },
    `expected ${JSON.stringify(name)}, the name of the folder, found ${JSON.stringify(id)}`,
  );
}

/** Reads the bug in a folder of a store. */
export async function readStoredBug(folder: string): Promise<Bug> {
  const bug = await readBug(folder);
  checkHome(bug, folder);
  return bug;
}

/** Reads the bug in a folder, whatever the folder's name. */
export async function readBug(folder: string): Promise<Bug> {
  const file = (name: string) => join(folder, name);
  const needed = async (name: string) => {
    const text = await readText(file(name));
    if (text === undefined)
      throw new FileError({ file: file(name) }, 'the file is missing; a bug cannot be without it');
    return text;
  };
  const record = parseRecord(await needed(fileNames.record), file(fileNames.record));
  const { case: program, schedule = serialOrder(program) } = parseCaseFile(
    await needed(fileNames.case),
    file(fileNames.case),
  );
  const finding = parseFinding(await needed(fileNames.finding), file(fileNames.finding));
  // Looked at first: links and devices are refused there.
  await needed(fileNames.history);
  const { header, operations } = await readWholeHistory(file(fileNames.history), {
    maxBytes: mostBytes,
  });
  const stray = operations.find(({ statement }) => {
    return statement !== undefined && program.sessions[statement[0]]?.statements[statement[1]] === undefined;
  });
  if (stray !== undefined) {
    throw new FileError(
      { file: file(fileNames.history), field: `operation ${stray.index}` },
      `it runs statement ${JSON.stringify(stray.statement)}, which ${fileNames.case} does not have`,
    );
  }
  const runs = parseRuns((await readText(file(fileNames.runs))) ?? '', file(fileNames.runs));
  const versions = runs.flatMap((run): VersionTried[] => {
    if (run.kind !== 'rerun') return [];
    const { kind, ...version } = run;
    return [version];
  });
  return { ...record, case: program, schedule, finding, history: { header, operations }, versions };
}
