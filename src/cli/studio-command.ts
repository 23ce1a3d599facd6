/** `isolde studio [STORE]`: the bugs of a store in a browser, with a debugger, a shrinker and a playground. */
import { execFile, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { exportSite, startStudio } from '../studio/index.js';
import { counted } from '../words.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { requireStore } from './existing-store.js';
import { positive } from './flags.js';
import { identifyBy, knownFolder, openAllKnown } from './known-command.js';

interface StudioFlags {
  readonly target?: readonly string[];
  readonly port?: string;
  readonly open: boolean;
  readonly export?: string;
  readonly history?: readonly string[];
}

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export function studioCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('studio')
    .argument('[store]', 'where bugs are kept', '.isolde')
    .description('look at bugs, step through them and shrink them together, in a browser')
    .option(
      '-t, --target <url>',
      'a database that pages may use, besides those that need no server (may be repeated)',
      collect,
    )
    .option('--history <file>', 'a history to open, of any format that is read (may be repeated)', collect)
    .option('--port <port>', 'listen on this port of 127.0.0.1 (default: a free one)')
    .option('--no-open', 'print the address only')
    .option('--export <folder>', 'write the store as a static site instead')
    .addHelpText(
      'after',
      '\nThe address holds a secret: anybody who has it can use the studio until it ends (Ctrl-C). Exit code: 0, or 3 for an error.',
    )
    .action(async (store: string, flags: StudioFlags) => exit(await studio(store, flags, context)));
}

async function studio(store: string, flags: StudioFlags, context: CliContext): Promise<ExitCode> {
  requireStore(store);
  if (flags.export !== undefined) {
    const { bugs, problems } = await exportSite({ store, folder: flags.export });
    for (const problem of problems) context.err(`isolde: ${problem}`);
    context.out(`${counted(bugs, 'bug')}: ${join(flags.export, 'index.html')}`);
    return exitCodes.nothingFound;
  }
  const targets = [
    ...(flags.target ?? []),
    ...(context.defaultTarget === undefined ? [] : [context.defaultTarget]),
  ];
  const started = await startStudio({
    store,
    targets,
    ...(flags.history !== undefined && { histories: flags.history.map((file) => resolve(file)) }),
    checkFile: checkInOwnProcess,
    identify: identifyBy(await openAllKnown(knownFolder, context), false),
    ...(flags.port !== undefined && { port: positive(flags.port, '--port') }),
  });
  try {
    const url = `${started.url}${flags.history === undefined ? '' : '#/history/file-0'}`;
    context.out(url);
    context.err('Ctrl-C ends it.');
    if (flags.open && context.outIsTerminal) openBrowser(url);
    await ended(context.signal);
    return exitCodes.nothingFound;
  } finally {
    await started.close();
  }
}

/** Checking a long history takes memory and minutes: a process of its own keeps the pages answering. */
async function checkInOwnProcess(file: string, signal: AbortSignal): Promise<string> {
  const args = [...process.execArgv, process.argv[1]!, 'check', file, '--json'];
  try {
    return (await promisify(execFile)(process.execPath, args, { signal, maxBuffer: 256 * 1024 * 1024 }))
      .stdout;
  } catch (error) {
    // Exit codes 1 and 2 are verdicts, and a history that cannot be judged says so on its line.
    const { stdout } = error as { readonly stdout?: string };
    if (stdout?.startsWith('{') === true) return stdout;
    throw error;
  }
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Where there is no browser, or none that can be started so, the address was printed. */
function openBrowser(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
