/**
 * The engines that `scripts/engines` provides, for tests: where they are missing, tests are skipped with the reason, also where engines
 * are required, for not every machine can fetch or build them.
 */
import { mysqlAvailable } from './mysql/index.js';
import { providedVersion } from './programs.js';
import { tidbAvailable } from './tidb/index.js';

export interface ProvidedEngine {
  readonly url: string;
  readonly missing: string | undefined;
}

function provided(name: string, url: string): ProvidedEngine {
  return {
    url,
    missing:
      providedVersion(name) === undefined ? `${name} is not there: scripts/engines ${name}` : undefined,
  };
}

export const providedEngines = {
  mysql: { url: 'mysql:', missing: mysqlAvailable() },
  mysql56: provided('mysql-5.6', 'mysql@5.6:'),
  mariadb118: provided('mariadb-11.8', 'mariadb@11.8:'),
  tidb: { url: 'tidb:', missing: tidbAvailable() },
  tidbOld: provided('tidb-old', 'tidb@6.6:'),
} as const satisfies Readonly<Record<string, ProvidedEngine>>;
