/** Where a bug is tried when nobody says where. */
import type { TargetStamp } from '../histories/index.js';
import { findDeclaration, splitVersion, withVersion } from '../targets/index.js';
import type { Bug } from './bug.js';

/** The private or embedded server of its engine, with the settings of its run; undefined where there is none. */
export function homeUrl({ target: { name, settings } }: Pick<Bug, 'target'>): string | undefined {
  // Settings of an imported bug are a stranger's: none may smuggle in another parameter.
  const url = findDeclaration(name)?.privateUrl?.(settings ?? {});
  if (url === undefined || settings?.fault === undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}fault=${encodeURIComponent(settings.fault)}`;
}

/** The same in the version that it was found in, where the URL of that run named one. */
export function foundUrl(bug: Pick<Bug, 'target'>): string | undefined {
  const url = homeUrl(bug);
  return url === undefined ? undefined : withVersion(url, versionNamedBy(bug.target));
}

/** `11.8` of `mariadb@11.8:`. Of a stranger's URL nothing else is read. */
export function versionNamedBy({ name, url = '' }: TargetStamp): string | undefined {
  const schemes: readonly string[] = findDeclaration(name)?.schemes ?? [];
  try {
    const named = splitVersion(url);
    return named !== undefined && schemes.includes(named.scheme) ? named.version : undefined;
  } catch {
    return undefined;
  }
}
