/** Opens a server of the family as a target. */
import type { Level } from '../../contracts/index.js';
import { parseLevel } from '../../contracts/index.js';
import type { Target } from '../target.js';
import { dropScratch, listScratches } from './mysql-leftovers.js';
import { MysqlScratch } from './mysql-scratch.js';
import { MysqlServer, type ServerOptions } from './mysql-server.js';

export interface FamilyOptions extends ServerOptions {
  /** The URL as the stamp shows it. */
  readonly shown: string;
  /** Runs after the last connection is closed: stops a private server. */
  readonly onClose?: () => Promise<void>;
  /** Kills a private server and starts it again. */
  readonly kill?: () => Promise<void>;
}

/** Connects and learns what the server is; the stamp's name is the engine it says it is. */
export async function openFamilyTarget(options: FamilyOptions): Promise<Target> {
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
    foundScratches: () => listScratches((sql) => server.askMonitor(sql), server.hasDatabaseComments),
    dropFound: (namespace) =>
      dropScratch((sql) => server.askMonitor(sql), server.hasDatabaseComments, namespace),
    createScratch: async () => {
      const scratch = new MysqlScratch(server, (dropped) => scratches.delete(dropped));
      await scratch.create();
      scratches.add(scratch);
      return scratch;
    },
    ...(options.kill !== undefined && { kill: options.kill }),
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
