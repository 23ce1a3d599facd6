import { noLocks, type TargetDeclaration } from '../declaration.js';
import { jdbcRepro } from '../jdbc/jdbc-repro.js';
import { privateUrlWith } from '../private-url.js';

export const hsqldbDeclaration: TargetDeclaration = {
  name: 'hsqldb',
  title: 'HSQLDB',
  homePage: 'https://sourceforge.net/p/hsqldb/bugs/',
  schemes: ['hsqldb'],
  usage: 'hsqldb:  or  hsqldb:?tx=mvlocks  or  hsqldb:?tx=mvcc  (embedded in a JVM, in memory)',
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
      // PostgreSQL's literal for it is taken for text.
      'type.binary',
      'window.row-number',
      'window.sum',
      'window.count',
      'window.lag',
      'select.window',
    ],
    generated: 'stored',
    shareLock: 'share',
    errorDoomsTransaction: false,
    // Generated ones begin with 0.
    explicitKeys: true,
  },
  reproDriver: jdbcRepro(
    'hsqldb-2.7.4.jar',
    "'jdbc:hsqldb:mem:repro;sql.syntax_pgs=true;sql.char_literal=false;sql.longvar_is_lob=false;hsqldb.tx=' + (settings['hsqldb.tx'] ?? 'locks')",
  ),
  privateUrl: privateUrlWith('hsqldb', [
    { setting: 'hsqldb.tx', parameter: 'tx', usual: 'locks', accepts: /^(?:locks|mvlocks|mvcc)$/ },
  ]),
  findEngines: async () => (await import('../jdbc/jdbc-adapter.js')).findJdbcEngine('hsqldb'),
  load: async () => (await import('./index.js')).hsqldbDriver,
};
