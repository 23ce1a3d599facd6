/** A history in another format: what `isolde convert` does. */
import { IsoldeError } from '../../errors.js';
import { writeWholeHistory } from '../history-file.js';
import { type AnyHistory, type ReadAnyOptions, readAnyHistory } from './read-any.js';
import { formatOfName, type WritableFormat, writableFormats, writeKvHistory } from './write-kv.js';

export interface ConvertOptions extends ReadAnyOptions {
  /** Default: what the name of the output tells (`.edn`, `.jsonl`, `.history.jsonl`, each with `.gz` or without). */
  readonly to?: WritableFormat;
}

/** What was written. */
export interface Converted {
  readonly file: string;
  readonly format: WritableFormat;
  /** Of a key-value history. */
  readonly transactions?: number;
  readonly operations: number;
  /** What the file says is not in it. */
  readonly omitted: readonly string[];
}

/** Reads a history in any format and writes it in another one. */
export async function convert(
  input: string,
  output: string,
  { to, ...reading }: ConvertOptions = {},
): Promise<Converted> {
  const format = to ?? formatOfName(output);
  if (format === undefined)
    throw new IsoldeError(
      'usage',
      `the name ${output} tells no format; add --to ${writableFormats.join(' or --to ')}`,
    );
  const read = await readAnyHistory(input, reading);
  if (read.kind === 'sql') return convertSql(read, output, format);
  const omitted = await writeKvHistory(output, read.history, format);
  const { txCount: transactions, opCount: operations } = read.history;
  return { file: output, format, transactions, operations, omitted };
}

async function convertSql(
  { header, operations }: AnyHistory & { readonly kind: 'sql' },
  output: string,
  format: WritableFormat,
): Promise<Converted> {
  if (format !== 'isolde')
    throw new IsoldeError(
      'usage',
      `a history of SQL statements can only be written as isolde: ${format} knows keys and values, not rows and predicates`,
    );
  await writeWholeHistory(output, { header, operations });
  return { file: output, format, operations: operations.length, omitted: header.omitted ?? [] };
}
