import type { TargetDeclaration } from '../declaration.js';
import { jdbcRepro } from '../jdbc/jdbc-repro.js';

export const h2Declaration: TargetDeclaration = {
  name: 'h2',
  title: 'H2',
  homePage: 'https://github.com/h2database/h2database/issues',
  schemes: ['h2'],
  usage: 'h2:  (embedded in a JVM, in memory)',
  dialect: 'postgres',
  generation: {
    unsupported: [
      'begin.snapshot',
      'begin.immediate',
      'statement.replace',
      'statement.upsert',
      'write.returning',
      'column.generated',
      'index.partial',
      // PostgreSQL's literal for it is taken for text.
      'type.binary',
      'lock.share',
    ],
    generated: 'stored',
    shareLock: 'share',
    indexes: ['covering'],
    errorDoomsTransaction: false,
  },
  reproDriver: jdbcRepro(
    'h2-2.4.240.jar',
    "'jdbc:h2:mem:repro;DB_CLOSE_DELAY=-1;MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;LOCK_TIMEOUT=20000'",
  ),
  privateUrl: () => 'h2:',
  scriptLines: [{ name: 'h2', series: '2' }],
  findEngines: async () => (await import('../jdbc/jdbc-adapter.js')).findJdbcEngine('h2'),
  load: async () => (await import('./index.js')).h2Driver,
};
