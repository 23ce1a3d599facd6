/** One history that pages look at: being read, ready, or unreadable; with the filters used last, and what checking it found. */
import { errorText, IsoldeError } from '../../errors.js';
import { type CheckFile, checkOf, type HistoryCheck } from './findings.js';
import type { HistoryColumns } from './history-columns.js';
import { type HistoryFilter, type Mask, maskOf } from './history-window.js';

export type HistoryPage =
  | { readonly state: 'reading'; readonly title: string; readonly operations: number }
  | { readonly state: 'failed'; readonly title: string; readonly failure: string }
  | OpenHistoryPage;

export interface OpenHistoryPage {
  readonly state: 'open';
  readonly title: string;
  readonly operations: number;
  readonly transactions: number;
  readonly objects: number;
  readonly sessions: readonly string[];
  readonly timed: boolean;
  readonly span: { readonly from: number; readonly to: number };
  readonly notes: readonly string[];
  readonly check: HistoryCheck;
}

export interface OperationPage {
  readonly index: number;
  readonly session: number;
  readonly transaction: string;
  readonly kind: string;
  readonly flags: number;
  readonly start: number;
  readonly end: number;
  readonly statement: string;
  readonly result: string;
  readonly objects: readonly string[];
}

/** A history and what is known of it from the beginning. */
export interface ReadHistory {
  readonly columns: HistoryColumns;
  readonly check?: HistoryCheck;
}

const mostMasks = 4;
/** How often pages hear how far reading has come. */
const tellEvery = 50_000;

export class OpenedHistory {
  readonly columns: Promise<HistoryColumns>;
  #ready: HistoryColumns | undefined;
  #failure: string | undefined;
  #progress = 0;
  #check: HistoryCheck;
  readonly #masks = new Map<string, Mask | undefined>();

  constructor(
    private readonly about: { readonly title: string; readonly file?: string; readonly changed: () => void },
    read: (onProgress: (operations: number) => void) => Promise<ReadHistory>,
    private readonly checkFile?: CheckFile,
  ) {
    this.#check = { state: about.file === undefined || checkFile === undefined ? 'none' : 'possible' };
    let told = 0;
    const reading = read((operations) => {
      this.#progress = operations;
      if (operations - told < tellEvery) return;
      told = operations;
      about.changed();
    });
    this.columns = reading.then(({ columns, check }) => {
      this.#ready = columns;
      if (check !== undefined) this.#check = check;
      about.changed();
      return columns;
    });
    this.columns.catch((error: unknown) => {
      this.#failure = errorText(error);
      about.changed();
    });
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  page(): HistoryPage {
    const { title } = this.about;
    if (this.#failure !== undefined) return { state: 'failed', title, failure: this.#failure };
    if (this.#ready === undefined) return { state: 'reading', title, operations: this.#progress };
    const { count, sessions, transactionCount, objectNames, timed, span, notes } = this.#ready;
    return {
      state: 'open',
      ...{ title, sessions, timed, span, notes },
      operations: count,
      transactions: transactionCount,
      objects: objectNames.length,
      check: this.#check,
    };
  }

  /** Begins checking; pages hear when it has ended. */
  async startCheck(signal: AbortSignal): Promise<HistoryPage> {
    const columns = await this.columns;
    const { file } = this.about;
    if (file === undefined || this.checkFile === undefined)
      throw new IsoldeError('usage', 'this history is not checked from here');
    if (this.#check.state !== 'checking') {
      this.#check = { state: 'checking' };
      this.checkFile(file, signal)
        .then((line) => checkOf(line, columns))
        .catch((error: unknown): HistoryCheck => ({ state: 'failed', failure: errorText(error) }))
        .then((check) => {
          this.#check = check;
          this.about.changed();
        });
    }
    return this.page();
  }

  /** The operations that fit a filter; the last few filters are remembered, for a page asks for tile after tile. */
  mask(columns: HistoryColumns, filter: HistoryFilter): Mask | undefined {
    const key = JSON.stringify(filter);
    const mask = this.#masks.has(key) ? this.#masks.get(key) : maskOf(columns, filter);
    this.#masks.delete(key);
    this.#masks.set(key, mask);
    if (this.#masks.size > mostMasks) this.#masks.delete(this.#masks.keys().next().value!);
    return mask;
  }
}

export function operationPage(columns: HistoryColumns, index: number): OperationPage {
  const names: string[] = [];
  for (let at = columns.objectOffsets[index]!; at < columns.objectOffsets[index + 1]!; at++)
    names.push(columns.objectNames[columns.objects[at]!]!);
  return {
    index,
    session: columns.session[index]!,
    transaction: columns.transactionName(columns.transaction[index]!),
    kind: columns.kinds[columns.kind[index]!]!,
    flags: columns.flags[index]!,
    start: columns.start[index]!,
    end: columns.end[index]!,
    statement: columns.statement(index),
    result: columns.result(index),
    objects: names,
  };
}
