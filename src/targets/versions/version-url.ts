/**
 * URLs that name a version: `duckdb@1.1.3:?threads=2`, `postgres@17.6:`. The version stands between the scheme and the colon; the
 * rest is the engine's, which is given the whole URL and never looks at the version.
 */
import { IsoldeError } from '../../errors.js';
import { isVersion } from '../../versions.js';

export interface VersionUrl {
  /** In small letters. */
  readonly scheme: string;
  readonly version: string;
  /** From the colon on. */
  readonly rest: string;
}

// A colon first, as in postgres://user@host, is no version's.
const named = /^([A-Za-z][A-Za-z0-9+.-]*)@([^:/?#@]*)(?=([:/?#@]|$))/;

/** The version a URL names; undefined if it names none. What cannot be a version is refused here, before anything is looked for. */
export function splitVersion(url: string): VersionUrl | undefined {
  const match = named.exec(url);
  if (match === null) return undefined;
  const [whole, scheme, version, next] = match;
  if (next !== ':' || !isVersion(version!)) {
    throw new IsoldeError(
      'usage',
      `"${url.slice(0, 80)}" names no version: write ${scheme}@1.2.3: with digits and dots, and the rest of the URL behind the colon`,
    );
  }
  return { scheme: scheme!.toLowerCase(), version: version!, rest: url.slice(whole.length) };
}

/** The same URL with another version, or with none. */
export function withVersion(url: string, version: string | undefined): string {
  const split = splitVersion(url);
  const scheme = split?.scheme ?? url.slice(0, url.indexOf(':'));
  const rest = split?.rest ?? url.slice(url.indexOf(':'));
  return version === undefined ? `${scheme}${rest}` : `${scheme}@${version}${rest}`;
}
