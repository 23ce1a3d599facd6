/** The current MariaDB: snapshot isolation is what its REPEATABLE READ means unless told otherwise, and the contracts follow the server. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findContract, reportedContract } from '../../contracts/index.js';
import { describeFamilyConformance } from '../mysql/family-conformance.case.js';
import { engineFolder } from '../programs.js';
import { providedEngines } from '../provided-engines.case.js';
import { openTarget } from '../registry.js';
import { mariadbDriver, startMariadbServer } from './index.js';

const { url, missing } = providedEngines.mariadb118;

describeFamilyConformance({
  scheme: 'mariadb',
  driver: mariadbDriver,
  start: () => startMariadbServer({ binary: join(engineFolder('mariadb-11.8'), 'bin/mariadbd') }),
  available: () => missing,
  optional: true,
});

describe.skipIf(missing !== undefined)(`MariaDB 11.8${missing === undefined ? '' : ` (${missing})`}`, () => {
  it('is held to snapshot isolation by default, and to its manual with the setting off', async () => {
    for (const [parameters, snapshot] of [
      ['', true],
      ['?innodb_snapshot_isolation=OFF', false],
    ] as const) {
      const target = await openTarget(`${url}${parameters}`);
      try {
        expect(target.stamp.version).toMatch(/^11\.8\..*MariaDB/);
        expect(target.stamp.settings?.innodb_snapshot_isolation).toBe(snapshot ? 'ON' : 'OFF');
        const contract = (level: string) => target.levels.find((each) => each.level === level)?.contract;
        const added = snapshot ? '+innodb_snapshot_isolation' : '';
        expect(contract('read committed')).toBe('mariadb:read-committed');
        expect(contract('repeatable read')).toBe(`mariadb:repeatable-read${added}`);
        expect(contract('serializable')).toBe(`mariadb:serializable${added}`);
        // Nothing was reported of what an error 1020 now prevents.
        expect(reportedContract(findContract(`mariadb:repeatable-read${added}`)!)?.id).toBe(
          snapshot ? undefined : 'mariadb:repeatable-read+reported',
        );
      } finally {
        await target.close();
      }
    }
  });
});
