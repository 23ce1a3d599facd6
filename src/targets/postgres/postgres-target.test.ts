/** PostgreSQL keeps the promises of every target, for the owner of a private server and for an ordinary user. */
import { describe } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import { postgresAvailable, postgresDriver } from './index.js';
import { connectOutsider, createOrdinaryUser, openOwning, startServer } from './postgres-lab.case.js';

describe('a private server', () => {
  describeConformance({ available: postgresAvailable, open: () => postgresDriver.open('postgres:', {}) });
});

describe('a server of the user, who is no superuser', () => {
  let url = '';
  describeConformance({
    available: postgresAvailable,
    open: async () => {
      const server = await startServer();
      url = await createOrdinaryUser(server);
      return openOwning(url, server);
    },
    outsider: () => connectOutsider(url),
  });
});
