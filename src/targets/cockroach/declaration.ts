import type { TargetDeclaration } from '../declaration.js';
import { postgresRepro } from '../postgres/postgres-repro.js';

export const cockroachDeclaration: TargetDeclaration = {
  name: 'cockroach',
  title: 'CockroachDB',
  homePage: 'https://github.com/cockroachdb/cockroach/issues',
  schemes: ['cockroach', 'cockroachdb'],
  usage: 'cockroach://user:password@host:26257/database  (not exercised: no test meets a server)',
  dialect: 'postgres',
  generation: {
    unsupported: ['begin.snapshot', 'begin.immediate', 'statement.replace', 'statement.merge'],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: true,
  },
  reproDriver: postgresRepro,
  load: async () => (await import('./index.js')).cockroachDriver,
};
