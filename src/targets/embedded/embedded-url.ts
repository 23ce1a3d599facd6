/**
 * URLs of engines that live inside our process: `scheme:[path][?name=value&…]`. The path is a file name as the
 * shell shows it (spaces and `%` need no escaping); parameters nobody knows are refused, because a misspelt
 * `?mode=` would silently test something else.
 */
import { IsoldeError } from '../../errors.js';

export interface EmbeddedUrl {
  /** Empty when the URL names no file or folder. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Takes `sqlite:/folder?journal=delete` apart. A parameter without value, as in `?mvcc`, has the value `''`. */
export function parseEmbeddedUrl(url: string, accepted: readonly string[]): EmbeddedUrl {
  const afterScheme = url.slice(url.indexOf(':') + 1);
  const mark = afterScheme.indexOf('?');
  const path = mark < 0 ? afterScheme : afterScheme.slice(0, mark);
  const parameters: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(mark < 0 ? '' : afterScheme.slice(mark + 1))) {
    // The registry takes `process=own` and `process=same` off a URL before an engine sees it.
    if (name === 'process')
      throw new IsoldeError('usage', `"process" in "${url}" takes own or same, not "${value}"`);
    if (!accepted.includes(name)) {
      throw new IsoldeError(
        'usage',
        `Parameter "${name}" in "${url}" is not known; accepted are: ${accepted.join(', ')}`,
      );
    }
    parameters[name] = value;
  }
  return { path: path.replace(/^\/\/(?=\/|$)/, ''), parameters };
}

/** The value of a parameter that allows only a few; the first is the default. */
export function choose<T extends string>(
  url: string,
  name: string,
  given: string | undefined,
  of: readonly T[],
): T {
  if (given === undefined) return of[0]!;
  const found = of.find((value) => value === given.toLowerCase());
  if (found !== undefined) return found;
  throw new IsoldeError(
    'usage',
    `"${name}=${given}" in "${url}" is not known; accepted are: ${of.join(', ')}`,
  );
}
