/**
 * H2, embedded in the JVM of the JDBC adapter: a database in memory for each scratch. Sessions are a user without admin rights, who
 * owns the schema of the scratch and nothing else: H2 itself refuses files, classes and other databases to him.
 */
import { jdbcParameters, missingJdbcEngine, openJdbc } from '../jdbc/jdbc-adapter.js';
import type { TargetOpener } from '../target.js';

export const h2Driver: TargetOpener = {
  open: async (url, options) => {
    jdbcParameters('h2', url, []);
    return openJdbc({ engine: 'h2', url, reach: { kind: 'scratch' } }, options);
  },
};

export const h2Available = (): string | undefined => missingJdbcEngine('h2');
