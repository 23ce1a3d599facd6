/**
 * Option files of the MySQL client programs (`my.cnf`), so that a password need not stand on a command line. Read are
 * `user`, `password`, `host`, `port` and `socket` of the groups every client reads (`[client]`), those of the client
 * programs (`[mysql]`, `[mariadb]`, `[client-mariadb]`) and our own (`[isolde]`); a later line wins over an earlier one.
 * `!include` lines are not followed.
 */
import { readFileSync } from 'node:fs';
import { errorText, IsoldeError } from '../../errors.js';

export interface FiledLogin {
  readonly user?: string;
  readonly password?: string;
  readonly host?: string;
  readonly port?: string;
  readonly socket?: string;
}

const groups: ReadonlySet<string> = new Set(['client', 'mysql', 'mariadb', 'client-mariadb', 'isolde']);
const wanted: ReadonlySet<string> = new Set(['user', 'password', 'host', 'port', 'socket']);
const escapes: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', r: '\r', s: ' ', '\\': '\\' };

/** The login of an option file. */
export function readOptionFile(file: string): FiledLogin {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new IsoldeError('file-system', `cannot read the option file ${file}: ${errorText(error)}`);
  }
  return parseOptionFile(text);
}

export function parseOptionFile(text: string): FiledLogin {
  const login: Record<string, string> = {};
  let group = '';
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    const heading = /^\[([^\]]*)\]/.exec(line)?.[1];
    if (heading !== undefined) group = heading.trim().toLowerCase();
    if (!groups.has(group)) continue;
    const [, name, value] = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/s.exec(line) ?? [];
    if (name !== undefined && value !== undefined && wanted.has(name.toLowerCase()))
      login[name.toLowerCase()] = unquote(value);
  }
  return login;
}

/** A value as the clients read it: quotes taken off, escapes resolved, a comment behind it cut off. */
function unquote(value: string): string {
  const quoted = /^(["'])((?:\\.|(?!\1).)*)\1\s*(?:#.*)?$/s.exec(value)?.[2];
  const bare = quoted ?? value.replace(/(^|\s)#.*$/s, '').trimEnd();
  return bare.replaceAll(
    /\\(.)/gs,
    (whole, char: string) => escapes[char] ?? (/['"]/.test(char) ? char : whole),
  );
}
