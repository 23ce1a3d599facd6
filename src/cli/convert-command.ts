/** `isolde convert IN OUT`: a history in another tool's format. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  type AnyHistory,
  formatOfName,
  parseFormatName,
  readAnyHistory,
  type WritableFormat,
  writableFormats,
  writeKvHistory,
  writeWholeHistory,
} from '../histories/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { readingProgress } from './reading-progress.js';

interface ConvertFlags {
  readonly from?: string;
  readonly to?: string;
}

export function convertCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('convert')
    .argument('<in>', 'a history in any format that is read: a file, a folder or an archive')
    .argument('<out>', 'the file to write; .gz compresses it')
    .description('write a history in another format')
    .option('--from <format>', 'take the input for this format (default: recognized by its content)')
    .option(
      '--to <format>',
      `${writableFormats.join(', ')} (default: taken from the name: .edn, .jsonl, .history.jsonl)`,
    )
    .action(async (from: string, to: string, flags: ConvertFlags) => {
      await convert(from, to, flags, context);
      exit(exitCodes.nothingFound);
    });
}

async function convert(
  input: string,
  output: string,
  flags: ConvertFlags,
  context: CliContext,
): Promise<void> {
  const to = outputFormat(output, flags.to);
  const read = await readAnyHistory(input, {
    ...(flags.from !== undefined && { format: parseFormatName(flags.from) }),
    onProgress: readingProgress(input, context),
  });
  if (read.kind === 'kv') {
    await writeKvHistory(output, read.history, to);
    context.err(
      `${output}: ${read.history.txCount} transactions, ${read.history.opCount} operations as ${to}`,
    );
    return;
  }
  await convertSql(read, output, to);
  context.err(`${output}: ${read.operations.length} operations as ${to}`);
}

async function convertSql(
  read: AnyHistory & { readonly kind: 'sql' },
  output: string,
  to: WritableFormat,
): Promise<void> {
  if (to !== 'isolde') {
    throw new IsoldeError(
      'usage',
      `a history of SQL statements can only be written as isolde: ${to} knows keys and values, not rows and predicates`,
    );
  }
  await writeWholeHistory(output, { header: read.header, operations: read.operations });
}

function outputFormat(path: string, asked: string | undefined): WritableFormat {
  if (asked === undefined) {
    const byName = formatOfName(path);
    if (byName !== undefined) return byName;
    throw new IsoldeError(
      'usage',
      `the name ${path} tells no format; add --to ${writableFormats.join(' or --to ')}`,
    );
  }
  const format = writableFormats.find((each) => each === asked.toLowerCase());
  if (format !== undefined) return format;
  throw new IsoldeError('usage', `"${asked}" cannot be written; there are ${writableFormats.join(', ')}`);
}
