import { it } from 'vitest';
import { startMariadbServer } from '../targets/mariadb/index.js';
import { benchBuried, noOpUpdate } from './zz-bench.js';

it('benches', async () => {
  const server = await startMariadbServer();
  const url = `mariadb://root@localhost/?socket=${server.address.socket}`;
  try {
    console.log(await benchBuried('no-op', url, noOpUpdate, 5000, ['witness', 'pisco', 'ddmin', 'creduce']));
    console.log(await benchBuried('no-op', url, noOpUpdate, 20000, ['witness', 'pisco']));
  } finally {
    await server.stop();
  }
}, 900000);
