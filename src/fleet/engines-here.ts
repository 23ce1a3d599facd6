/**
 * Which engines a worker has. What is not installed is not tried; what is installed is opened once, for an engine that cannot start here
 * is none, and its own word for its version is what reductions need. Versions that were fetched before come along by their names, and so does
 * the installed one: `duckdb:` is `duckdb@1.5.5:` as well.
 */
import { errorText, IsoldeError } from '../errors.js';
import { type EngineReport, findDeclaration, findEngines, openTarget } from '../targets/index.js';

/** The engines named, or all; of all, what does not open is reported and left out. */
export async function enginesHere(
  names: readonly string[] | undefined,
  onMissing: (engine: string, why: string) => void = () => undefined,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const reports = await findEngines();
  for (const name of names ?? startable(reports)) {
    try {
      const target = await openTarget(urlOf(name));
      for (const each of [name, ...namesOfInstalled(name, reports)]) found[each] = target.stamp.version;
      await target.close();
    } catch (error) {
      if (!(error instanceof IsoldeError) || names !== undefined) throw error;
      onMissing(name, errorText(error).split('\n')[0]!);
    }
  }
  return found;
}

/** `duckdb`, `postgres`, `duckdb@1.1.3`, …: what can be started without a server of somebody's. */
export function startable(reports: readonly EngineReport[]): string[] {
  const urls = reports.flatMap(({ found }) => found).filter((each) => !('missing' in each));
  return [
    ...new Set(urls.map(({ url }) => /^([a-z][a-z0-9]*(?:@[\w.+-]+)?):$/i.exec(url)?.[1] ?? '')),
  ].filter(Boolean);
}

/** The name with a version, where npm's package is installed and URLs may name its version. */
function namesOfInstalled(name: string, reports: readonly EngineReport[]): string[] {
  const { found = [], package: from } = reports.find(({ engine }) => engine === name) ?? {};
  const installed = found.find(({ url }) => url === `${name}:`);
  return from === undefined || installed === undefined || 'missing' in installed
    ? []
    : [`${name}@${installed.version}`];
}

function urlOf(name: string): string {
  const [engine = '', version] = name.split('@');
  const url = findDeclaration(engine)?.privateUrl?.({});
  if (url === undefined)
    throw new IsoldeError('usage', `"${name}" is no engine that a worker can start by itself`);
  return version === undefined ? url : `${name}:`;
}
