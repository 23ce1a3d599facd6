/** What a format is: how it is recognised and how it is read. One file per format implements it; `registry.ts` lists them. */
import type { Access, History } from '../history.js';
import type { KvHistory } from '../kv-history.js';
import type { PlainOperation } from '../plain-operations.js';

export const formatNames = [
  'isolde',
  'jepsen',
  'elle-json',
  'plume',
  'dbcop',
  'dbcop-json',
  'cobra',
  'awdit',
  'viper',
  'pisco',
] as const;

export type FormatName = (typeof formatNames)[number];

/** A history as its file held it: keys and values, or SQL statements. */
export type Imported =
  | {
      readonly kind: 'kv';
      readonly history: KvHistory;
      /** Operations that are no transactions of reads and writes, where the file has any. */
      readonly operations?: readonly PlainOperation[];
    }
  | (History & {
      readonly kind: 'sql';
      /** Rows of the initial state, where the format lists them. */
      readonly initial?: readonly Access[];
    });

/** What a reader is given: a file or a folder, and how messages call it. */
export interface FormatInput {
  readonly path: string;
  readonly shown: string;
  /** Names of the files and folders inside, where `path` is a folder. */
  readonly entries?: readonly string[];
  /** The bytes of the file, or of a file of the folder, decompressed. A block is overwritten by later ones. */
  bytes(entry?: string, blockBytes?: number): AsyncGenerator<Buffer, void, undefined>;
}

export interface HistoryFormat {
  readonly name: FormatName;
  /** For lists in messages and documentation. */
  readonly title: string;
  /** Whether a file that begins with these bytes is of this format. */
  fitsFile(head: Buffer): boolean;
  /** Whether a folder that holds these names is of this format. */
  fitsFolder?(entries: readonly string[]): boolean;
  read(input: FormatInput): Promise<Imported>;
}
