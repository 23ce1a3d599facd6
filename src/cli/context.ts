/**
 * What every command gets from the world, so that commands can be tested without a process: streams, colours,
 * and a signal that Ctrl-C raises. Machine-readable output goes to `out`, everything for people in between
 * to `err`.
 */
import { readFileSync } from 'node:fs';
import pc from 'picocolors';
import { type ConfigPlace, configPlace } from '../config-file.js';

/** What `main` gets from whoever runs it: a process, or a test. */
export interface CliWorld {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard output, and standard error, are terminals. */
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly colors: ReturnType<typeof pc.createColors>;
  /** Width of the terminal in characters. */
  readonly width: number;
  readonly signal: AbortSignal;
  /** Does work that cannot look at `signal` meanwhile: Ctrl-C then ends the process at once. Absent: there is no process. */
  readonly atOnce?: <Result>(work: () => Result) => Result;
  /** Lines typed or piped in; absent: nobody is there to type any. */
  readonly lines?: () => AsyncIterable<string>;
  /** The project's configuration. */
  readonly config?: ConfigPlace | undefined;
  /** Environment variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What a command gets: the world behind the filter of `guarded-output.ts`. `out` and `err` show control characters. */
export interface CliContext extends CliWorld {
  /** Prints a file that was asked for on standard output: filtered on a terminal, elsewhere exactly as it is. */
  readonly file: (text: string) => void;
  /** Takes the last lines of `err` away where that is a terminal. */
  readonly eraseLines: (count: number) => void;
  /** The URL for commands that were given none, from `ISOLDE_TARGET` or the configuration; undefined: the embedded default. */
  readonly defaultTarget: string | undefined;
}

/** What `--trust-case` means, for every command that takes SQL from a file. */
export const trustCaseHelp = 'run the file’s SQL also where the login may write outside isolde_… namespaces';

/** Exit codes all commands share. */
export const exitCodes = { nothingFound: 0, found: 1, undecided: 2, error: 3 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ctrl-C, `kill` and a terminal that closes all ask for the same: finish with what there is, leave nothing behind. */
const endingSignals = [
  ['SIGINT', 2],
  ['SIGTERM', 15],
  ['SIGHUP', 1],
] as const;

/** `nohup isolde hunt` asks us not to hear of the terminal's end; where that cannot be read, nothing is ignored. */
function isIgnored(signal: number): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** What is typed or piped in, line by line. */
async function* linesOfInput(): AsyncGenerator<string, void, undefined> {
  const { createInterface } = await import('node:readline');
  yield* createInterface({ input: process.stdin, terminal: false });
}

/** The context of a real process. The first Ctrl-C asks commands to finish with what they have, the second kills. */
export function processContext(): CliWorld {
  const controller = new AbortController();
  const listeners = endingSignals
    .filter(([, number]) => !isIgnored(number))
    .map(([signal, number]) => {
      const listener = () => {
        if (controller.signal.aborted) process.exit(128 + number);
        controller.abort();
        process.stderr.write('\nstopping; press Ctrl-C again to stop at once\n');
      };
      return { signal, listener };
    });
  const listen = () => {
    for (const { signal, listener } of listeners) process.on(signal, listener);
  };
  const atOnce = <Result>(work: () => Result): Result => {
    // A signal without a listener ends the process; one with a listener would wait until the work is done.
    for (const { signal, listener } of listeners) process.off(signal, listener);
    try {
      return work();
    } finally {
      listen();
    }
  };
  listen();
  // `isolde probe | head`: a reader that has seen enough is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A terminal that closed takes no more output; what is open is still cleaned up.
    if (controller.signal.aborted) return;
    process.exit(error.code === 'EPIPE' ? 0 : exitCodes.error);
  });
  process.stderr.on('error', () => undefined);
  const outIsTerminal = process.stdout.isTTY === true;
  return {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    outIsTerminal,
    errIsTerminal: process.stderr.isTTY === true,
    colors: pc.createColors(outIsTerminal && pc.isColorSupported),
    width: process.stdout.columns ?? 120,
    signal: controller.signal,
    atOnce,
    lines: linesOfInput,
    env: process.env,
    config: configPlace(process.env),
  };
}
