/** SQLite in a file of our own: `sqlite:` tests the write-ahead log, `sqlite:?journal=delete` the rollback journal. */
import { IsoldeError } from '../../errors.js';
import {
  choose,
  type FileEngine,
  FileScratch,
  leftoversIn,
  loadDriver,
  missingDriver,
  parseEmbeddedUrl,
  scratchParent,
  sweepLeftovers,
} from '../embedded/index.js';
import type { Scratch, Target, TargetOpener } from '../target.js';
import { type SqliteConstructor, type SqliteJournal, sqliteEngine } from './sqlite-engine.js';

const defaultPackage = 'libsql';

/** Why SQLite cannot be used, or undefined when it can. */
export function sqliteAvailable(): string | undefined {
  return missingDriver(defaultPackage);
}

export const sqliteDriver: TargetOpener = {
  async open(url, options) {
    const { path, parameters } = parseEmbeddedUrl(url, ['journal', 'package']);
    const journal = choose<SqliteJournal>(url, 'journal', parameters.journal, ['wal', 'delete']);
    const parentFolder = scratchParent(url, path, options.scratchFolder);
    const loaded = await loadDriver(parameters.package ?? defaultPackage);
    const Database = (loaded.default ?? loaded) as unknown as SqliteConstructor;
    return openSqlite(sqliteEngine(Database, journal), {
      url,
      journal,
      parentFolder,
      owner: options.owner,
      version: readVersion(Database),
    });
  },
};

function readVersion(Database: SqliteConstructor): string {
  const database = new Database(':memory:');
  try {
    const [row] = database.prepare('SELECT sqlite_version()').raw(true).all();
    return String((row as readonly unknown[])[0]);
  } finally {
    database.close();
  }
}

interface SqlitePlace {
  readonly url: string;
  readonly journal: SqliteJournal;
  readonly parentFolder: string;
  readonly owner?: number | undefined;
  readonly version: string;
}

function openSqlite(engine: FileEngine, place: SqlitePlace): Target {
  const contract = place.journal === 'wal' ? 'sqlite:serializable+wal' : 'sqlite:serializable+rollback';
  const scratches = new Set<FileScratch>();
  const scratchOptions = {
    engine,
    parentFolder: place.parentFolder,
    level: 'serializable' as const,
    owner: place.owner,
    onDrop: (dropped: FileScratch) => scratches.delete(dropped),
  };
  let closed = false;
  let swept: Promise<void> | undefined;
  return {
    name: 'sqlite',
    dialect: 'sqlite',
    stamp: {
      name: 'sqlite',
      version: place.version,
      url: place.url,
      settings: { journal_mode: place.journal },
    },
    levels: [{ level: 'serializable', contract, begin: 'BEGIN' }],
    defaultLevel: 'serializable',
    features: {
      conflicts: 'fail',
      counts: 'matched',
      lockingReads: false,
      savepoints: true,
      errorDoomsTransaction: false,
      transactionalDdl: true,
      cancel: false,
    },
    reach: async () => ({ kind: 'scratch' }),
    ...leftoversIn(place.parentFolder),
    async createScratch(): Promise<Scratch> {
      if (closed) throw new IsoldeError('usage', 'The SQLite target is closed');
      swept ??= sweepLeftovers(place.parentFolder);
      await swept;
      const scratch = await FileScratch.create(scratchOptions);
      scratches.add(scratch);
      return scratch;
    },
    async adoptScratch(namespace): Promise<Scratch> {
      const scratch = await FileScratch.adopt(scratchOptions, namespace);
      scratches.add(scratch);
      return scratch;
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...scratches].map((scratch) => scratch.drop()));
    },
  };
}
