/** A history in a file as the target of a replay can run it, and the contract it is held to. */
import { IsoldeError } from '../errors.js';
import { readAnyHistory, recognizeFormat } from '../histories/index.js';
import { type Asked, type ReplayableHistory, replayableHistory } from '../reduce/index.js';
import { admit, type Target } from '../targets/index.js';
import type { CliContext } from './context.js';

/** Whether a file holds a history; cases are JSON too, and scripts are any text. */
export async function isHistoryFile(file: string): Promise<boolean> {
  if (file === '-') return false;
  if (/\.history\.jsonl(\.gz)?$/.test(file)) return true;
  return recognizeFormat(file).then(
    () => true,
    () => false,
  );
}

/** Reads a history and, where another engine recorded it, translates it; what that changed goes to the error stream. */
export async function readReplayable(
  file: string,
  target: Target,
  asked: Asked & { readonly trust: boolean },
  context: CliContext,
): Promise<ReplayableHistory> {
  const read = await readAnyHistory(file);
  if (read.kind !== 'sql') {
    throw new IsoldeError('usage', `${file} is a key-value history: it has no SQL that could be run again`);
  }
  const replayable = replayableHistory(read, target, asked);
  const { header, operations } = replayable.history;
  const sql = {
    setup: header.setup ?? [],
    statements: operations.flatMap((operation) => operation.sql ?? []),
  };
  await admit(target, sql, { trust: asked.trust, source: file });
  for (const note of replayable.notes) context.err(`note: ${note}`);
  return replayable;
}
