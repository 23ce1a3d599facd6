/** MySQL and whatever else speaks its protocol. `mariadb/` and `tidb/` build on the files of this folder. */
import type { TargetOpener } from '../target.js';
import { mysqlLines } from './mysql-lines.js';
import { openFamilyUrl } from './mysql-target.js';
import { startMysqlServer } from './mysqld.js';

export { mysqlAvailable, startMysqlServer } from './mysqld.js';

export const mysqlDriver: TargetOpener = {
  open: (url, options) =>
    openFamilyUrl(
      { name: 'mysql', lines: mysqlLines, program: 'mysqld', port: 3306, start: startMysqlServer },
      url,
      options,
    ),
};
