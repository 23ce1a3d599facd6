import { engineSetting } from '../../contracts/index.js';
import type { TargetDeclaration } from '../declaration.js';
import { mysqlRepro } from '../mysql/mysql-repro.js';
import { count, onOrOff, privateUrlWith } from '../private-url.js';
import { mariadbLines } from './mariadb-lines.js';

const innodbUrl = privateUrlWith('mariadb', [
  // ON since 11.6.
  { setting: 'innodb_snapshot_isolation', accepts: onOrOff },
  { setting: 'innodb_rollback_on_timeout', usual: 'off', accepts: onOrOff },
  { setting: 'innodb_locks_unsafe_for_binlog', usual: 'off', accepts: onOrOff },
  { setting: 'innodb_autoinc_lock_mode', usual: '1', accepts: count },
]);
const otherEngineUrl = privateUrlWith('mariadb', [
  { setting: engineSetting, parameter: 'engine', accepts: /^[a-z]{1,30}$/i },
]);

function isInnodb({ [engineSetting]: engine = 'InnoDB' }: Readonly<Record<string, string>>): boolean {
  return engine.toLowerCase() === 'innodb';
}

export const mariadbDeclaration: TargetDeclaration = {
  name: 'mariadb',
  title: 'MariaDB',
  homePage: 'https://jira.mariadb.org/projects/MDEV',
  schemes: ['mariadb'],
  usage: 'mariadb:  (a private server)  or  mariadb://user:password@host:3306/',
  dialect: 'mysql',
  deletesReturn: true,
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
  plainBugForm: true,
  bugForm: [
    { title: 'Summary', content: ['synopsis'] },
    { title: 'Affects Version/s', content: ['version'] },
    { title: 'Component/s', content: [{ text: 'Storage Engine - InnoDB' }] },
    { title: 'Environment', content: ['environment'] },
    { title: 'Description', content: ['description', 'steps', 'mtr-test'] },
  ],
  testFormat: 'mtr',
  reproDriver: mysqlRepro,
  privateUrl: (settings) => {
    const url = isInnodb(settings) ? innodbUrl(settings) : otherEngineUrl(settings).toLowerCase();
    return settings.cluster === 'galera' ? `cluster:${url}` : url;
  },
  scriptLines: mariadbLines,
  findEngines: async () => (await import('./mariadb-server.js')).findMariadbServers(),
  settings: { innodb_snapshot_isolation: ['OFF', 'ON'] },
  load: async () => (await import('./index.js')).mariadbDriver,
};
