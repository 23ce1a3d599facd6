import { noLocks, type TargetDeclaration } from '../declaration.js';
import { privateUrlWith } from '../private-url.js';
import { sqliteRepro } from './sqlite-repro.js';

export const sqliteDeclaration: TargetDeclaration = {
  name: 'sqlite',
  title: 'SQLite',
  homePage: 'https://sqlite.org/forum',
  schemes: ['sqlite'],
  usage: 'sqlite:  or  sqlite:?journal=delete  or  sqlite:FOLDER  (embedded)',
  dialect: 'sqlite',
  generation: {
    unsupported: [...noLocks, 'begin.read-only', 'begin.snapshot', 'statement.merge'],
    generated: 'stored',
    shareLock: 'share',
    indexes: ['partial', 'expression', 'covering'],
    errorDoomsTransaction: false,
  },
  reproDriver: sqliteRepro,
  privateUrl: privateUrlWith('sqlite', [
    { setting: 'journal_mode', parameter: 'journal', usual: 'wal', accepts: /^(?:wal|delete)$/ },
  ]),
  settings: { journal: ['wal', 'delete'] },
  // Versions of the driver, each with the SQLite that it brings.
  releases: { package: 'libsql', engineVersion: (version) => version },
  load: async () => (await import('./index.js')).sqliteDriver,
};
