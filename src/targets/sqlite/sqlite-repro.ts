/** How a stand-alone script talks to SQLite. */
import type { ReproDriver } from '../declaration.js';
import { temporaryFile, temporaryImports } from '../repro-driver-parts.js';

export const sqliteRepro: ReproDriver = {
  packages: ['libsql'],
  argument: '',
  code: `${temporaryImports}
import Database from 'libsql';
${temporaryFile}
async function open() {
  const databases = [];
  const session = async () => {
    const database = new Database(file);
    if (databases.length === 0) database.exec('PRAGMA journal_mode = ' + settings.journal_mode);
    database.exec('PRAGMA busy_timeout = 0');
    databases.push(database);
    return {
      async run(sql) {
        const statement = database.prepare(sql);
        if (statement.reader) return { rows: statement.raw(true).safeIntegers(true).all().map((row) => row.map(text)) };
        // The driver never resets a prepared statement that failed with SQLITE_BUSY; what exec runs is finalized at once.
        database.exec(sql);
        return { count: database.prepare('SELECT changes()').raw(true).all()[0][0] };
      },
    };
  };
  const close = async () => {
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { session, close };
}`,
};
