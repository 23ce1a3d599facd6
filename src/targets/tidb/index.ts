/**
 * TiDB: MySQL's protocol, its own levels (`mysql-flavor.ts`), errors (`mysql-errors.ts`) and lock views
 * (`mysql-waiting.ts`). Not exercised in CI: no TiDB can be run there.
 */
import { IsoldeError } from '../../errors.js';
import { openFamilyTarget } from '../mysql/mysql-target.js';
import { parseMysqlUrl } from '../mysql/mysql-url.js';
import type { TargetOpener } from '../target.js';

export const tidbDriver: TargetOpener = {
  open: async (url, options) => {
    const { address, variables, shown } = parseMysqlUrl(url, 4000);
    if (address === undefined) {
      throw new IsoldeError('usage', 'tidb: needs a server, such as tidb://root@127.0.0.1:4000/');
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
