/** How a stand-alone script talks to PostgreSQL. */
import type { ReproDriver } from '../declaration.js';
import { readAddress } from '../repro-driver-parts.js';

export const postgresRepro: ReproDriver = {
  packages: ['pg'],
  argument: 'postgres://user:password@host:5432/database',
  code: `import pg from 'pg';
${readAddress('postgres://user:password@host:5432/database')}
async function open() {
  const clients = [];
  const connect = async () => {
    // Every value as the server's own text.
    const client = new pg.Client({ connectionString: url, types: { getTypeParser: () => (text) => text } });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  };
  const owner = await connect();
  await owner.query('CREATE SCHEMA ' + scratch);
  const session = async (level) => {
    const client = await connect();
    await client.query('SET search_path = ' + scratch + "; SET TimeZone = 'UTC'");
    await client.query("SET default_transaction_isolation = '" + level + "'");
    return {
      async run(sql) {
        const result = await client.query({ text: sql, rowMode: 'array' });
        return { rows: result.fields.length > 0 ? result.rows : undefined, count: result.rowCount ?? undefined, command: result.command };
      },
    };
  };
  const close = async () => {
    for (const client of clients.slice(1)) await client.end();
    await owner.query('DROP SCHEMA ' + scratch + ' CASCADE');
    await owner.end();
  };
  return { session, close };
}`,
};
