/** A MariaDB server of our own (`mysql/private-server.ts`): its programs, and what it is started with. */
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import type { FoundEngine } from '../declaration.js';
import { findServers } from '../mysql/find-servers.js';
import {
  asRoot,
  innodbIsDurable,
  looseOptions,
  type PrivateServer,
  type PrivateServerOptions,
  runInstaller,
  type ServerPlace,
  startPrivateServer,
} from '../mysql/private-server.js';
import { installedPrograms, isExecutable } from '../programs.js';
import { mariadbLines } from './mariadb-lines.js';

export type MariadbServer = PrivateServer;

export interface MariadbServerOptions extends PrivateServerOptions {
  /** It is a node of a cluster (`galera-nodes.ts`). */
  readonly cluster?: {
    /** Writes the option file that it is started with. */
    readonly prepare: (place: ServerPlace) => Promise<string>;
    /** The folder of data that it begins with; absent: the cluster begins with this node. */
    readonly data?: string;
    /** Of the node that the cluster begins with: does something with the first state of the cluster, which its data have. */
    readonly afterFirstStart?: (place: ServerPlace) => Promise<void>;
  };
}

const install =
  'Install MariaDB (Debian, Ubuntu: apt-get install mariadb-server-core mariadb-client-core), ' +
  'or name the program: mariadb:?binary=/path/to/mariadbd';

/** Small and forgetful: nothing here has to survive a crash of the machine. */
const settings: readonly string[] = [
  '--skip-networking',
  '--skip-log-bin',
  '--local-infile=OFF',
  '--skip-symbolic-links',
  '--skip-name-resolve',
  '--max-connections=400',
  '--innodb-buffer-pool-size=32M',
  '--innodb-log-file-size=16M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=OFF',
  '--sync-frm=OFF',
  '--innodb-lock-wait-timeout=5',
];

/** Why no private server can be run here, or undefined when one can. */
export function mariadbAvailable(): string | undefined {
  const missing = ['mariadbd', 'mariadb-install-db'].filter((name) => installedPrograms(name).length === 0);
  return missing.length === 0 ? undefined : `${missing.join(' and ')} not found. ${install}`;
}

export function findMariadbServers(): Promise<readonly FoundEngine[]> {
  const [program] = installedPrograms('mariadbd');
  return findServers({
    name: 'mariadb',
    lines: mariadbLines,
    program,
    missing: mariadbAvailable(),
    versionOption: '--version',
  });
}

/** Why no private server can keep tables in MyRocks, or undefined when one can. */
export function myrocksAvailable(): string | undefined {
  const folders = ['/usr/lib/mysql/plugin', '/usr/lib64/mysql/plugin', '/usr/lib/mariadb/plugin'];
  return folders.some((folder) => existsSync(join(folder, 'ha_rocksdb.so')))
    ? undefined
    : 'ha_rocksdb.so not found. Install MyRocks (Debian, Ubuntu: mariadb-plugin-rocksdb)';
}

/** What a storage engine that comes as a plugin needs at the start, by the engine's name. */
const engineOptions: Readonly<Record<string, readonly string[]>> = {
  rocksdb: [
    '--plugin-load-add=ha_rocksdb',
    '--rocksdb-deadlock-detect=ON',
    '--rocksdb-flush-log-at-trx-commit=0',
    '--rocksdb-block-cache-size=32M',
  ],
};

/** Creates and starts a server; root has no password, the socket's folder keeps others out. */
export async function startMariadbServer(options: MariadbServerOptions = {}): Promise<MariadbServer> {
  const binary = options.binary ?? installedPrograms('mariadbd')[0];
  const installer = findInstaller(options.binary);
  if (binary === undefined || !existsSync(binary) || installer === undefined) {
    const what =
      options.binary === undefined ? mariadbAvailable() : `No program at ${options.binary}. ${install}`;
    throw new IsoldeError('engine-missing', what ?? install);
  }
  const variables = options.variables ?? {};
  const engine = variables.default_storage_engine;
  const { cluster } = options;
  let optionFile: string | undefined;
  return startPrivateServer(
    {
      kind: 'mariadb',
      title: 'MariaDB',
      initialize: async (place) => {
        if (cluster?.data !== undefined) await cp(cluster.data, place.data, { recursive: true });
        else {
          await runInstaller(place, installer, [
            '--no-defaults',
            ...asRoot(),
            `--datadir=${place.data}`,
            `--tmpdir=${place.temporary}`,
            '--auth-root-authentication-method=normal',
            '--skip-test-db',
            '--innodb-log-file-size=16M',
            '--innodb-flush-method=nosync',
          ]);
        }
        optionFile = await cluster?.prepare(place);
      },
      ...(cluster?.afterFirstStart && { afterFirstStart: cluster.afterFirstStart }),
      command: ({ data, temporary, socket, pidFile, log, files, folder }) => {
        const [program, ...first]: readonly [string, ...string[]] =
          optionFile === undefined
            ? [binary, '--no-defaults']
            : // A node looks for the program that hands over its state in PATH.
              ['env', `PATH=${folder}:${process.env.PATH ?? ''}`, binary, `--defaults-file=${optionFile}`];
        return [
          program,
          ...first,
          ...asRoot(),
          ...(cluster !== undefined && cluster.data === undefined ? ['--wsrep-new-cluster'] : []),
          `--datadir=${data}`,
          `--tmpdir=${temporary}`,
          `--socket=${socket}`,
          `--pid-file=${pidFile}`,
          `--log-error=${log}`,
          `--secure-file-priv=${files}`,
          ...settings,
          ...(engineOptions[engine?.toLowerCase() ?? ''] ?? []),
          ...looseOptions(variables),
        ];
      },
      // Started again, a node would have to ask another one for its state.
      durable: cluster === undefined && innodbIsDurable(variables),
      errorLine: /\[ERROR\]/,
      ...(engine !== undefined && {
        hint: `it was asked for the storage engine "${engine}", which may not be installed`,
      }),
    },
    options.folder,
  );
}

/** `mariadb-install-db` beside a given program (bin/ or, in an unpacked release, scripts/), else in PATH. */
function findInstaller(binary: string | undefined): string | undefined {
  if (binary !== undefined) {
    for (const folder of [
      dirname(binary),
      join(dirname(binary), '../bin'),
      join(dirname(binary), '../scripts'),
    ]) {
      const beside = join(folder, 'mariadb-install-db');
      if (isExecutable(beside)) return beside;
    }
  }
  return installedPrograms('mariadb-install-db')[0];
}
