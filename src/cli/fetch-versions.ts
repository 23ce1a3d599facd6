/**
 * `--fetch`, for every command that takes a database: before the command begins, the versions its URLs name are brought into the
 * cache. The command itself then finds them there, and knows nothing of npm.
 */
import type { Command } from 'commander';
import type { FetchProgress } from '../targets/index.js';
import type { CliContext } from './context.js';

export const fetchHelp =
  'fetch engine versions that are named and not here (duckdb@1.1.3:) from npm into the cache';

/** Adds the flag to a command and those below it, where one takes a database and has none of its own. */
export function addFetch(command: Command, context: CliContext): void {
  for (const below of command.commands) addFetch(below, context);
  const takesTarget = command.options.some(({ long }) => long === '--target' || long === '--targets');
  const place = command.registeredArguments.findIndex((argument) => argument.name() === 'url');
  if ((!takesTarget && place < 0) || command.options.some(({ long }) => long === '--fetch')) return;
  command.option('--fetch', fetchHelp);
  command.hook('preAction', async (_, action) => {
    const { fetch, target, targets = [] } = action.opts<TargetFlags>();
    if (fetch !== true && !mayFetch(context)) return;
    const named = [target, ...targets, ...(place < 0 ? [] : [action.args[place]])].filter(
      (url) => url !== undefined,
    );
    await fetchAll(named.length > 0 ? named : [context.defaultTarget ?? ''], context);
  });
}

interface TargetFlags {
  readonly fetch?: boolean;
  readonly target?: string;
  readonly targets?: readonly string[];
}

/** Whether the environment agrees to every fetch. */
export function mayFetch({ env = {} }: CliContext): boolean {
  return env.ISOLDE_FETCH === '1';
}

/** Fetches the versions that URLs name, one after another, and says so. */
export async function fetchAll(urls: readonly string[], context: CliContext): Promise<void> {
  // Only now: most commands are called without it, and start sooner.
  const { fetchVersion, normalizeUrl } = await import('../targets/index.js');
  for (const url of new Set(urls)) {
    const { signal } = context;
    await fetchVersion(normalizeUrl(url), { signal, onProgress: showProgress(context) });
  }
}

/** One line that grows on a terminal; elsewhere one at the start and one at the end. */
export function showProgress(context: CliContext): (progress: FetchProgress) => void {
  let shown = false;
  return ({ kind, engine, version, package: from, bytes }) => {
    if (shown && kind === 'fetching' && !context.errIsTerminal) return;
    if (shown) context.eraseLines(1);
    const size = bytes === 0 ? '' : `, ${(bytes / 1e6).toFixed(0)} MB`;
    context.err(`${kind} ${engine} ${version} (${from})${size}`);
    shown = true;
  };
}
