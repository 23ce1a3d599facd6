/**
 * The one place that hides passwords. A URL or the command of an `exec:` target may hold secrets, and both are shown:
 * in messages, in the stamp of a history, in reports, bug folders, JUnit files and replay lines.
 *
 * A secret is recognised by where it stands:
 *
 * 1. between the user of a URL and its last `@` (a password with an unencoded `/`, `?` or `@` makes an odd URL, but must
 *    not be shown either);
 * 2. as the value of a name like `password`, `MYSQL_PWD`, `auth_token` or `--api-key`, in a query, an environment
 *    assignment, an option or JSON. Names of files that hold secrets (`PGPASSFILE`) are shown, and so is a
 *    fault, which may follow a command directly.
 */

const stars = '***';
/** Where another URL begins in the list of a cluster's nodes. */
const nextUrl = String.raw`,(?=(?:postgres|postgresql|mysql|mariadb):\/\/)`;
const address = new RegExp(String.raw`[a-z][a-z0-9+.-]*:\/\/(?:(?!${nextUrl})[^\s'"<>])+`, 'gi');
const name = String.raw`(?:[\w.-]*(?:passw(?:or)?d|passphrase|_?pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)(?![\w.-]*file)[\w.-]*)`;
const value = String.raw`(?:'[^']*'|"(?:[^"\\]|\\.)*"|(?:(?!\?fault=)(?:\\.|[^\s&;,'"{}\\]))+)`;
const assigned = new RegExp(String.raw`(\b${name}["']?\s*[=:]\s*|--?${name}\s+(?!-))(${value})`, 'gi');
const shortOption = /((?:mysql|mariadb)\S*\s(?:.*?\s)?-p)(?!\d+(?:\s|$))([^\s'"]+)/gi;

/** A URL or command that may be shown: secrets in it become `***`. */
export function hideSecrets(text: string): string {
  return takeApart(text, () => undefined);
}

/** A URL as somebody else may name it: without its secrets, and without a trace of them. */
export function publicUrl(url: string): string {
  return splitUrls(url).map(publicOne).join(',');
}

/** The URLs of a list; what separates them is a comma with a server's scheme behind it, for options may hold commas. */
export function splitUrls(list: string): string[] {
  return list.split(new RegExp(nextUrl, 'i'));
}

function publicOne(url: string): string {
  const [place, query] = splitAt(hideSecrets(url), '?');
  const login = place.replace(`:${stars}@`, '@');
  const rest = query?.split('&').filter((parameter) => !parameter.endsWith(`=${stars}`));
  return rest === undefined || rest.length === 0 ? login : `${login}?${rest.join('&')}`;
}

function splitAt(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** The secrets in a URL or command, as they are written and as they are meant. */
export function secretsIn(text: string): string[] {
  const found = new Set<string>();
  takeApart(text, (secret) => {
    const bare = secret.replace(/^(['"])(.*)\1$/s, '$2');
    for (const form of [bare, decode(bare)]) if (form !== '' && form !== stars) found.add(form);
  });
  return [...found];
}

/** A message without these secrets, wherever they stand in it. One or two characters are no secret, but would be everywhere. */
export function withoutSecrets(message: string, secrets: readonly string[]): string {
  // The longest first: one secret may begin another.
  const sorted = secrets.filter(({ length }) => length > 2).sort((a, b) => b.length - a.length);
  return sorted.reduce((text, secret) => text.replaceAll(secret, stars), message);
}

/**
 * For everything printed: hides these secrets where they stand as secrets do (`:secret@`, `=secret`). Elsewhere the same
 * letters may be a table's name.
 */
export function secretFilter(secrets: readonly string[]): (text: string) => string {
  if (secrets.length === 0) return (text) => text;
  const any = [...secrets]
    .sort((a, b) => b.length - a.length)
    .map((secret) => secret.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('|');
  const standing = new RegExp(String.raw`(:)(?:${any})(?=@)|(=["']?)(?:${any})(?![\w%])`, 'g');
  return (text) =>
    text.replaceAll(standing, (_, colon?: string, equals?: string) => `${colon ?? equals}${stars}`);
}

function takeApart(text: string, found: (secret: string) => void): string {
  const hide = (_: string, before: string, secret: string) => {
    found(secret);
    return `${before}${stars}`;
  };
  return text
    .replaceAll(address, (url) =>
      hasLogin(url) ? url.replace(/^([^/]*\/\/[^/?#@:]*:)(.*)(?=@)/, hide) : url,
    )
    .replaceAll(assigned, hide)
    .replaceAll(shortOption, hide);
}

/** Not where an `@` stands in the query alone. */
function hasLogin(url: string): boolean {
  return !URL.canParse(url) || /^[^?#]*@/.test(url);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
