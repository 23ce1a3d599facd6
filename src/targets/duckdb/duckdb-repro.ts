/** How a stand-alone script talks to DuckDB. */
import type { ReproDriver } from '../declaration.js';

export const duckdbRepro: ReproDriver = {
  packages: ['@duckdb/node-api'],
  argument: '',
  code: `import { DuckDBInstance } from '@duckdb/node-api';

async function open() {
  const instance = await DuckDBInstance.create(':memory:');
  const connections = [];
  const session = async () => {
    const connection = await instance.connect();
    connections.push(connection);
    return {
      async run(sql) {
        const result = await connection.runAndReadAll(sql);
        if (result.columnCount === 1 && result.columnName(0) === 'Count') return { count: result.rowsChanged };
        return { rows: result.getRows().map((row) => row.map(text)), count: result.rowsChanged };
      },
    };
  };
  const close = async () => {
    // Drivers before 1.2 cannot close a connection.
    for (const connection of connections) connection.closeSync?.();
  };
  return { session, close };
}`,
};
