/** A registry on 127.0.0.1 that has a few versions of one package, for the user's own npm to talk to. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface FakeRegistry {
  readonly url: string;
  /** How often a tarball was asked for. */
  downloads(): number;
  close(): Promise<void>;
}

export interface FakeVersion {
  readonly version: string;
  readonly code: string;
  /** Announce the checksum of something else. */
  readonly wrongChecksum?: true;
}

export async function startRegistry(
  folder: string,
  name: string,
  versions: readonly FakeVersion[],
): Promise<FakeRegistry> {
  const tarballs = new Map(versions.map((each) => [each.version, packTarball(folder, name, each)]));
  let downloads = 0;
  const server = createServer((request, response) => {
    const { host } = request.headers;
    const asked = /^\/tarballs\/(.+)\.tgz$/.exec(request.url ?? '')?.[1];
    const tarball = asked === undefined ? undefined : tarballs.get(asked);
    if (tarball !== undefined) {
      downloads++;
      response.end(tarball);
    } else if (decodeURIComponent(request.url ?? '').startsWith(`/${name}`)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(describe(name, versions, tarballs, `http://${host}`)));
    } else response.writeHead(404).end();
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    downloads: () => downloads,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Below the ephemeral range, where a client that polls can end up connected to itself. */
async function listen(server: Server): Promise<void> {
  for (let port = 20_000 + Math.floor(Math.random() * 12_000); port < 32_768; port++) {
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ host: '127.0.0.1', port }, () => resolve(true));
    });
    if (listening) return;
  }
  throw new Error('no free port below 32768');
}

function describe(
  name: string,
  versions: readonly FakeVersion[],
  tarballs: ReadonlyMap<string, Buffer>,
  origin: string,
): object {
  const entries = versions.map(({ version, wrongChecksum }) => {
    const of = wrongChecksum === true ? Buffer.from('something else') : tarballs.get(version)!;
    const integrity = `sha512-${createHash('sha512').update(of).digest('base64')}`;
    return [
      version,
      { name, version, main: 'index.js', dist: { integrity, tarball: `${origin}/tarballs/${version}.tgz` } },
    ] as const;
  });
  return { name, 'dist-tags': { latest: versions.at(-1)!.version }, versions: Object.fromEntries(entries) };
}

function packTarball(folder: string, name: string, { version, code }: FakeVersion): Buffer {
  const place = join(folder, `pack-${version}`);
  mkdirSync(join(place, 'package'), { recursive: true });
  writeFileSync(join(place, 'package', 'package.json'), JSON.stringify({ name, version, main: 'index.js' }));
  writeFileSync(join(place, 'package', 'index.js'), code);
  const file = join(folder, `${version}.tgz`);
  execFileSync('tar', ['-czf', file, '-C', place, 'package']);
  rmSync(place, { recursive: true });
  return readFileSync(file);
}
