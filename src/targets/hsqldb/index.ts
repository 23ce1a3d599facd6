/**
 * HSQLDB, embedded in the JVM of the JDBC adapter: a database in memory for each scratch, in one of three transaction models. Sessions
 * are a user without admin rights, who owns the schema of the scratch and nothing else.
 */
import { choose } from '../embedded/embedded-url.js';
import { jdbcParameters, missingJdbcEngine, openJdbc } from '../jdbc/jdbc-adapter.js';
import type { TargetOpener } from '../target.js';

export const hsqldbDriver: TargetOpener = {
  open: async (url, options) => {
    const { tx } = jdbcParameters('hsqldb', url, ['tx']);
    const model = choose(url, 'tx', tx, ['locks', 'mvlocks', 'mvcc']);
    return openJdbc({ engine: 'hsqldb', url, settings: { model }, reach: { kind: 'scratch' } }, options);
  },
};

export const hsqldbAvailable = (): string | undefined => missingJdbcEngine('hsqldb');
