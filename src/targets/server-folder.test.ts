/** A private server's folder is gone, whenever its owner is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
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

/** A process that runs some lines, with a loader of our modules at hand. */
function startProcess(lines: string) {
  const script = `
    const { createServer } = await import('vite');
    const vite = await createServer({
      configFile: false, appType: 'custom', logLevel: 'silent', optimizeDeps: { noDiscovery: true },
      server: { middlewareMode: true, ws: false, hmr: false, watch: null },
    });
    const load = (path) => vite.ssrLoadModule(path);
    ${lines}
    setInterval(() => undefined, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** A process that opens a private server in `parent`. */
function startOwner(url: string) {
  return startProcess(`
    const { openTarget } = await load('/src/targets/index.ts');
    await openTarget(${JSON.stringify(url)}, { scratchFolder: ${JSON.stringify(parent)} });
    console.log('open');`);
}

/** Command lines of processes that name a folder; none where the system does not show them. The owner's script names it, too. */
function commandLinesWith(folder: string): readonly string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return []; // it has ended
      }
    })
    .filter((line) => line.includes(folder) && !line.includes('isolde-watchdog'));
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
    await eventually(20_000, 'all processes are gone', async () => commandLinesWith(parent).length === 0);
  });
});

it('a program that makes a data folder ends with its owner, and what it has started', {
  timeout: 60_000,
}, async () => {
  const installer = ['-c', `sh -c "sleep 300; :" "$0" & wait`, parent];
  const owner = startProcess(`
    const { runInstaller, startPrivateServer } = await load('/src/targets/mysql/private-server.ts');
    await startPrivateServer({
      kind: 'mysql', title: 'MySQL', command: () => ['/bin/false'], errorLine: /./,
      initialize: (place) => runInstaller(place, '/bin/sh', ${JSON.stringify(installer)}),
    }, ${JSON.stringify(parent)});`);
  const isInstaller = (line: string) => /^(\/bin\/)?sh\0/.test(line);
  const running = () => commandLinesWith(parent).filter(isInstaller).length;
  await eventually(30_000, 'it runs', async () => running() === 2);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  await eventually(20_000, 'it is gone', async () => running() === 0);
  await eventually(20_000, 'the folder is gone', async () => readdirSync(parent).length === 0);
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
