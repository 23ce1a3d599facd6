/**
 * Which engines a worker has. What is not installed is not tried; what is installed is opened once, for an engine that cannot start here
 * is none, and its own word for its version is what reductions need. Versions that were fetched before come along by their names.
 */
import { errorText, IsoldeError } from '../errors.js';
import { findDeclaration, findEngines, openTarget } from '../targets/index.js';

/** The engines named, or all; of all, what does not open is reported and left out. */
export async function enginesHere(
  names: readonly string[] | undefined,
  onMissing: (engine: string, why: string) => void = () => undefined,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names ?? (await installed())) {
    try {
      const target = await openTarget(urlOf(name));
      found[name] = target.stamp.version;
      await target.close();
    } catch (error) {
      if (!(error instanceof IsoldeError) || names !== undefined) throw error;
      onMissing(name, errorText(error).split('\n')[0]!);
    }
  }
  return found;
}

/** `duckdb`, `postgres`, `duckdb@1.1.3`, …: what can be started without a server of somebody's. */
async function installed(): Promise<string[]> {
  const reports = await findEngines();
  const urls = reports.flatMap(({ found }) => found).filter((each) => !('missing' in each));
  return [...new Set(urls.map(({ url }) => /^([a-z]+(?:@[\w.+-]+)?):$/i.exec(url)?.[1] ?? ''))].filter(
    Boolean,
  );
}

function urlOf(name: string): string {
  const [engine = '', version] = name.split('@');
  const url = findDeclaration(engine)?.privateUrl?.({});
  if (url === undefined)
    throw new IsoldeError('usage', `"${name}" is no engine that a worker can start by itself`);
  return version === undefined ? url : `${name}:`;
}
