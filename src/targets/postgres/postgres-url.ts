/**
 * URLs of servers that speak PostgreSQL's protocol.
 *
 *     postgres:                                    a private server, started for us
 *     postgres@17.6:                               … of this version
 *     postgres:?binaries=/opt/pg16&work_mem=8MB    … from these binaries, with these server settings
 *     postgres://user:password@host:5432/database  a server of the user's
 *
 * A URL can hold a password, so nothing here puts the text of a URL into a message.
 */
import type { ClientConfig } from 'pg';
import { IsoldeError } from '../../errors.js';

export interface PrivateAddress {
  readonly kind: 'private';
  readonly binaries?: string;
  readonly settings: Readonly<Record<string, string>>;
  /** What may be shown: the URL itself, for it holds no secret. */
  readonly shown: string;
}

export interface ServerAddress {
  readonly kind: 'server';
  /** For the driver, which also reads `sslmode` and its relatives. */
  readonly connectionString: string;
  /** `-c name=value …` of the user's own, from `?options=`. */
  readonly options: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** The URL without its password. */
  readonly shown: string;
}

/** Reads a URL whose scheme is already known to be ours. */
export function parsePostgresUrl(url: string): PrivateAddress | ServerAddress {
  const [, scheme, rest] = /^([A-Za-z]+)(?:@[^:]*)?:(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) throw notAUrl('postgres');
  if (rest.startsWith('//')) return parseServerUrl(url, { scheme: 'postgres', port: 5432 });
  if (rest !== '' && !rest.startsWith('?')) {
    throw new IsoldeError(
      'usage',
      `A PostgreSQL URL is either "postgres:" (a private server) or "postgres://user:password@host:5432/database"; "${scheme}:" is followed by something else`,
    );
  }
  const settings: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(rest)) {
    if (!/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$/i.test(name)) {
      throw new IsoldeError('usage', `"${name}" in the URL is not the name of a PostgreSQL setting`);
    }
    settings[name] = value;
  }
  const { binaries, ...others } = settings;
  return { kind: 'private', ...(binaries === undefined ? {} : { binaries }), settings: others, shown: url };
}

/** Reads `scheme://user:password@host:port/database?parameters`. */
export function parseServerUrl(
  url: string,
  defaults: { readonly scheme: string; readonly port: number },
): ServerAddress {
  const parsed = parseUrl(url, defaults.scheme);
  const host = decodeText(parsed.hostname).replace(/^\[(.*)\]$/, '$1');
  if (host === '') {
    throw new IsoldeError(
      'usage',
      `The URL names no server: write ${defaults.scheme}://user:password@host:${defaults.port}/database; "postgres:" alone starts a private one`,
    );
  }
  const user = decodeText(parsed.username) || process.env.PGUSER || process.env.USER || '';
  const database = decodeText(parsed.pathname.slice(1)) || process.env.PGDATABASE || user;
  const port = Number(parsed.port || process.env.PGPORT || defaults.port);
  const options = parsed.searchParams.get('options') ?? '';
  parsed.searchParams.delete('options');
  if (parsed.port === '') parsed.port = String(port);
  if (user !== '') parsed.username = encodeURIComponent(user);
  parsed.pathname = `/${encodeURIComponent(database)}`;
  const connectionString = parsed.href;
  parsed.password = '';
  parsed.searchParams.delete('password');
  return { kind: 'server', connectionString, options, host, port, user, database, shown: parsed.href };
}

/** The WHATWG parser only takes user names and ports apart for schemes followed by `//` and a host. */
function parseUrl(url: string, scheme: string): URL {
  const generic = url.replace(/^[A-Za-z]+:/, `${scheme}:`);
  try {
    return new URL(generic);
  } catch {
    throw notAUrl(scheme);
  }
}

function notAUrl(scheme: string): IsoldeError {
  return new IsoldeError(
    'usage',
    `The text after "${scheme}://" is not a valid URL: write ${scheme}://user:password@host:port/database, with @ : / ? # in names and passwords as %40 %3A %2F %3F %23`,
  );
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Settings for the start-up packet. Given there instead of by SET, `RESET ALL` and `DISCARD ALL` in a case return to
 * them: the search path stays inside the scratch.
 */
export function startupOptions(settings: Readonly<Record<string, string>>, before = ''): string {
  const ours = Object.entries(settings).map(
    ([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (character) => `\\${character}`)}`,
  );
  return [before, ...ours].filter((part) => part !== '').join(' ');
}

/** What the driver needs to connect to a server with these settings. */
export function clientConfig(
  address: ServerAddress,
  settings: Readonly<Record<string, string>>,
  connectTimeoutMs: number,
): ClientConfig {
  return {
    connectionString: address.connectionString,
    options: startupOptions(settings, address.options),
    application_name: 'isolde',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  };
}
