import { noLocks, type TargetDeclaration } from '../declaration.js';
import { jdbcRepro } from '../jdbc/jdbc-repro.js';

export const derbyDeclaration: TargetDeclaration = {
  name: 'derby',
  title: 'Derby',
  homePage: 'https://issues.apache.org/jira/projects/DERBY',
  schemes: ['derby'],
  usage: 'derby:  (embedded in a JVM, in memory)',
  dialect: 'postgres',
  generation: {
    unsupported: [
      ...noLocks,
      'begin.read-only',
      'begin.snapshot',
      'begin.immediate',
      'statement.replace',
      'statement.upsert',
      'write.returning',
      'column.generated',
      'index.partial',
      'type.text',
      'type.binary',
      'select.cte',
      'select.window',
      'detail.limit',
    ],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: false,
  },
  reproDriver: jdbcRepro(
    'derby-10.16.1.1.jar:derbyshared-10.16.1.1.jar',
    "'jdbc:derby:memory:repro;create=true'",
  ),
  privateUrl: () => 'derby:',
  findEngines: async () => (await import('../jdbc/jdbc-adapter.js')).findJdbcEngine('derby'),
  load: async () => (await import('./index.js')).derbyDriver,
};
