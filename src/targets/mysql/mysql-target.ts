/** Opens a server of the family as a target. */
import { join } from 'node:path';
import type { Level } from '../../contracts/index.js';
import { parseLevel } from '../../contracts/index.js';
import { IsoldeError } from '../../errors.js';
import { ownMemoryBytes } from '../process-memory.js';
import { findProvidedServer, howToProvide, type ScriptLine } from '../programs.js';
import type { NodeTarget, OpenOptions, Target } from '../target.js';
import { awaitPosition, readPosition } from './galera-position.js';
import { dropScratch, listScratches } from './mysql-leftovers.js';
import { MysqlScratch } from './mysql-scratch.js';
import { MysqlServer, type ServerOptions } from './mysql-server.js';
import { type MysqlUrl, parseMysqlUrl } from './mysql-url.js';
import type { PrivateServer, PrivateServerOptions } from './private-server.js';

export interface FamilyOptions extends ServerOptions {
  /** The URL as the stamp shows it. */
  readonly shown: string;
  /** Runs after the last connection is closed: stops a private server. */
  readonly onClose?: () => Promise<void>;
  /** Kills a private server and starts it again. */
  readonly kill?: () => Promise<void>;
  readonly memoryBytes?: () => number | undefined;
}

/** How an engine of the family is opened. */
export interface FamilyEngine {
  /** As `scripts/engines` names it. */
  readonly name: string;
  /** What `scripts/engines` brings of it. */
  readonly lines: readonly ScriptLine[];
  /** The name of its server program, in the folder a URL names. */
  readonly program: string;
  readonly port: number;
  /** It keeps what it used until its next collection, so that what it holds says nothing about a run. */
  readonly collectsGarbage?: true;
  /** Starts a private server. */
  readonly start: (options: PrivateServerOptions) => Promise<PrivateServer>;
}

/** Opens the server a URL names, or a private one where it names none. */
export async function openFamilyUrl(
  engine: FamilyEngine,
  url: string,
  options: OpenOptions,
): Promise<Target> {
  const { address, variables, shown, ...wanted } = parseMysqlUrl(url, engine.port);
  const { connectTimeoutMs } = options;
  if (address !== undefined) {
    return openFamilyTarget({ address, variables, shown, isPrivate: false, connectTimeoutMs });
  }
  const program = programOf(engine, wanted);
  const server = await engine.start({
    variables,
    ...(program !== undefined && { binary: program }),
    ...(options.scratchFolder !== undefined && { folder: options.scratchFolder }),
  });
  const { collectsGarbage = false } = engine;
  return openPrivateServer(server, { variables, shown, connectTimeoutMs, collectsGarbage });
}

interface PrivateServerTarget
  extends Pick<FamilyOptions, 'variables' | 'shown' | 'connectTimeoutMs' | 'caseLogin'> {
  /** What it holds says nothing about a run. */
  readonly collectsGarbage?: boolean;
}

/** A server that was started for us, which ends with the target. */
export async function openPrivateServer(
  server: PrivateServer,
  { collectsGarbage = false, ...options }: PrivateServerTarget,
): Promise<NodeTarget> {
  try {
    return await openFamilyTarget({
      ...options,
      address: server.address,
      isPrivate: true,
      onClose: server.stop,
      ...(!collectsGarbage && { memoryBytes: () => ownMemoryBytes(server.pid) }),
      ...(server.kill !== undefined && { kill: server.kill }),
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** The program that a URL asks for; undefined: any. */
export function programOf(
  { name, lines, program }: Pick<FamilyEngine, 'name' | 'lines' | 'program'>,
  { version, binary, binaries }: Pick<MysqlUrl, 'version' | 'binary' | 'binaries'>,
): string | undefined {
  if (version === undefined) return binary ?? (binaries === undefined ? undefined : join(binaries, program));
  const found = findProvidedServer(name, version);
  if (found !== undefined) return join(found.binaries, program);
  throw new IsoldeError(
    'engine-missing',
    `${name} ${version} is not there: ${howToProvide(lines, version)}, ` +
      `or name the folder of its programs: ${name}:?binaries=/path/to/bin`,
  );
}

/** Connects and learns what the server is; the stamp's name is the engine it says it is. */
export async function openFamilyTarget(options: FamilyOptions): Promise<NodeTarget> {
  const server = await MysqlServer.connect(options);
  const { flavor, settings, version } = server;
  const levels = flavor.levels(settings);
  const scratches = new Set<MysqlScratch>();
  let closed = false;
  return {
    name: flavor.name,
    dialect: 'mysql',
    stamp: { name: flavor.name, version, url: options.shown, settings },
    levels,
    defaultLevel: defaultLevel(
      settings,
      levels.map(({ level }) => level),
    ),
    features: flavor.features,
    reach: async () => (options.isPrivate ? { kind: 'scratch' } : server.reach()),
    foundScratches: () => listScratches(server),
    dropFound: (namespace) => dropScratch(server, namespace),
    createScratch: async () => {
      const scratch = new MysqlScratch(server, (dropped) => scratches.delete(dropped));
      await scratch.create();
      scratches.add(scratch);
      return scratch;
    },
    joinScratch: async (namespace) => {
      const scratch = new MysqlScratch(server, (dropped) => scratches.delete(dropped), namespace);
      scratches.add(scratch);
      return scratch;
    },
    position: () => readPosition(server),
    awaitPosition: (position, limitMs) => awaitPosition(server, position, limitMs),
    ...(options.kill !== undefined && { kill: options.kill }),
    ...(options.memoryBytes !== undefined && { memoryBytes: options.memoryBytes }),
    close: async () => {
      if (closed) return;
      closed = true;
      const dropped = await Promise.allSettled([...scratches].map((scratch) => scratch.drop()));
      await server.close();
      await options.onClose?.();
      for (const result of dropped) if (result.status === 'rejected') throw result.reason;
    },
  };
}

function defaultLevel(settings: Readonly<Record<string, string>>, known: readonly Level[]): Level {
  const level = parseLevel(settings.transaction_isolation ?? settings.tx_isolation ?? '');
  return level !== undefined && known.includes(level) ? level : 'repeatable read';
}
