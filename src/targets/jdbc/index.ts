/**
 * Any database with a JDBC driver, by the URL its driver takes (`jdbc:h2:mem:shop`). A scratch is a schema in that database. Nothing is known of the
 * engine beyond JDBC: its levels are held to what ANSI says of their names, and whether a statement waits is not seen.
 */
import { delimiter } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { hideSecrets } from '../../secrets.js';
import type { Dialect } from '../../sql/index.js';
import type { TargetOpener } from '../target.js';
import { fetchedJars, openJdbc } from './jdbc-adapter.js';

const classPath = 'ISOLDE_JDBC_CLASSPATH';

export const jdbcDriver: TargetOpener = {
  open: async (url, options) => {
    const subprotocol = /^jdbc:([a-z0-9]+):/i.exec(url)?.[1]?.toLowerCase();
    if (subprotocol === undefined) {
      throw new IsoldeError(
        'usage',
        `"${hideSecrets(url)}" is no JDBC URL: write jdbc:NAME:… as the driver takes it.`,
      );
    }
    const jars = (process.env[classPath] ?? '').split(delimiter).filter((jar) => jar !== '');
    const found = jars.length > 0 ? jars : fetchedJars(subprotocol);
    if (found.length === 0) {
      throw new IsoldeError(
        'engine-missing',
        `No driver for jdbc:${subprotocol}: put the path of its jar, or several joined by "${delimiter}", into ${classPath}`,
      );
    }
    return openJdbc(
      {
        engine: 'jdbc',
        url,
        settings: { dialect: dialectOf(subprotocol) },
        // It may hold a password.
        environment: { ISOLDE_JDBC_URL: url },
        jars: found,
      },
      options,
    );
  },
};

/** How its SQL is spelt; PostgreSQL's is nearest to the standard. */
function dialectOf(subprotocol: string): Dialect {
  switch (subprotocol) {
    case 'mysql':
    case 'mariadb':
      return 'mysql';
    case 'sqlite':
    case 'duckdb':
      return subprotocol;
    default:
      return 'postgres';
  }
}
