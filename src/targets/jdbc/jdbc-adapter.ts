/**
 * Starts the adapter for JDBC databases (`adapters/jdbc/Jdbc.java`), which speaks the exec protocol.
 *
 * It is one Java source file. The first start compiles it into a cache folder, named by its content; where that cannot be
 * written, the JDK's source launcher compiles it in memory at every start, which takes a second more. Drivers are jars
 * that `scripts/engines` fetched, or that the URL names.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText, IsoldeError } from '../../errors.js';
import type { FoundEngine } from '../declaration.js';
import { parseEmbeddedUrl } from '../embedded/embedded-url.js';
import type { AdapterProgram } from '../exec/adapter-process.js';
import { openAdapter } from '../exec/exec-target.js';
import { engineFolder, installedPrograms, isExecutable, providedVersion } from '../programs.js';
import type { OpenOptions, Target, TargetReach } from '../target.js';

export interface JdbcEngine {
  /** What the adapter calls it; also the name `scripts/engines` knows it by. */
  readonly engine: string;
  readonly url: string;
  /** Options of the adapter, behind their names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Variables of its process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Jars of the driver; absent: those that were fetched for this engine. */
  readonly jars?: readonly string[];
  /** What its SQL can reach; absent: nobody can tell. */
  readonly reach?: TargetReach;
}

const startLimitMs = 30_000;
/** Small, and without files of its own in the system's temporary folder. */
const machine = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-Duser.timezone=UTC'];

/**
 * The parameters of the URL of an engine that lives in memory. A URL may name the version (`h2@2.4.240:`), but there is only the one
 * that was fetched.
 */
export function jdbcParameters(
  engine: string,
  url: string,
  accepted: readonly string[],
): Readonly<Record<string, string>> {
  const { path, parameters } = parseEmbeddedUrl(url, accepted);
  if (path !== '')
    throw new IsoldeError('usage', `"${url}": ${engine}: takes no file, its databases live in memory`);
  const asked = /^[^:]*@([^:]*):/.exec(url)?.[1];
  const here = providedVersion(engine);
  if (asked !== undefined && here !== undefined && asked !== here)
    throw new IsoldeError('engine-missing', `${engine} ${here} is in ${engineFolder(engine)}, not ${asked}`);
  return parameters;
}

/** The command that starts the adapter for an engine. */
export async function jdbcCommand(wanted: JdbcEngine): Promise<AdapterProgram> {
  const jars = wanted.jars ?? fetchedJars(wanted.engine);
  const missing = jars.length === 0 ? missingJars(wanted.engine) : missingJdk();
  if (missing !== undefined) throw new IsoldeError('engine-missing', missing);
  const settings = Object.entries({ engine: wanted.engine, ...wanted.settings });
  const program = await adapterProgram(jars);
  return {
    file: findJava('java')!,
    args: [...machine, ...program, ...settings.flatMap(([name, value]) => [`--${name}`, value])],
    shown: wanted.url,
    ...(wanted.environment && { environment: wanted.environment }),
  };
}

/** Starts the adapter for an engine. */
export async function openJdbc(wanted: JdbcEngine, options: OpenOptions): Promise<Target> {
  const limits = { connectTimeoutMs: startLimitMs, ...options };
  const target = await openAdapter(await jdbcCommand(wanted), wanted.url, {}, limits);
  const { reach } = wanted;
  return reach === undefined ? target : Object.assign(target, { reach: async () => reach });
}

/** For the list of engines on this machine. */
export async function findJdbcEngine(engine: string): Promise<readonly FoundEngine[]> {
  const url = `${engine}:`;
  const missing = missingJdbcEngine(engine);
  if (missing !== undefined) return [{ url, missing }];
  return [{ url, version: providedVersion(engine) ?? 'unknown', from: join(engineFolder(engine), 'jars') }];
}

/** Why an engine that comes as a jar cannot be used here, or undefined when it can. */
export function missingJdbcEngine(engine: string): string | undefined {
  return fetchedJars(engine).length === 0 ? missingJars(engine) : missingJdk();
}

function missingJars(engine: string): string {
  return `The jars of ${engine} are not in ${engineFolder(engine)}: scripts/engines ${engine} fetches them from Maven`;
}

function missingJdk(): string | undefined {
  if (findJava('java') !== undefined && findJava('javac') !== undefined) return undefined;
  return 'JDBC databases need a JDK, version 17 or newer: set JAVA_HOME, or put java and javac into PATH';
}

function findJava(program: 'java' | 'javac'): string | undefined {
  const home = process.env.JAVA_HOME;
  const own = home ? join(home, 'bin', program) : undefined;
  return own !== undefined && isExecutable(own) ? own : installedPrograms(program)[0];
}

/** The jars that `scripts/engines` fetched for an engine. */
export function fetchedJars(engine: string): readonly string[] {
  const folder = join(engineFolder(engine), 'jars');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.jar'));
  return names.sort().map((name) => join(folder, name));
}

/** The arguments of `java` that start the adapter. */
async function adapterProgram(jars: readonly string[]): Promise<readonly string[]> {
  const source = adapterSource();
  const classes = await compiled(source);
  return classes === undefined
    ? ['-cp', jars.join(delimiter), source]
    : ['-cp', [classes, ...jars].join(delimiter), 'Jdbc'];
}

/** The source lies beside the folder of the program, however that was built. */
function adapterSource(): string {
  const file = join('adapters', 'jdbc', 'Jdbc.java');
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, file))) {
    const above = dirname(folder);
    if (above === folder) throw new IsoldeError('engine-missing', `${file} is not in the package`);
    folder = above;
  }
  return join(folder, file);
}

/** The folder of its classes; undefined: they cannot be kept. */
async function compiled(source: string): Promise<string | undefined> {
  const digest = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 16);
  const parent = engineFolder('jdbc');
  const folder = join(parent, digest);
  if (existsSync(folder)) return folder;
  let making: string;
  try {
    await mkdir(parent, { recursive: true });
    making = await mkdtemp(join(parent, 'making-'));
  } catch {
    return undefined;
  }
  try {
    await promisify(execFile)(findJava('javac')!, ['--release', '17', '-d', making, source]);
    await rename(making, folder);
  } catch (cause) {
    await rm(making, { recursive: true, force: true });
    // Another process may have been first.
    if (existsSync(folder)) return folder;
    throw new IsoldeError('engine-missing', `The JDBC adapter cannot be compiled: ${errorText(cause)}`, {
      cause,
    });
  }
  return folder;
}
