/** What the tests of formats share: files in a temporary folder, and a history as text. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type KvHistory, printKvOp, printName, statusOf } from '../kv-history.js';
import type { FormatName } from './format.js';
import { type AnyHistory, type ReadAnyOptions, readAnyHistory } from './read-any.js';

/** A folder for one test, removed afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-formats-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads files written for it: one file, or a folder of them by name. */
export async function readContent(
  content: string | Uint8Array | Readonly<Record<string, string | Uint8Array>>,
  options: ReadAnyOptions = {},
): Promise<AnyHistory> {
  return withFolder(async (folder) => {
    const path = join(folder, 'history');
    if (typeof content === 'string' || content instanceof Uint8Array) await writeFile(path, content);
    else await writeFiles(path, content);
    return readAnyHistory(path, options);
  });
}

export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** The story of key-value content, after making sure that its format was recognised. */
export async function storyOf(
  content: string | Uint8Array | Readonly<Record<string, string | Uint8Array>>,
  format: FormatName,
): Promise<string[]> {
  const read = await readContent(content);
  if (read.kind !== 'kv' || read.format !== format) throw new Error(`read as ${read.kind}, ${read.format}`);
  return story(read.history);
}

/** One line per transaction: session, outcome where it is not committed, interval, operations. */
export function story(history: KvHistory): string[] {
  return Array.from({ length: history.txCount }, (_, tx) => {
    const status = statusOf(history, tx);
    const mark = status === 'committed' ? '' : status === 'aborted' ? '!' : '?';
    const start = history.txStart?.[tx] ?? Number.NaN;
    const end = history.txEnd?.[tx] ?? Number.NaN;
    const time = (ns: number): string => (Number.isNaN(ns) ? '' : String(ns));
    const interval = Number.isNaN(start) && Number.isNaN(end) ? '' : ` [${time(start)}-${time(end)}]`;
    const ops: string[] = [];
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++)
      ops.push(printKvOp(history, op));
    return `${printName(history.sessionNames[history.txSession[tx]!]!)}${mark}${interval}: ${ops.join(' ')}`;
  });
}
