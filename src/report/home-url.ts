/** Where a bug is tried when nobody says where. */
import { findDeclaration } from '../targets/index.js';
import type { Bug } from './bug.js';

/** The private or embedded server of its engine; undefined where there is none. */
export function homeUrl({ target: { name, settings } }: Pick<Bug, 'target'>): string | undefined {
  // Settings of an imported bug are a stranger's: none may smuggle in another parameter.
  const url = findDeclaration(name)?.privateUrl?.(settings ?? {});
  if (url === undefined || settings?.fault === undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}fault=${encodeURIComponent(settings.fault)}`;
}
