import type { TargetDeclaration } from '../declaration.js';
import { mysqlRepro } from '../mysql/mysql-repro.js';

export const mariadbDeclaration: TargetDeclaration = {
  name: 'mariadb',
  title: 'MariaDB',
  homePage: 'https://jira.mariadb.org/projects/MDEV',
  schemes: ['mariadb'],
  usage: 'mariadb:  (a private server)  or  mariadb://user:password@host:3306/',
  dialect: 'mysql',
  generation: {
    unsupported: ['begin.immediate', 'statement.merge', 'index.partial', 'write.returning'],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
  },
  bugForm: [
    { title: 'Summary', content: ['synopsis'] },
    { title: 'Affects Version/s', content: ['version'] },
    { title: 'Component/s', content: [{ text: 'Storage Engine - InnoDB' }] },
    { title: 'Environment', content: ['environment'] },
    { title: 'Description', content: ['description', 'steps', 'mtr-test'] },
  ],
  testFormat: 'mtr',
  reproDriver: mysqlRepro,
  privateUrl: () => 'mariadb:',
  load: async () => (await import('./index.js')).mariadbDriver,
};
