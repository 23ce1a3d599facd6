import type { TargetDeclaration } from '../declaration.js';
import { count, onOrOff, privateUrlWith } from '../private-url.js';
import { mysqlLines } from './mysql-lines.js';
import { mysqlRepro } from './mysql-repro.js';

export const mysqlDeclaration: TargetDeclaration = {
  name: 'mysql',
  title: 'MySQL',
  homePage: 'https://bugs.mysql.com',
  schemes: ['mysql'],
  usage: 'mysql:  (a private server)  or  mysql://user:password@host:3306/',
  dialect: 'mysql',
  generation: {
    unsupported: [
      'begin.immediate',
      'statement.merge',
      'index.partial',
      'write.returning',
      'write.self-subquery',
    ],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
    plainDefaults: true,
  },
  plainBugForm: true,
  bugForm: [
    { title: 'Synopsis', content: ['synopsis'] },
    { title: 'Version', content: ['version'] },
    { title: 'OS', content: ['server-os'] },
    { title: 'Severity', content: [{ text: 'S3 (Non-critical)' }] },
    { title: 'Category', content: [{ text: 'MySQL Server: InnoDB storage engine' }] },
    { title: 'Description', content: ['description'] },
    { title: 'How to repeat', content: ['steps', 'mtr-test'] },
    { title: 'Suggested fix', content: [{ text: 'None.' }] },
  ],
  testFormat: 'mtr',
  reproDriver: mysqlRepro,
  privateUrl: privateUrlWith('mysql', [
    { setting: 'innodb_rollback_on_timeout', usual: 'off', accepts: onOrOff },
    { setting: 'innodb_autoinc_lock_mode', usual: '2', accepts: count },
  ]),
  scriptLines: mysqlLines,
  findEngines: async () => (await import('./mysqld.js')).findMysqlServers(),
  load: async () => (await import('./index.js')).mysqlDriver,
};
