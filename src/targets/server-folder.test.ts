/** A private server's folder is gone, whenever its owner is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from './conformance/lab.case.js';
import { mariadbAvailable } from './mariadb/index.js';
import { postgresAvailable } from './postgres/index.js';
import { makeServerFolder, sweepServerFolders } from './server-folder.js';

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'isolde-folders-'));
  // The server may run as another user.
  chmodSync(parent, 0o755);
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** A process that opens a private server in `parent`. */
function startOwner(url: string) {
  const script = `
    const { createServer } = await import('vite');
    const vite = await createServer({
      configFile: false, appType: 'custom', logLevel: 'silent', optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, ws: false, hmr: false, watch: null },
    });
    const { openTarget } = await vite.ssrLoadModule('/src/targets/index.ts');
    await openTarget(${JSON.stringify(url)}, { scratchFolder: ${JSON.stringify(parent)} });
    console.log('open');
    setInterval(() => undefined, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const filled: Readonly<Record<string, (folder: string) => boolean>> = {
  'when the folder is made': existsSync,
  'while it is filled': (folder) => existsSync(join(folder, 'data')),
  'when the server is up': () => false,
};

describe.each([
  ['postgres:', postgresAvailable],
  ['mariadb:', mariadbAvailable],
] as const)('the folder of %s', (url, available) => {
  it.for(Object.keys(filled))('is removed after a kill %s', { timeout: 60_000 }, async (when, { skip }) => {
    const missing = available();
    if (missing !== undefined && !required) return skip(missing);
    const owner = startOwner(url);
    let open = false;
    owner.stdout.on('data', () => {
      open = true;
    });
    await eventually(30_000, when, async () => {
      return open || readdirSync(parent).some((name) => filled[when]!(join(parent, name)));
    });
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await eventually(20_000, 'the folder is gone', async () => readdirSync(parent).length === 0);
  });
});

describe('a folder whose owner is gone', () => {
  const deadPid = 2 ** 22 + 1;

  it('is removed by the next start, and no other', async () => {
    const orphan = join(parent, 'isolde-postgres-0123456789ab');
    const others = ['isolde-postgres-x', 'isolde-mariadb-0123456789cd', 'mine'];
    mkdirSync(orphan);
    writeFileSync(join(orphan, 'owner'), `${deadPid}\n`);
    for (const name of others) mkdirSync(join(parent, name));
    // Alive, unnamed, and not one of ours.
    writeFileSync(join(parent, 'isolde-mariadb-0123456789cd', 'owner'), `${process.pid}\n`);
    writeFileSync(join(parent, 'mine', 'owner'), `${deadPid}\n`);
    const folder = makeServerFolder(parent, 'postgres');
    expect(existsSync(orphan)).toBe(false);
    expect(readdirSync(parent).sort()).toEqual([...others, folder.path.split('/').at(-1)].sort());
    expect(sweepServerFolders(parent)).toEqual([]);
    await folder.remove();
    await folder.remove();
    expect(readdirSync(parent).sort()).toEqual(others.sort());
  });

  it('is for its owner alone, whatever the umask', async () => {
    const before = process.umask(0o777);
    try {
      const folder = makeServerFolder(parent, 'mariadb');
      expect(statSync(folder.path).mode & 0o777).toBe(0o700);
      await folder.remove();
    } finally {
      process.umask(before);
    }
  });
});
