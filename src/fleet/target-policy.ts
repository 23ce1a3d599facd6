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
import { declarationOfScheme, privateEngine, targetDeclarations } from '../targets/index.js';
import { compareVersions, isOfSeries } from '../versions.js';

/** What a worker must have for a target: the engine, or leave to use the server. */
export function needOf(url: string): string {
  const secrets = secretsIn(url);
  if (secrets.length > 0) {
    throw new IsoldeError(
      'usage',
      `jobs hold no passwords: name ${publicUrl(url)}, and start workers with --allow-target and the whole URL`,
    );
  }
  const scheme = /^([a-z][a-z0-9+.-]*)(?:@[^:/?#]*)?:/i.exec(url)?.[1];
  if (scheme === undefined || declarationOfScheme(scheme) === undefined) {
    const names = targetDeclarations.map(({ name }) => `${name}:`).join(', ');
    throw new IsoldeError('usage', `no database is known by the URL "${url}"; URLs begin with ${names}`);
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

/**
 * Everything that URLs may call the engines of a worker: `tidb@6.6` and `tidb@6` are answered by its `tidb@6.6.0`, as in URLs on this
 * machine, and by the newest where several are of a series.
 */
function callable(engines: TargetPolicy['engines']): ReadonlyMap<string, string> {
  const names = new Map(Object.entries(engines));
  const versioned = Object.keys(engines)
    .map((name) => name.split('@') as [string, string?])
    .filter((each): each is [string, string] => each[1] !== undefined)
    .sort(([, a], [, b]) => compareVersions(b, a));
  for (const [engine, version] of versioned) {
    const parts = version.split('.');
    for (let length = parts.length - 1; length > 0; length--) {
      const series = parts.slice(0, length).join('.');
      const name = `${engine}@${series}`;
      if (isOfSeries(version, series) && !names.has(name)) names.set(name, engines[`${engine}@${version}`]!);
    }
  }
  return names;
}

/** What the worker has, as jobs ask for it; trials first, for somebody waits for each of them. */
export function needsMet({ engines, allowed }: TargetPolicy): string[] {
  const names = [...callable(engines)];
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
  if (engine !== undefined && callable(engines).has(engine)) return url;
  const own = allowed.find((each) => each === url || publicUrl(each) === url);
  if (own !== undefined) return own;
  if (engine !== undefined) throw new IsoldeError('safety', `this worker has no ${engine}`);
  // It was handed to us by a need that is not its own: whoever has that need would refuse it as well.
  throw new IsoldeError(
    'usage',
    `this worker does not open ${hideSecrets(url)} for others; --allow-target lets it`,
  );
}
