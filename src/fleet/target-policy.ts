/**
 * Which databases a worker opens for others. A job is data from another machine, and a target's URL is powerful: `exec:` runs a command,
 * `binaries=` a program, a setting of PostgreSQL can name a command, a file name can be anybody's file.
 *
 * 1. By default only private and embedded engines, as `duckdb:` or `postgres:?fault=lost-update`, with parameters of a short list.
 * 2. A server is reached only if the worker was started with `--allow-target URL`. Jobs name the URL without its password; the worker uses
 *    its own, so that no password is ever part of a job.
 */
import { IsoldeError } from '../errors.js';
import { hideSecrets, publicUrl, secretsIn } from '../secrets.js';
import { parseFault, splitFault, targetDeclarations } from '../targets/index.js';

/** Parameters that choose among behaviours of an engine, and can do nothing else. */
const harmless: ReadonlySet<string> = new Set([
  'process',
  'mode',
  'journal',
  'engine',
  'tx',
  'default_transaction_isolation',
  'transaction_isolation',
  'innodb_snapshot_isolation',
]);

/**
 * The engine of a URL that names a private or embedded one and nothing else, with its version where the URL has one (`duckdb@1.1.3`);
 * undefined: it names more.
 */
export function privateEngine(url: string): string | undefined {
  const { engineUrl, fault } = splitFault(url);
  const [, scheme = '', version = '', query = ''] =
    /^([a-z]+)(@[\w.+-]{1,40})?:(?:\?([\w=&.%+ -]*))?$/i.exec(engineUrl) ?? [];
  const declared = targetDeclarations.find(({ schemes }) => schemes.includes(scheme.toLowerCase()));
  if (declared === undefined || declared.name === 'exec' || declared.name === 'jdbc') return undefined;
  for (const [name, value] of new URLSearchParams(query))
    if (!harmless.has(name) || !/^[\w -]*$/.test(value)) return undefined;
  if (fault !== undefined) parseFault(fault);
  return `${declared.name}${version}`;
}

/** What a worker must have for a target: the engine, or leave to use the server. */
export function needOf(url: string): string {
  const secrets = secretsIn(url);
  if (secrets.length > 0) {
    throw new IsoldeError(
      'usage',
      `jobs hold no passwords: name ${publicUrl(url)}, and start workers with --allow-target and the whole URL`,
    );
  }
  const engine = privateEngine(url);
  return engine === undefined ? `target ${url}` : `engine ${engine}`;
}

/** What a worker opens. */
export interface TargetPolicy {
  /** Engines that are here, by name or name@version, with the versions they say they are. */
  readonly engines: Readonly<Record<string, string>>;
  /** Whole URLs of servers that may be used. */
  readonly allowed: readonly string[];
}

/** What the worker has, as jobs ask for it; trials first, for somebody waits for each of them. */
export function needsMet({ engines, allowed }: TargetPolicy): string[] {
  const names = Object.entries(engines);
  return [
    ...names.map(([name, version]) => `trial ${name} ${version}`),
    'check',
    ...names.map(([name]) => `engine ${name}`),
    ...allowed.map((url) => `target ${publicUrl(url)}`),
  ];
}

/** The URL to open for a job's target; rejects what this worker does not open for others. */
export function admittedUrl(url: string, { engines, allowed }: TargetPolicy): string {
  const engine = privateEngine(url);
  if (engine !== undefined && Object.hasOwn(engines, engine)) return url;
  const own = allowed.find((each) => each === url || publicUrl(each) === url);
  if (own !== undefined) return own;
  throw new IsoldeError(
    'safety',
    engine === undefined
      ? `this worker does not open ${hideSecrets(url)} for others; --allow-target lets it`
      : `this worker has no ${engine}`,
  );
}
