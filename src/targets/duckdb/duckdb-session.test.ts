import type { DuckDBConnection } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { DuckdbSession } from './duckdb-session.js';
import { duckdbRows } from './duckdb-values.js';

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

it('a result that cannot be read is not taken for an empty one', () => {
  // As the first driver of 1.1.2 gives it: without chunks that are there already.
  const result = { columnCount: 1 } as Parameters<typeof duckdbRows>[0];
  expect(() => duckdbRows(result)).toThrow(/cannot read/);
});
