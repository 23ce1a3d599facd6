/**
 * TiDB: MySQL's protocol, its own levels (`mysql-flavor.ts`), errors (`mysql-errors.ts`) and lock views (`mysql-waiting.ts`). A server of
 * the user's (`tidb://…`), or a private one (`tidb:`).
 */
import { openFamilyUrl } from '../mysql/mysql-target.js';
import type { TargetOpener } from '../target.js';
import { tidbLines } from './tidb-lines.js';
import { startTidbServer } from './tidb-server.js';

export { startTidbServer, tidbAvailable } from './tidb-server.js';

export const tidbDriver: TargetOpener = {
  open: (url, options) =>
    openFamilyUrl(
      {
        name: 'tidb',
        lines: tidbLines,
        program: 'tidb-server',
        port: 4000,
        collectsGarbage: true,
        start: startTidbServer,
      },
      url,
      options,
    ),
};
