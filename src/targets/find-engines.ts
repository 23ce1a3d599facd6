/** What of the declared engines is on this machine: installed, fetched, or missing and how to get it. */
import type { FoundEngine, TargetDeclaration } from './declaration.js';
import { targetDeclarations } from './declarations.js';
import { type Environment, listCached, listLocal, whyBroken } from './versions/index.js';

export interface EngineReport {
  readonly engine: string;
  readonly title: string;
  /** What its URLs may look like. */
  readonly usage: string;
  readonly found: readonly FoundEngine[];
  /** The npm package whose versions can be fetched. */
  readonly package?: string;
}

/** Looks for every engine; `environment` says where the cache is. */
export async function findEngines(environment?: Environment): Promise<EngineReport[]> {
  const reports: EngineReport[] = [];
  for (const declaration of targetDeclarations) reports.push(await engineReport(declaration, environment));
  return reports;
}

/** Looks for one engine. */
export async function engineReport(
  declaration: TargetDeclaration,
  environment?: Environment,
): Promise<EngineReport> {
  const { name, title, usage, releases } = declaration;
  const found = [
    ...(await npmVersions(declaration, environment)),
    ...((await declaration.findEngines?.()) ?? []),
  ];
  return { engine: name, title, usage, found, ...(releases && { package: releases.package }) };
}

async function npmVersions(
  { name, releases }: TargetDeclaration,
  environment: Environment | undefined,
): Promise<FoundEngine[]> {
  if (releases === undefined) return [];
  const local = await listLocal(name, environment);
  const here = local.map(({ version, packageVersion, folder }): FoundEngine => {
    const from = `${folder === undefined ? 'installed' : 'fetched'}, ${releases.package}@${packageVersion}`;
    return { url: folder === undefined ? `${name}:` : `${name}@${version}:`, version, from };
  });
  const missing: FoundEngine[] = [];
  if (!local.some(({ folder }) => folder === undefined))
    missing.push({
      url: `${name}:`,
      missing: `${releases.package} is not installed: npm install ${releases.package}`,
    });
  for (const { packageVersion, folder } of await listCached(name, environment)) {
    const why = await whyBroken(folder);
    const url = `${name}@${releases.engineVersion(packageVersion)}:`;
    if (why !== undefined)
      missing.push({ url, missing: `${why}: npx isolde engines --fetch ${url.slice(0, -1)}` });
  }
  return [...missing, ...here];
}
