/** How a stand-alone script talks to MySQL's family. */
import type { ReproDriver } from '../declaration.js';
import { readAddress } from '../repro-driver-parts.js';

export const mysqlRepro: ReproDriver = {
  packages: ['mysql2'],
  argument: 'mysql://user:password@host:3306/',
  code: `import mysql from 'mysql2/promise';
${readAddress('mysql://user:password@host:3306/')}
const connectionOptions = url.startsWith('/') ? { socketPath: url, user: 'root' } : { uri: url };

async function open() {
  const connections = [];
  const connect = async () => {
    // Every value as the server's own text.
    const connection = await mysql.createConnection({
      ...connectionOptions,
      rowsAsArray: true,
      typeCast: (field) => {
        const bytes = field.buffer();
        return bytes === null ? null : bytes.toString('utf8');
      },
    });
    connection.on('error', () => {});
    connections.push(connection);
    return connection;
  };
  const owner = await connect();
  await owner.query('CREATE DATABASE ' + scratch + ' CHARACTER SET utf8mb4');
  const session = async (level) => {
    const connection = await connect();
    await connection.query('USE ' + scratch);
    await connection.query("SET time_zone = '+00:00'");
    const name = level === 'snapshot' ? 'repeatable read' : level;
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL ' + name.toUpperCase());
    return {
      async run(sql) {
        const [result] = await connection.query(sql);
        return Array.isArray(result) ? { rows: result } : { count: result.affectedRows };
      },
    };
  };
  const close = async () => {
    for (const connection of connections.slice(1)) connection.destroy();
    await owner.query('DROP DATABASE ' + scratch);
    await owner.end();
  };
  return { session, close };
}`,
};
