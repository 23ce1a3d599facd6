/** The suite runs on a server as a user has one: reached by a URL, with tables of somebody else's on it. */
import { afterAll } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import { readContent } from '../mysql/mysql-answer.js';
import { WireConnection } from '../mysql/mysql-wire.js';
import { type MariadbServer, mariadbAvailable, mariadbDriver, startMariadbServer } from './index.js';

let server: MariadbServer | undefined;
afterAll(async () => server?.stop());

describeConformance({
  available: mariadbAvailable,
  open: async () => {
    server = await startMariadbServer();
    return mariadbDriver.open(`mariadb://root@localhost/?socket=${server.address.socket}`, {});
  },
  outsider: async () => {
    const wire = await WireConnection.open(server!.address);
    await wire.query('CREATE DATABASE IF NOT EXISTS shop');
    await wire.query('USE shop');
    return {
      execute: async (sql) => ({ ...readContent(await wire.query(sql), sql), transaction: 'none' }),
      close: () => wire.quit(),
    };
  },
});
