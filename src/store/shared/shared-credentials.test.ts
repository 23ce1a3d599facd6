/** TLS and passwords of the shared database are PostgreSQL's own: certificates in the URL, a password file in the environment. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../targets/conformance/lab.case.js';
import type { PrivateServer } from '../../targets/postgres/index.js';
import { asUser, describePostgres, startServer, urlOf } from '../../targets/postgres/postgres-lab.case.js';
import { installedPrograms } from '../../targets/programs.js';
import { SharedDatabase } from './shared-database.js';

const noOpenssl = installedPrograms('openssl').length === 0 ? ' (openssl is not installed)' : '';

describePostgres('the shared database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'isolde-credentials-'));
  let server: PrivateServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Connects, and says whether the connection is encrypted. */
  async function isEncrypted(url: string): Promise<boolean> {
    const database = await SharedDatabase.open(url);
    try {
      const [row] = await database.query<{ ssl: boolean }>(
        'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
      );
      return row!.ssl;
    } finally {
      await database.close();
    }
  }

  it('takes the password from PGPASSFILE, and says nothing of it where it is wrong', async () => {
    const { user, password } = server.login;
    const url = `postgres://${user}@${server.host}:${server.port}/postgres`;
    const file = join(folder, 'pgpass');
    const write = (word: string) =>
      writeFileSync(file, `${server.host}:${server.port}:*:${user}:${word}\n`, { mode: 0o600 });
    write(password);
    vi.stubEnv('PGPASSFILE', file);
    expect(await isEncrypted(url)).toBe(false);
    write('s3cret');
    await expect(isEncrypted(url)).rejects.toThrow(/password/);
    await expect(isEncrypted(url)).rejects.not.toThrow('s3cret');
  });

  describe.skipIf(noOpenssl !== '')(`over TLS${noOpenssl}`, () => {
    /** A certificate for `localhost` that nobody signed but itself. */
    function makeCertificate(name: string): { readonly key: string; readonly certificate: string } {
      const [key, certificate] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
      const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
      const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate];
      execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' });
      return { key, certificate };
    }
    const url = (parameters: string, host = 'localhost') =>
      `${urlOf({ ...server, host } as PrivateServer)}?${parameters}`;
    let own: string;
    let other: string;

    beforeAll(async () => {
      const { key, certificate } = makeCertificate('own');
      [own, other] = [certificate, makeCertificate('other').certificate];
      // The server, which may run as another user, writes them itself: a key must be its own.
      const put = (file: string, name: string) =>
        `COPY (SELECT '${readFileSync(file).toString('base64')}') TO PROGRAM 'base64 -d > ${name} && chmod 600 ${name}'`;
      await asUser(urlOf(server), put(key, 'server.key'), put(certificate, 'server.crt'));
      await asUser(urlOf(server), 'ALTER SYSTEM SET ssl = on', 'SELECT pg_reload_conf()');
      await eventually(20_000, 'the server speaks TLS', () =>
        isEncrypted(url(`sslmode=verify-full&sslrootcert=${own}`)).catch(() => false),
      );
    });

    it.each(['verify-full', 'verify-ca'])(
      'accepts the server with its root certificate, %s',
      async (mode) => {
        expect(await isEncrypted(url(`sslmode=${mode}&sslrootcert=${own}`))).toBe(true);
      },
    );

    it('refuses a server that nobody vouches for, or that another one does, or of another name', async () => {
      for (const mode of ['verify-full', 'verify-ca']) {
        await expect(isEncrypted(url(`sslmode=${mode}`))).rejects.toThrow(/certificate/);
        await expect(isEncrypted(url(`sslmode=${mode}&sslrootcert=${other}`))).rejects.toThrow(/certificate/);
      }
    });
  });
});
