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
    byEngine: {
      // No foreign keys; ROLLBACK TO fails once a row was written (error 4061).
      rocksdb: ['column.foreign-key', 'column.generated', 'statement.savepoint'],
    },
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
  privateUrl: ({ default_storage_engine: engine = 'InnoDB' }) =>
    engine.toLowerCase() === 'innodb' ? 'mariadb:' : `mariadb:?engine=${engine.toLowerCase()}`,
  load: async () => (await import('./index.js')).mariadbDriver,
};
