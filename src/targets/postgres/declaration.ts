import type { TargetDeclaration } from '../declaration.js';
import { postgresRepro } from './postgres-repro.js';

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
  privateUrl: () => 'postgres:',
  load: async () => (await import('./index.js')).postgresDriver,
};
