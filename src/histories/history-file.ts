/** Whole histories in memory, from and to `*.history.jsonl` and `*.history.jsonl.gz`, for those small enough. */
import type { History, Operation } from './history.js';
import { type HistoryReadOptions, readHistory } from './history-reader.js';
import { openHistoryWriter } from './history-writer.js';

/** Reads a history file; `omitted` of its header says that it ended in the middle of a line, too. */
export async function readWholeHistory(path: string, options: HistoryReadOptions = {}): Promise<History> {
  const reader = await readHistory(path, options);
  const operations: Operation[] = [];
  for await (const some of reader.operations) for (const op of some) operations.push(op);
  const { header, omitted } = reader;
  return { header: omitted.length > 0 ? { ...header, omitted } : header, operations };
}

/** Writes a history file. */
export async function writeWholeHistory(path: string, history: History): Promise<void> {
  const writer = await openHistoryWriter(path, history.header);
  try {
    for (const op of history.operations) {
      const full = writer.write(op);
      if (full !== undefined) await full;
    }
  } finally {
    await writer.close();
  }
}
