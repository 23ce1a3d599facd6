/** MariaDB: a server of the user's (`mariadb://…`), or a private one (`mariadb:`). */

import { openFamilyTarget } from '../mysql/mysql-target.js';
import { parseMysqlUrl } from '../mysql/mysql-url.js';
import type { TargetOpener } from '../target.js';
import { startMariadbServer } from './mariadb-server.js';

export {
  type MariadbServer,
  mariadbAvailable,
  myrocksAvailable,
  startMariadbServer,
} from './mariadb-server.js';

export const mariadbDriver: TargetOpener = {
  open: async (url, options) => {
    const { address, variables, binary, shown } = parseMysqlUrl(url);
    const { connectTimeoutMs } = options;
    if (address !== undefined) {
      return openFamilyTarget({ address, variables, shown, isPrivate: false, connectTimeoutMs });
    }
    const server = await startMariadbServer({
      variables,
      ...(binary !== undefined && { binary }),
      ...(options.scratchFolder !== undefined && { folder: options.scratchFolder }),
    });
    try {
      return await openFamilyTarget({
        address: server.address,
        variables,
        shown,
        isPrivate: true,
        connectTimeoutMs,
        onClose: server.stop,
        ...(server.kill !== undefined && { kill: server.kill }),
      });
    } catch (error) {
      await server.stop();
      throw error;
    }
  },
};
