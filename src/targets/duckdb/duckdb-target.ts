/**
 * DuckDB, the embedded default. `duckdb:` gives every scratch a private database in memory; `duckdb:FILE` puts
 * a schema of ours into that file and leaves the rest of it alone.
 */
import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { errorText, IsoldeError } from '../../errors.js';
import { loadDriver, missingDriver, packageVersion, parseEmbeddedUrl } from '../embedded/index.js';
import { madeAt } from '../scratch-mark.js';
import type { Scratch, Target, TargetOpener } from '../target.js';
import { closeHandle } from './close-handle.js';
import { DuckdbScratch, markMacro } from './duckdb-scratch.js';

type DuckdbModule = typeof import('@duckdb/node-api');

const defaultPackage = '@duckdb/node-api';

/** Why DuckDB cannot be used, or undefined when it can. */
export function duckdbAvailable(): string | undefined {
  return missingDriver(defaultPackage);
}

export const duckdbDriver: TargetOpener = {
  async open(url, { packageFolder }) {
    const { path, parameters } = parseEmbeddedUrl(url, ['threads', 'package']);
    const threads = parameters.threads ?? '1';
    if (!/^[1-9]\d{0,2}$/.test(threads)) {
      throw new IsoldeError('usage', `"threads=${threads}" in "${url}" must be a number from 1 to 999`);
    }
    const duckdb = await loadDuckdb(parameters.package ?? defaultPackage, packageFolder);
    return openDuckdb(duckdb, { url, file: path === ':memory:' ? '' : path, threads });
  },
};

async function loadDuckdb(name: string, folder: string | undefined): Promise<DuckdbModule> {
  const loaded = await loadDriver(name, folder);
  const duckdb = (loaded.default ?? loaded) as DuckdbModule;
  const real = duckdb.version().replace(/^v/, '');
  // The system's loader keeps the first DuckDB library of a process and hands it to every later package.
  const wanted = packageVersion(name, folder);
  if (wanted !== 'unknown' && !wanted.startsWith(real)) {
    throw new IsoldeError(
      'usage',
      `Package "${name}" is DuckDB ${wanted}, but its library says that it is DuckDB ${real}: ` +
        'the package holds another one, or this process runs it already (two versions of DuckDB need two processes)',
    );
  }
  return duckdb;
}

interface DuckdbPlace {
  readonly url: string;
  /** Empty: in memory. */
  readonly file: string;
  readonly threads: string;
}

async function openDuckdb(duckdb: DuckdbModule, place: DuckdbPlace): Promise<Target> {
  const settings = {
    // A case's tables are tiny: worker threads would cost more than they do.
    threads: place.threads,
    autoinstall_known_extensions: 'false',
    // A case is SQL that anybody may have written: no files, no extensions, no other databases, and no way back.
    enable_external_access: 'false',
    lock_configuration: 'true',
  };
  const file = place.file === '' ? undefined : resolve(place.file);
  const fileIsOurs = file !== undefined && !existsSync(file);
  const shared = file === undefined ? undefined : await openFile(duckdb, file, settings);
  const scratches = new Set<DuckdbScratch>();
  let closed = false;

  return {
    name: 'duckdb',
    dialect: 'duckdb',
    stamp: {
      name: 'duckdb',
      version: duckdb.version().replace(/^v/, ''),
      url: place.url,
      settings: { threads: place.threads, storage: file === undefined ? 'memory' : 'file' },
    },
    levels: [{ level: 'snapshot', contract: 'duckdb:snapshot', begin: 'BEGIN TRANSACTION' }],
    defaultLevel: 'snapshot',
    features: {
      conflicts: 'fail',
      counts: 'matched',
      lockingReads: false,
      savepoints: false,
      errorDoomsTransaction: true,
      transactionalDdl: true,
      cancel: true,
    },
    // DuckDB has no users: in a file of somebody's every schema is open to every statement.
    reach: async () =>
      shared === undefined || fileIsOurs
        ? { kind: 'scratch' }
        : {
            kind: 'beyond',
            why: `every statement may write to all of ${place.file}`,
            advice: 'Use duckdb: (a database in memory), or a file that does not exist yet',
          },
    ...(shared === undefined ? {} : leftoversOf(shared, () => [...scratches])),
    async createScratch(): Promise<Scratch> {
      if (closed) throw new IsoldeError('usage', 'The DuckDB target is closed');
      const scratch = await DuckdbScratch.create({
        openInstance: async () => shared ?? (await duckdb.DuckDBInstance.create(':memory:', settings)),
        private: shared === undefined,
        onDrop: (dropped) => scratches.delete(dropped),
      });
      scratches.add(scratch);
      return scratch;
    },
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      await Promise.all([...scratches].map((scratch) => scratch.drop()));
      if (shared !== undefined) closeHandle(shared);
      if (fileIsOurs) for (const suffix of ['', '.wal']) rmSync(file + suffix, { force: true });
    },
  };
}

/** One process at a time has a file open: what carries the mark and is not ours is left behind. */
function leftoversOf(
  instance: DuckDBInstance,
  own: () => readonly DuckdbScratch[],
): Required<Pick<Target, 'foundScratches' | 'dropFound'>> {
  const run = async (sql: string) => {
    const connection = await instance.connect();
    try {
      return await (await connection.run(sql)).getRows();
    } finally {
      closeHandle(connection);
    }
  };
  const foundScratches = async () => {
    const rows = await run(
      `SELECT schema_name, macro_definition FROM duckdb_functions() WHERE function_name = '${markMacro}' ORDER BY 1`,
    );
    return rows.flatMap(([name, definition]) => {
      const namespace = String(name);
      const made = madeAt(namespace, /'([^']*)'/.exec(String(definition))?.[1]);
      const inUse = own().some((scratch) => scratch.namespace === namespace);
      return made === undefined ? [] : [{ namespace, madeAt: made, inUse }];
    });
  };
  return {
    foundScratches,
    dropFound: async (namespace) => {
      const found = await foundScratches();
      if (found.some((each) => each.namespace === namespace)) await run(`DROP SCHEMA ${namespace} CASCADE`);
    },
  };
}

/** Through the driver's cache: opening a file twice in one process by hand would bypass DuckDB's file lock. */
async function openFile(
  duckdb: DuckdbModule,
  file: string,
  settings: Readonly<Record<string, string>>,
): Promise<DuckDBInstance> {
  try {
    return await duckdb.DuckDBInstance.fromCache(file, settings);
  } catch (cause) {
    throw new IsoldeError('connect', `DuckDB cannot open "${file}": ${errorText(cause)}`, { cause });
  }
}
