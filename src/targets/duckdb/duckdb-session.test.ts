import type { DuckDBConnection } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { DuckdbSession } from './duckdb-session.js';

it('a session of a driver that cannot close connections (before 1.2) is closed without one', async () => {
  const closed: DuckdbSession[] = [];
  const connection = {} as DuckDBConnection;
  const session = new DuckdbSession(connection, {
    id: 1,
    statementTimeoutMs: 1000,
    onClose: (each) => closed.push(each),
  });
  await session.close();
  expect(closed).toEqual([session]);
});
