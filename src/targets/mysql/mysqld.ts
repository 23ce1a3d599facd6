/**
 * A MySQL server of our own (`private-server.ts`): its program, and what it is started with.
 *
 * Set-up is what costs on MySQL: every CREATE and DROP is a transaction of its data dictionary, and with a file for each table it also
 * makes and removes files. So private servers keep their tables in the system tablespace, which changes nothing that a transaction
 * can see.
 *
 * Since 5.7 the server makes its data folder itself; before, a script beside it does, `mysql_install_db`.
 */
import { existsSync, realpathSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import type { FoundEngine } from '../declaration.js';
import { installedPrograms, providedProgram } from '../programs.js';
import { findServers, versionOf } from './find-servers.js';
import { mysqlLines } from './mysql-lines.js';
import {
  asRoot,
  innodbIsDurable,
  looseOptions,
  type PrivateServer,
  type PrivateServerOptions,
  runInstaller,
  startPrivateServer,
} from './private-server.js';

const install =
  'Install MySQL 5.6 or later, get it with scripts/engines mysql, or name the program: mysql:?binary=/path/to/mysqld';

/** Small and forgetful: nothing here has to survive a crash of the machine. */
const settings: readonly string[] = [
  '--skip-networking',
  // MySQL 5.6 does not know the loose ones.
  '--loose-mysqlx=OFF',
  '--skip-log-bin',
  '--local-infile=OFF',
  '--skip-name-resolve',
  '--max-connections=400',
  // Who waits is read there; it need not measure anything.
  '--performance-schema-instrument=%=OFF',
  '--innodb-file-per-table=OFF',
  '--innodb-buffer-pool-size=64M',
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-lock-wait-timeout=5',
];

/** What the data folder is made with, too. */
const storage: readonly string[] = [
  '--loose-innodb-redo-log-capacity=16M',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=OFF',
];

/** The same before there was a capacity. */
const oldStorage: readonly string[] = ['--innodb-log-file-size=8M'];

/** Why no private server can be run here, or undefined when one can. */
export function mysqlAvailable(): string | undefined {
  return findMysqld() === undefined ? `mysqld not found. ${install}` : undefined;
}

/** What `scripts/engines` provided comes first; Debian's MariaDB installs its own server under the name mysqld, too. */
export function findMysqld(): string | undefined {
  return providedProgram('mysql', 'mysqld') ?? installedPrograms('mysqld').find((path) => !isMariadb(path));
}

export function findMysqlServers(): Promise<readonly FoundEngine[]> {
  return findServers({
    name: 'mysql',
    lines: mysqlLines,
    program: findMysqld(),
    missing: mysqlAvailable(),
    versionOption: '--version',
  });
}

function isMariadb(path: string): boolean {
  return /^mariadb/.test(basename(realpathSync(path)));
}

/** Creates and starts a server; root has no password, the socket's folder keeps others out. */
export async function startMysqlServer(options: PrivateServerOptions = {}): Promise<PrivateServer> {
  const binary = options.binary ?? findMysqld();
  if (binary === undefined || !existsSync(binary)) {
    const what = binary === undefined ? mysqlAvailable() : `No program at ${binary}. ${install}`;
    throw new IsoldeError('engine-missing', what ?? install);
  }
  const variables = options.variables ?? {};
  const isOld = /^5\.[0-6]\./.test(await versionOf(binary, '--version'));
  const kept = isOld ? [...storage, ...oldStorage] : storage;
  return startPrivateServer(
    {
      kind: 'mysql',
      title: 'MySQL',
      initialize: async (place) => {
        const { data, temporary, log } = place;
        if (isOld) await mkdir(data);
        await runInstaller(place, isOld ? join(dirname(binary), 'mysql_install_db') : binary, [
          '--no-defaults',
          ...asRoot(),
          ...(isOld ? [] : ['--initialize-insecure']),
          `--datadir=${data}`,
          `--tmpdir=${temporary}`,
          `--log-error=${log}`,
          ...kept,
        ]);
      },
      command: ({ data, temporary, socket, pidFile, log, files }) => [
        binary,
        '--no-defaults',
        ...asRoot(),
        `--datadir=${data}`,
        `--tmpdir=${temporary}`,
        `--socket=${socket}`,
        `--pid-file=${pidFile}`,
        `--log-error=${log}`,
        `--secure-file-priv=${files}`,
        ...settings,
        ...kept,
        ...looseOptions(variables),
      ],
      durable: innodbIsDurable(variables),
      errorLine: /\[ERROR\]/,
    },
    options.folder,
  );
}
