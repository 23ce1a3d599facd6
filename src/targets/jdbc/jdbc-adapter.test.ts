import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { hsqldbAvailable } from '../hsqldb/index.js';
import { jdbcCommand } from './jdbc-adapter.js';

const missing = process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : hsqldbAvailable();

it.skipIf(missing !== undefined)(
  `ends with whoever started it, though a statement cannot be stopped${missing === undefined ? '' : ` (${missing})`}`,
  async () => {
    const { file, args } = await jdbcCommand({
      engine: 'hsqldb',
      url: 'hsqldb:',
      settings: { model: 'locks' },
    });
    const adapter = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(adapter, 'exit');
    const answers = createInterface({ input: adapter.stdout })[Symbol.asyncIterator]();
    let id = 0;
    const send = (request: object): void => {
      adapter.stdin.write(`${JSON.stringify({ id: ++id, ...request })}\n`);
    };
    const ask = async (request: object): Promise<unknown> => {
      send(request);
      return JSON.parse((await answers.next()).value as string);
    };
    const scratch = { namespace: 'isolde_endless' };
    expect(await ask({ op: 'hello' })).toHaveProperty('ok');
    expect(await ask({ op: 'createScratch', ...scratch })).toHaveProperty('ok');
    const opened = { op: 'openSession', ...scratch, session: 1, level: 'read committed' };
    expect(await ask({ ...opened, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 })).toHaveProperty('ok');
    const rows = `(VALUES ${Array.from({ length: 60 }, (_, i) => `(${i})`).join(', ')})`;
    const tables = Array.from({ length: 7 }, (_, i) => `${rows} AS t${i}(a)`).join(', ');
    send({ op: 'execute', session: 1, sql: `SELECT COUNT(*) FROM ${tables} WHERE t0.a + t6.a < 0` });
    adapter.stdin.end();
    // Its own limit is 3 s.
    await ended;
  },
  120_000,
);
