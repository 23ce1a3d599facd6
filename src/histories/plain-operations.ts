/**
 * Operations of a Jepsen history that are no transactions of reads and writes: transfers between accounts, additions
 * to a set, reads and writes of one register. What they mean depends on the workload, so they are kept as their file
 * has them, each invocation paired with its completion.
 */

/** A value as the file has it. Sets are lists, keywords texts with their colon. */
export type PlainValue = null | boolean | number | string | readonly PlainValue[] | PlainMap;

export class PlainMap {
  constructor(readonly entries: readonly (readonly [PlainValue, PlainValue])[]) {}

  /** The value under a name, whether the name is a text or a keyword. */
  get(name: string): PlainValue | undefined {
    return this.entries.find(([key]) => key === name || key === `:${name}`)?.[1];
  }
}

export interface PlainOperation {
  readonly f: string;
  /** The client's process; undefined where the file names none. */
  readonly process: number | undefined;
  /** `ok`: it took effect. `fail`: it did not. `info`: nobody knows. */
  readonly status: 'ok' | 'fail' | 'info';
  /** Position of the invocation among all events; of the completion where there is no invocation. */
  readonly start: number;
  /** Position of the completion; infinite where the operation may take effect at any later time. */
  readonly end: number;
  /** The `:index` of the completion, or of the invocation, or the position. */
  readonly label: number;
  readonly invoked: PlainValue;
  /** The value of the completion; that of the invocation where nothing completed it. */
  readonly value: PlainValue;
}

/** JSON's texts may begin with a colon and hold anything behind it; those are quoted. */
const keyword = /^:[^\s"[\]{},]*$/;

/** A value as one text, equal exactly where the values are. */
export function plainKey(value: PlainValue): string {
  if (value instanceof PlainMap) {
    return `{${value.entries
      .map(([key, item]) => `${plainKey(key)} ${plainKey(item)}`)
      .sort()
      .join(', ')}}`;
  }
  if (Array.isArray(value)) return `[${(value as readonly PlainValue[]).map(plainKey).join(' ')}]`;
  return typeof value === 'string' && !keyword.test(value) ? JSON.stringify(value) : String(value ?? 'nil');
}
