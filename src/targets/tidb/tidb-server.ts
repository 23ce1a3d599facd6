/**
 * A TiDB server of our own (`mysql/private-server.ts`): one process with its embedded storage, `unistore`, which implements TiKV's
 * transaction protocol on one node. It is what TiDB's own tests run on.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import type { FoundEngine } from '../declaration.js';
import { findServers } from '../mysql/find-servers.js';
import {
  type PrivateServer,
  type PrivateServerOptions,
  startPrivateServer,
} from '../mysql/private-server.js';
import { installedPrograms, providedProgram } from '../programs.js';
import { tidbLines } from './tidb-lines.js';

const install =
  'Build it with scripts/engines tidb (Go and some minutes), or name the program: tidb:?binary=/path/to/tidb-server';

/** Why no private server can be run here, or undefined when one can. */
export function tidbAvailable(): string | undefined {
  return findTidb() === undefined ? `tidb-server not found. ${install}` : undefined;
}

function findTidb(): string | undefined {
  return providedProgram('tidb', 'tidb-server') ?? installedPrograms('tidb-server')[0];
}

export function findTidbServers(): Promise<readonly FoundEngine[]> {
  return findServers({
    name: 'tidb',
    lines: tidbLines,
    program: findTidb(),
    missing: tidbAvailable(),
    versionOption: '-V',
  });
}

/** Starts a server; root has no password, the socket's folder keeps others out. */
export async function startTidbServer(options: PrivateServerOptions = {}): Promise<PrivateServer> {
  const binary = options.binary ?? findTidb();
  if (binary === undefined || !existsSync(binary)) {
    const what = binary === undefined ? tidbAvailable() : `No program at ${binary}. ${install}`;
    throw new IsoldeError('engine-missing', what ?? install);
  }
  return startPrivateServer(
    {
      kind: 'tidb',
      title: 'TiDB',
      initialize: ({ folder, temporary }) =>
        writeFile(
          join(folder, 'config'),
          // Two servers with the same ports, here none, would lock the same folder below the system's temporary one.
          `tmp-storage-path = ${JSON.stringify(temporary)}\ntemp-dir = ${JSON.stringify(temporary)}\n`,
        ),
      command: ({ folder, data, socket, log }) => [
        binary,
        '--store=unistore',
        `--path=${data}`,
        `--config=${join(folder, 'config')}`,
        `--socket=${socket}`,
        '-P=0',
        '--report-status=false',
        `--log-file=${log}`,
        '-L=error',
      ],
      durable: false,
      errorLine: /\[(ERROR|FATAL)\]/,
    },
    options.folder,
  );
}
