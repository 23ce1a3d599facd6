/**
 * Another version of an engine that is on this machine, to compare with: the newest one that is not the version asked about. Nothing is fetched,
 * and only URLs that start an engine here have one: a server or a file that the user names is what it is.
 */
import { compareVersions } from '../versions.js';
import { declarationOfScheme } from './declarations.js';
import { engineReport } from './find-engines.js';
import { normalizeUrl, splitFault } from './registry.js';
import { type Environment, splitVersion, withVersion } from './versions/index.js';

/** The numbers a version begins with: programs, packages and servers say the rest in different ways. */
const release = (version: string) => /\d+(?:\.\d+)*/.exec(version)?.[0] ?? '';

/** The URL of another version, with the same settings and no fault; undefined: there is none here. */
export async function otherVersionUrl(
  url: string | undefined,
  version: string,
  environment?: Environment,
): Promise<string | undefined> {
  const { engineUrl } = splitFault(normalizeUrl(url));
  const named = splitVersion(engineUrl);
  const scheme = named?.scheme ?? engineUrl.slice(0, engineUrl.indexOf(':')).toLowerCase();
  const rest = named?.rest ?? engineUrl.slice(engineUrl.indexOf(':'));
  const declaration = declarationOfScheme(scheme);
  // Which program or package is run may be said by the URL itself.
  if (declaration === undefined || !/^:(?:\?|$)/.test(rest) || /[?&](?:package|binaries)=/.test(rest))
    return undefined;
  const { found } = await engineReport(declaration, environment);
  const here = found.flatMap((each) => ('version' in each ? [each] : []));
  // Of an engine whose packages have numbers of their own, the server's version says nothing about which package it is.
  const [usual] = here.filter((each) => splitVersion(each.url) === undefined);
  const own = release(
    named?.version ?? (usual !== undefined && declaration.releases ? usual.version : version),
  );
  const others = here
    .filter((each) => release(each.version) !== own && release(each.version) !== '')
    .sort((a, b) => compareVersions(release(b.version), release(a.version)));
  const [best] = others;
  return best && withVersion(engineUrl, splitVersion(best.url)?.version);
}
