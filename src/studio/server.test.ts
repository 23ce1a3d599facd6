import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientFileTypes } from './client-files.js';
import { type Studio, startStudio } from './server.js';

let folder: string;
let studio: Studio;
let port: number;
let home: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-studio-server-'));
  for (const name of Object.keys(clientFileTypes)) writeFileSync(join(folder, name), `the file ${name}`);
  studio = await startStudio({ store: join(folder, 'store'), client: folder });
  const url = new URL(studio.url);
  port = Number(url.port);
  home = url.pathname;
});
afterAll(async () => {
  await studio?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

function ask(path: string, headers: Record<string, string> = {}, post?: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const method = post === undefined ? 'GET' : 'POST';
    const asked = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text, headers: response.headers }));
    });
    asked.on('error', reject);
    asked.end(post);
  });
}

const own = () => ({ origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' });

describe('who is answered', () => {
  it('the page and its interface, behind the token', async () => {
    expect(await ask(home)).toMatchObject({ status: 200, text: 'the file index.html' });
    const bugs = await ask(`${home}api/bugs`);
    expect(bugs.status).toBe(200);
    expect(JSON.parse(bugs.text)).toMatchObject({ bugs: [], problems: [] });
    expect(await ask(`${home}api/bugs`, { host: `localhost:${port}` })).toMatchObject({ status: 200 });
  });

  it.each([
    ['no token', '/', {}],
    ['no token', '/api/bugs', {}],
    ['a wrong token', '/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/api/bugs', {}],
    ['another Host', undefined, { host: 'evil.example' }],
    ['a name that points here', undefined, { host: 'evil.example:80' }],
    ['another port', undefined, { host: '127.0.0.1:1' }],
    ['another Origin', undefined, { origin: 'https://evil.example' }],
    ['an opaque Origin', undefined, { origin: 'null' }],
    ['another site', undefined, { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', undefined, { 'sec-fetch-site': 'same-site' }],
  ] as const)('403 for %s (%s %o)', async (_, path, headers) => {
    expect((await ask(path ?? `${home}api/bugs`, headers)).status).toBe(403);
  });

  it('nothing is changed without an Origin, or by a form of another site', async () => {
    expect((await ask(`${home}api/bugs`, {}, '{}')).status).toBe(403);
    expect((await ask(`${home}api/bugs`, { 'content-type': 'text/plain' }, '{}')).status).toBe(403);
    expect((await ask(`${home}api/nothing`, own(), '{}')).status).toBe(404);
  });

  it('refusals tell neither token nor page', async () => {
    const { text } = await ask('/');
    expect(text).toBe('403: no token\n');
  });
});

it('every answer forbids scripts, styles and frames of others', async () => {
  for (const path of [home, `${home}app.js`, `${home}api/bugs`, '/', `${home}nothing`]) {
    const { headers } = await ask(path);
    const policy = headers['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

it('no path leads out of the built page', async () => {
  for (const path of ['../store.json', '..%2f..%2fetc%2fpasswd', 'client/../../x', 'api/bugs/..%2f..'])
    expect((await ask(`${home}${path}`)).status).toBe(404);
});

it('what does not exist, or cannot be read, is said as JSON', async () => {
  const missing = await ask(`${home}api/bugs/none`);
  expect(missing.status).toBe(404);
  expect(JSON.parse(missing.text).error).toContain('there is no bug "none"');
  expect(missing.headers['content-type']).toContain('application/json');
});
