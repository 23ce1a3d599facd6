/** SQLite in a file of our own: `sqlite:` tests the write-ahead log, `sqlite:?journal=delete` the rollback journal. */
import {
  choose,
  type FileEngine,
  fileTarget,
  loadDriver,
  missingDriver,
  parseEmbeddedUrl,
  scratchParent,
} from '../embedded/index.js';
import type { Target, TargetOpener } from '../target.js';
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
    const loaded = await loadDriver(parameters.package ?? defaultPackage, options.packageFolder);
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
  const { url, journal, parentFolder, owner, version } = place;
  const contract = journal === 'wal' ? 'sqlite:serializable+wal' : 'sqlite:serializable+rollback';
  return fileTarget({
    engine,
    stamp: { name: 'sqlite', version, url, settings: { journal_mode: journal } },
    title: 'SQLite',
    level: { level: 'serializable', contract, begin: 'BEGIN' },
    parentFolder,
    owner,
  });
}
