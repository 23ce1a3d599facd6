/** How a stand-alone script talks to Turso. */
import type { ReproDriver } from '../declaration.js';
import { temporaryFile, temporaryImports } from '../repro-driver-parts.js';

export const tursoRepro: ReproDriver = {
  packages: ['@tursodatabase/database'],
  argument: '',
  code: `${temporaryImports}
import { connect } from '@tursodatabase/database';
${temporaryFile}
async function open() {
  const databases = [];
  const session = async () => {
    const database = await connect(file);
    if (databases.length === 0 && settings.journal_mode === 'mvcc') {
      await (await database.prepare("PRAGMA journal_mode = 'mvcc'")).all();
    }
    databases.push(database);
    return {
      async run(sql) {
        const statement = await database.prepare(sql);
        try {
          if (statement.columns().length === 0) return { count: (await statement.run()).changes };
          statement.raw(true);
          statement.safeIntegers(true);
          return { rows: (await statement.all()).map((row) => row.map(text)) };
        } finally {
          statement.close();
        }
      },
    };
  };
  const close = async () => {
    for (const database of databases) await database.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { session, close };
}`,
};
