/** MariaDB: a server of the user's (`mariadb://…`), or a private one (`mariadb:`). */

import { openFamilyUrl } from '../mysql/mysql-target.js';
import type { TargetOpener } from '../target.js';
import { mariadbLines } from './mariadb-lines.js';
import { startMariadbServer } from './mariadb-server.js';

export {
  type MariadbServer,
  mariadbAvailable,
  myrocksAvailable,
  startMariadbServer,
} from './mariadb-server.js';

export const mariadbDriver: TargetOpener = {
  open: (url, options) =>
    openFamilyUrl(
      { name: 'mariadb', lines: mariadbLines, program: 'mariadbd', port: 3306, start: startMariadbServer },
      url,
      options,
    ),
};
