import { noLocks, type TargetDeclaration } from '../declaration.js';
import { privateUrlWith } from '../private-url.js';
import { tursoRepro } from './turso-repro.js';

export const tursoDeclaration: TargetDeclaration = {
  name: 'turso',
  title: 'Turso',
  homePage: 'https://github.com/tursodatabase/turso/issues',
  schemes: ['turso'],
  usage: 'turso:  or  turso:?mode=mvcc  or  turso:FOLDER  (embedded)',
  dialect: 'sqlite',
  generation: {
    unsupported: [
      ...noLocks,
      'begin.read-only',
      'begin.snapshot',
      'statement.merge',
      'column.generated',
      'window.lag',
    ],
    generated: 'virtual',
    shareLock: 'share',
    errorDoomsTransaction: false,
    explicitKeys: true,
  },
  reproDriver: tursoRepro,
  privateUrl: privateUrlWith('turso', [
    { setting: 'journal_mode', parameter: 'mode', usual: 'wal', accepts: /^(?:wal|mvcc)$/ },
  ]),
  settings: { mode: ['wal', 'mvcc'] },
  releases: { package: '@tursodatabase/database', engineVersion: (version) => version },
  load: async () => (await import('./index.js')).tursoDriver,
};
