/**
 * Reads a history of any format into columns. Isolde's own files are gone through block by block and never kept; key-value
 * histories come in columns already. The numbers of operations and transactions are those that `isolde check` uses for the same file,
 * so that its findings point at the right places.
 */
import {
  type AnyHistory,
  type History,
  type HistoryHeader,
  type KvHistory,
  kvAppend,
  kvRead,
  kvReadList,
  type Operation,
  printKvOp,
  printName,
  readAnyHistory,
  readHistory,
  recognizeFormat,
  resultText,
  statusOf,
  txName,
} from '../../histories/index.js';
import { ColumnsBuilder, entryOf, flag, type HistoryColumns } from './history-columns.js';
import { RowNames } from './named-rows.js';

export type Progress = (operations: number) => void;

export async function readColumns(
  path: string,
  onProgress: Progress = () => undefined,
): Promise<HistoryColumns> {
  if ((await recognizeFormat(path)) === 'isolde') {
    const streamed = await streamColumns(path, onProgress);
    if (streamed !== undefined) return streamed;
  }
  return columnsOf(await readAnyHistory(path), onProgress);
}

export function columnsOf(read: AnyHistory, onProgress: Progress = () => undefined): HistoryColumns {
  if (read.kind === 'kv') return kvColumns(read.history);
  return sqlColumns(read, onProgress);
}

export function sqlColumns(
  { header, operations }: History,
  onProgress: Progress = () => undefined,
): HistoryColumns {
  const collector = new SqlColumns(header);
  for (const operation of operations) collector.add(operation);
  onProgress(operations.length);
  return collector.build(header.omitted);
}

const bare: ReadonlySet<string> = new Set(['read', 'write', 'append']);
const control: ReadonlySet<string> = new Set(['begin', 'commit', 'rollback']);

/** Undefined for a history of keys and values, which has a reader of its own. */
async function streamColumns(path: string, onProgress: Progress): Promise<HistoryColumns | undefined> {
  const reader = await readHistory(path);
  const collector = new SqlColumns(reader.header);
  let isSql = reader.header.setup !== undefined;
  for await (const some of reader.operations) {
    if (!isSql) {
      const telling = some.find(({ kind }) => !control.has(kind));
      if (telling !== undefined && bare.has(telling.kind)) return undefined;
      isSql = telling !== undefined;
    }
    for (const operation of some) collector.add(operation);
    onProgress(collector.count);
  }
  return collector.build(reader.omitted);
}

class SqlColumns {
  readonly #builder: ColumnsBuilder;
  readonly #positions = new Map<number, number>();
  readonly #rowNames: RowNames;
  private readonly sessions: readonly string[];
  readonly #names: string[] = [];
  readonly #perSession: number[] = [];
  #lastEnd = 0;

  constructor(header: HistoryHeader) {
    this.sessions = header.sessions;
    this.#builder = new ColumnsBuilder(header.sessions);
    this.#rowNames = new RowNames(header);
  }

  get count(): number {
    return this.#builder.count;
  }

  add(operation: Operation): void {
    const { transaction, session } = operation;
    let position = this.#positions.get(transaction);
    if (position === undefined) {
      position = this.#positions.size;
      this.#positions.set(transaction, position);
      // As `transactionNames` calls them.
      const number = (this.#perSession[session] ?? 0) + 1;
      this.#perSession[session] = number;
      const owner = this.sessions[session] ?? `session ${session + 1}`;
      this.#names.push(number === 1 ? owner : `${owner}#${number}`);
    }
    this.#lastEnd = Math.max(this.#lastEnd, operation.start, operation.end ?? 0);
    this.#builder.add(entryOf(operation, position, { result: resultText, names: this.#rowNames }));
  }

  build(omitted: readonly string[] = []): HistoryColumns {
    const names = this.#names;
    return this.#builder.build({
      timed: this.#lastEnd > 0,
      transactionCount: names.length,
      transactionName: (position) => names[position] ?? '?',
      notes: omitted,
    });
  }
}

function kvColumns(history: KvHistory): HistoryColumns {
  const { txStart, txEnd } = history;
  const timed = txStart !== undefined && txEnd !== undefined;
  const builder = new ColumnsBuilder(history.sessionNames.map(printName));
  let place = 0;
  for (let tx = 0; tx < history.txCount; tx++) {
    const [from, to] = [history.opOffsets[tx]!, history.opOffsets[tx + 1]!];
    const began = timed && !Number.isNaN(txStart[tx]!) ? txStart[tx]! : place;
    const ended = timed ? Math.max(began, Number.isNaN(txEnd[tx]!) ? began : txEnd[tx]!) : began + to - from;
    place = timed ? began : ended;
    const status = statusOf(history, tx);
    const fate = status === 'committed' ? flag.commits : status === 'aborted' ? flag.rollsBack : flag.unknown;
    // Only transactions have times: their operations share them evenly, in the order of the program.
    const each = (ended - began) / Math.max(1, to - from);
    for (let op = from; op < to; op++)
      builder.add({
        session: history.txSession[tx]!,
        transaction: tx,
        kind: kindOf(history, op),
        flags: op === to - 1 ? fate : 0,
        start: began + (op - from) * each,
        end: began + (op - from + 1) * each,
        statement: printKvOp(history, op),
        result: '',
        objects: [printName(history.keyNames[history.opKey[op]!]!)],
      });
  }
  return builder.build({
    timed,
    transactionCount: history.txCount,
    transactionName: (tx) => txName(history, tx),
    notes: [
      ...(history.omitted ?? []),
      ...(timed ? ['only transactions have times; operations share those of theirs evenly'] : []),
    ],
  });
}

function kindOf(history: KvHistory, op: number): string {
  const kind = history.opKind[op]!;
  if (kind === kvRead || kind === kvReadList) return 'read';
  return kind === kvAppend ? 'append' : 'write';
}
