/** The conformance suite on a server as a user has one: reached by a URL, with tables of somebody else's on it. */
import { afterAll } from 'vitest';
import { type ConformanceOptions, describeConformance } from '../conformance.case.js';
import type { TargetOpener } from '../target.js';
import { readContent } from './mysql-answer.js';
import { WireConnection } from './mysql-wire.js';
import type { PrivateServer } from './private-server.js';

export interface FamilyConformance extends Omit<ConformanceOptions, 'open' | 'outsider'> {
  readonly scheme: string;
  readonly driver: TargetOpener;
  readonly start: () => Promise<PrivateServer>;
}

export function describeFamilyConformance({ scheme, driver, start, ...options }: FamilyConformance): void {
  let server: PrivateServer | undefined;
  afterAll(async () => server?.stop());
  describeConformance({
    ...options,
    open: async () => {
      server = await start();
      return driver.open(`${scheme}://root@localhost/?socket=${server.address.socket}`, {});
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
}
