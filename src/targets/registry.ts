/**
 * How a URL picks an engine. Engines are declared in their folders (`declaration.ts`); a folder's driver is imported only
 * when a URL asks for it.
 */
import { IsoldeError } from '../errors.js';
import { hideSecrets, secretsIn, withoutSecrets } from '../secrets.js';
import type { TargetDeclaration } from './declaration.js';
import { declarationOfScheme, targetDeclarations } from './declarations.js';
import type { OpenOptions, Target } from './target.js';
import { findVersion, splitVersion, withVersion } from './versions/index.js';

/** What Isolde runs on when nobody says otherwise: no server, no configuration. */
export const defaultTargetUrl = 'duckdb:';

/**
 * Opens the database a URL names; no URL means the embedded default. The query parameter `fault` wraps it
 * (`faults/`), `process=own` puts an embedded engine into a process of its own, `process=same` into this one; every other
 * parameter is the engine's. Another version of an engine (`package=NAME`) has a process of its own unless the URL says otherwise:
 * old versions abort, and two versions of one library cannot live in one process. So has a version that the URL names
 * (`duckdb@1.1.3:`), which must be on this machine (`versions/`).
 */
export async function openTarget(url: string | undefined, options: OpenOptions = {}): Promise<Target> {
  const { engineUrl, fault } = splitFault(normalizeUrl(url));
  const declaration = declarationOf(engineUrl);
  const open = async () => {
    try {
      const { engineUrl: inner, process = usualProcess(engineUrl) } = splitProcess(engineUrl);
      const found = await findVersion(inner);
      if (process === 'same') {
        const place = found?.folder === undefined ? {} : { packageFolder: found.folder };
        return await (await declaration.load()).open(inner, { ...options, ...place });
      }
      const { openInOwnProcess } = await import('./exec/own-process.js');
      // The very package that was found here, whatever is fetched meanwhile.
      const exact = found === undefined ? inner : withVersion(inner, found.packageVersion);
      return await openInOwnProcess(engineUrl, exact, options);
    } catch (error) {
      throw hiding(secretsIn(engineUrl), error);
    }
  };
  if (fault === undefined) return open();
  const { parseFault, withFault } = await import('./faults/index.js');
  // Read before the engine starts: a misspelt fault should not cost a server start.
  const spec = parseFault(fault);
  const target = await open();
  try {
    return withFault(target, spec);
  } catch (error) {
    await target.close();
    throw error;
  }
}

const embedded = /^(?:duckdb|turso|sqlite)(?:@[^:]*)?:/i;

/** The URL of an embedded engine without its `process` parameter, and the parameter. */
export function splitProcess(url: string): {
  readonly engineUrl: string;
  readonly process?: 'own' | 'same';
} {
  const match = embedded.test(url) ? /([?&])process=(own|same)(&|$)/.exec(url) : null;
  if (match === null) return { engineUrl: url };
  const rest = url.slice(match.index + match[0].length);
  const engineUrl = url.slice(0, match.index) + (rest === '' ? '' : match[1] + rest);
  return { engineUrl, process: match[2] as 'own' | 'same' };
}

function usualProcess(url: string): 'own' | 'same' {
  return embedded.test(url) && (/[?&]package=/.test(url) || splitVersion(url) !== undefined) ? 'own' : 'same';
}

/** Whether a URL names an engine that runs in this process, or could. */
export function isEmbedded(url: string | undefined): boolean {
  return embedded.test(normalizeUrl(url));
}

/** The same engine in a process of its own; undefined where it cannot have one, has one, or the URL says where it runs. */
export function inOwnProcess(url: string | undefined): string | undefined {
  const whole = normalizeUrl(url);
  if (!isEmbedded(whole) || splitProcess(whole).process !== undefined || usualProcess(whole) === 'own')
    return undefined;
  return `${whole}${whole.includes('?') ? '&' : '?'}process=own`;
}

/** The error without the secrets of a URL: drivers and adapters repeat what they were given. */
function hiding(secrets: readonly string[], error: unknown): unknown {
  if (!(error instanceof IsoldeError)) return error;
  const message = withoutSecrets(error.message, secrets);
  // The cause is left out with them: it says the same in the driver's words.
  return message === error.message ? error : new IsoldeError(error.code, message);
}

/** A URL as people type it, in full. */
export function normalizeUrl(url: string | undefined): string {
  const text = url?.trim() ?? '';
  if (text === '') return defaultTargetUrl;
  // People type the engine's name alone; it can mean nothing else.
  const scheme = /^([A-Za-z][A-Za-z0-9]*)(?:@[^:/?#]*)?$/.exec(text)?.[1];
  return scheme !== undefined && declarationOfScheme(scheme) !== undefined ? `${text}:` : text;
}

function declarationOf(url: string): TargetDeclaration {
  const scheme = splitVersion(url)?.scheme ?? /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)?.[1];
  const found = scheme === undefined ? undefined : declarationOfScheme(scheme);
  if (found !== undefined) return found;
  const accepted = targetDeclarations.map(({ usage }) => `  ${usage}`).join('\n');
  throw new IsoldeError(
    'usage',
    `No database is known by the URL "${hideSecrets(url)}". Accepted are:\n${accepted}`,
  );
}

/** The URL without its `fault` parameter, and the parameter. `&` inside the fault's parentheses is the fault's. */
export function splitFault(url: string): { readonly engineUrl: string; readonly fault?: string } {
  const match = /([?&])fault=((?:\([^)]*\)|[^&(])*)(&?)/.exec(url);
  if (match === null) return { engineUrl: url };
  const [whole, before, value, after] = match;
  const rest = url.slice(match.index + whole.length);
  const joint = rest === '' ? '' : before === '?' ? '?' : after;
  return { engineUrl: url.slice(0, match.index) + joint + rest, fault: decode(value!) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
