/**
 * Reads the URLs of the MySQL family: `mysql://user:password@host:3306/database?variable=value`.
 *
 * Our own parameters are `socket` (a Unix socket instead of host and port), `ssl` (`on` or `off`), `password`,
 * `option-file` (a file as the client programs read it, for what the URL leaves out), `engine` (the storage engine of tables that
 * name none: the variable `default_storage_engine`) and, for a private server, `binary` (the program) or `binaries` (the folder it is in).
 * A password that stands nowhere else is taken from `MYSQL_PWD`. Every other parameter is a system variable, set on every session we
 * open. Names are checked and values quoted here, so nothing from a URL reaches the server as SQL.
 */
import { engineSetting } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import { quoteText } from '../../sql/index.js';
import { readOptionFile } from './mysql-option-file.js';

/** Where a server is and how to log in. */
export interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  readonly socket?: string;
  readonly user: string;
  readonly password?: string;
  /** Only logged in to: a scratch is always a database of its own. */
  readonly database?: string;
  readonly ssl: boolean;
}

export interface MysqlUrl {
  /** Absent for `mariadb:`, which asks for a private server. */
  readonly address?: MysqlAddress;
  /** System variables by name, as written. */
  readonly variables: Readonly<Record<string, string>>;
  /** The server program a private server should run. */
  readonly binary?: string;
  /** The folder of the program, instead. */
  readonly binaries?: string;
  /** The version it should be: `mariadb@11.8:`. */
  readonly version?: string;
  /** The URL as it may be shown: without password. */
  readonly shown: string;
}

const variableName = /^[a-z][a-z0-9_]{1,63}$/;
const ours: ReadonlySet<string> = new Set([
  'socket',
  'ssl',
  'binary',
  'binaries',
  'password',
  'option-file',
  'engine',
]);

/** Parses a URL of one of the family's schemes; `defaultPort` is the engine's. */
export function parseMysqlUrl(
  text: string,
  defaultPort = 3306,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): MysqlUrl {
  const [, name = '', version] = /^([a-z]+)(?:@([^:/?#]*))?:/i.exec(text) ?? [];
  const scheme = name.toLowerCase();
  const url = parse(version === undefined ? text : `${scheme}${text.slice(text.indexOf(':'))}`, scheme);
  const parameters = url.searchParams;
  const hasHost = /^[^:]+:\/\//.test(text);
  if (hasHost && version !== undefined) {
    throw new IsoldeError(
      'usage',
      'A URL names either a version, which is started here, or a server, which has one.',
    );
  }
  const variables = Object.fromEntries([...parameters].filter(([name]) => !ours.has(name)));
  const engine = parameters.get('engine');
  if (engine !== null) variables[engineSetting] = engine;
  for (const name of Object.keys(variables)) checkVariableName(name, scheme);
  const binary = parameters.get('binary') || undefined;
  const binaries = parameters.get('binaries') || undefined;
  if (!hasHost) {
    const rest = url.pathname.replace(/^\/+/, '');
    if (rest !== '') {
      throw new IsoldeError(
        'usage',
        `"${scheme}:${rest}" is not understood: write ${scheme}:// and a host, or "${scheme}:" alone.`,
      );
    }
    return {
      variables,
      shown: `${scheme}${version === undefined ? '' : `@${version}`}:${query(variables)}`,
      ...(version !== undefined && { version }),
      ...(binary && { binary }),
      ...(binaries && { binaries }),
    };
  }
  const optionFile = parameters.get('option-file');
  const filed = optionFile === null ? {} : readOptionFile(optionFile);
  const urlHost = url.hostname.replace(/^\[|\]$/g, '');
  const socket = parameters.get('socket') ?? (urlHost === '' ? filed.socket : undefined);
  const host = urlHost || filed.host || (socket === undefined ? '127.0.0.1' : 'localhost');
  const port = Number(url.port || filed.port || defaultPort);
  const user = decode(url.username) || filed.user || 'root';
  const password =
    decode(url.password) || (parameters.get('password') ?? filed.password ?? environment.MYSQL_PWD);
  const database = decode(url.pathname.replace(/^\//, '')) || undefined;
  const address: MysqlAddress = {
    host,
    port,
    user,
    ssl: readSsl(parameters.get('ssl')),
    ...(socket !== undefined && { socket }),
    ...(password !== undefined && { password }),
    ...(database !== undefined && { database }),
  };
  const place = socket === undefined ? `${url.hostname || host}:${port}` : 'localhost';
  const shownParameters = {
    ...(socket !== undefined && { socket }),
    ...(optionFile !== null && { 'option-file': optionFile }),
    ...variables,
  };
  const shown = `${scheme}://${encodeURIComponent(user)}@${place}/${database ?? ''}${query(shownParameters)}`;
  return { address, variables, shown };
}

/** `user@host:3306`, for messages. */
export function showAddress(address: MysqlAddress): string {
  return `${address.user}@${address.socket ?? `${address.host}:${address.port}`}`;
}

/** `SET SESSION name = value` with the value quoted; numbers stay bare because the server asks for it. */
export function setVariable(name: string, value: string): string {
  const literal = /^-?\d+(\.\d+)?$/.test(value) ? value : quoteText(value, 'mysql');
  return `SET SESSION ${name} = ${literal}`;
}

function parse(text: string, scheme: string): URL {
  try {
    return new URL(text);
  } catch {
    // The text may hold a password, so it is not repeated.
    throw new IsoldeError(
      'usage',
      `The ${scheme} URL cannot be read. Write ${scheme}://user:password@host:3306/database, ` +
        'with special characters of the password percent-encoded.',
    );
  }
}

function checkVariableName(name: string, scheme: string): void {
  if (variableName.test(name)) return;
  throw new IsoldeError(
    'usage',
    `"${name}" in the ${scheme} URL is not the name of a system variable (small letters, digits and _).`,
  );
}

function readSsl(value: string | null): boolean {
  if (value === null || /^(off|false|0)$/i.test(value)) return false;
  if (/^(on|true|1)$/i.test(value)) return true;
  throw new IsoldeError('usage', `ssl=${value} in the URL is not understood: on or off.`);
}

function query(parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
