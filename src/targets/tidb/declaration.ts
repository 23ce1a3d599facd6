import type { TargetDeclaration } from '../declaration.js';
import { mysqlRepro } from '../mysql/mysql-repro.js';

export const tidbDeclaration: TargetDeclaration = {
  name: 'tidb',
  title: 'TiDB',
  homePage: 'https://github.com/pingcap/tidb/issues',
  schemes: ['tidb'],
  usage: 'tidb://user:password@host:4000/',
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
  },
  bugForm: [
    { title: '1. Minimal reproduce step', content: ['steps'] },
    { title: '2. What did you expect to see?', content: ['expected'] },
    { title: '3. What did you see instead', content: ['actual'] },
    { title: '4. What is your TiDB version?', content: ['version-block'] },
  ],
  reproDriver: mysqlRepro,
  load: async () => (await import('./index.js')).tidbDriver,
};
