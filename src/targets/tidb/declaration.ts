import type { TargetDeclaration } from '../declaration.js';
import { mysqlRepro } from '../mysql/mysql-repro.js';
import { onOrOff, privateUrlWith } from '../private-url.js';
import { tidbLines } from './tidb-lines.js';

export const tidbDeclaration: TargetDeclaration = {
  name: 'tidb',
  title: 'TiDB',
  homePage: 'https://github.com/pingcap/tidb/issues',
  schemes: ['tidb'],
  usage: 'tidb:  (a private server)  or  tidb://user:password@host:4000/',
  dialect: 'mysql',
  generation: {
    unsupported: [
      'begin.immediate',
      'begin.read-only',
      'statement.merge',
      'index.partial',
      'lock.share',
      'wait.skip-locked',
      'write.returning',
      'write.self-subquery',
    ],
    generated: 'stored',
    shareLock: 'share mode',
    errorDoomsTransaction: false,
    plainDefaults: true,
  },
  bugForm: [
    { title: '1. Minimal reproduce step', content: ['steps'] },
    { title: '2. What did you expect to see?', content: ['expected'] },
    { title: '3. What did you see instead', content: ['actual'] },
    { title: '4. What is your TiDB version?', content: ['version-block'] },
  ],
  reproDriver: mysqlRepro,
  privateUrl: privateUrlWith('tidb', [
    { setting: 'tidb_enable_async_commit', usual: 'on', accepts: onOrOff },
    { setting: 'tidb_enable_1pc', usual: 'on', accepts: onOrOff },
  ]),
  scriptLines: tidbLines,
  findEngines: async () => (await import('./tidb-server.js')).findTidbServers(),
  load: async () => (await import('./index.js')).tidbDriver,
};
