/** MySQL and whatever else speaks its protocol. `mariadb/` and `tidb/` build on the files of this folder. */
import { IsoldeError } from '../../errors.js';
import type { TargetOpener } from '../target.js';
import { openFamilyTarget } from './mysql-target.js';
import { parseMysqlUrl } from './mysql-url.js';

export { mariadbAvailable, mariadbDriver, startMariadbServer } from '../mariadb/index.js';

export const mysqlDriver: TargetOpener = {
  open: async (url, options) => {
    const { address, variables, shown } = parseMysqlUrl(url);
    if (address === undefined) {
      throw new IsoldeError(
        'usage',
        'mysql: needs a server, such as mysql://user:password@host:3306/. For a private server write mariadb:',
      );
    }
    return openFamilyTarget({
      address,
      variables,
      shown,
      isPrivate: false,
      connectTimeoutMs: options.connectTimeoutMs,
    });
  },
};
