/** `isolde convert IN OUT`: a history in another tool's format. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  type Converted,
  convert,
  parseFormatName,
  type WritableFormat,
  writableFormats,
} from '../histories/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { readingProgress } from './reading-progress.js';

interface ConvertFlags {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
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
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', '\nExit code: 0 it is written, 3 error.')
    .action(async (input: string, output: string, flags: ConvertFlags) => {
      const written = await convert(input, output, {
        ...(flags.to !== undefined && { to: writable(flags.to) }),
        ...(flags.from !== undefined && { format: parseFormatName(flags.from) }),
        onProgress: readingProgress(input, context),
      });
      tell(context, flags, written);
      exit(exitCodes.nothingFound);
    });
}

function tell(context: CliContext, flags: ConvertFlags, written: Converted): void {
  const { file, format, transactions, operations, omitted } = written;
  if (flags.json === true) {
    context.out(JSON.stringify(written));
    return;
  }
  const counts = transactions === undefined ? '' : `${transactions} transactions, `;
  context.err(`${file}: ${counts}${operations} operations as ${format}`);
  for (const reason of omitted)
    context.err(`not in it, so a check cannot find that a level holds: ${reason}`);
}

function writable(asked: string): WritableFormat {
  const format = writableFormats.find((each) => each === asked.toLowerCase());
  if (format !== undefined) return format;
  throw new IsoldeError('usage', `"${asked}" cannot be written; there are ${writableFormats.join(', ')}`);
}
