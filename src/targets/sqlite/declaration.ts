import { noLocks, type TargetDeclaration } from '../declaration.js';
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
    errorDoomsTransaction: false,
  },
  reproDriver: sqliteRepro,
  privateUrl: ({ journal_mode }) => (journal_mode === 'delete' ? 'sqlite:?journal=delete' : 'sqlite:'),
  load: async () => (await import('./index.js')).sqliteDriver,
};
