/**
 * Derby, embedded in the JVM of the JDBC adapter: a database in memory for each scratch. Sessions are not its owner, so system procedures
 * are refused to them; but Derby lets every user call Java methods through routines of his own. So what runs there from a file must be
 * on the allow-list (`reach` is unknown), and the adapter sends no definition of a routine.
 */
import { jdbcParameters, missingJdbcEngine, openJdbc } from '../jdbc/jdbc-adapter.js';
import type { TargetOpener } from '../target.js';

export const derbyDriver: TargetOpener = {
  open: async (url, options) => {
    jdbcParameters('derby', url, []);
    return openJdbc({ engine: 'derby', url }, options);
  },
};

export const derbyAvailable = (): string | undefined => missingJdbcEngine('derby');
