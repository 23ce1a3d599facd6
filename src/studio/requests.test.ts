/** What pages may ask for, and what they are told when they ask wrongly. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientFileTypes } from './client-files.js';
import { findRoute } from './routes.js';
import { type Studio, startStudio } from './server.js';
import { StudioTargets } from './studio-targets.js';

let folder: string;
let studio: Studio;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-studio-requests-'));
  for (const name of Object.keys(clientFileTypes)) writeFileSync(join(folder, name), '');
  studio = await startStudio({ store: join(folder, 'store'), client: folder });
});
afterAll(async () => {
  await studio?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function post(
  path: string,
  body: unknown,
): Promise<{ readonly status: number; readonly error?: string }> {
  const response = await fetch(`${studio.url}api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(studio.url).origin },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { error } = (await response.json()) as { readonly error?: string };
  return { status: response.status, ...(error !== undefined && { error }) };
}

it.each([
  ['run', 'not JSON', 'the body is not JSON'],
  ['run', { targets: ['0'] }, '"script" must be a text'],
  ['run', { script: 'T1: SELECT 1;', targets: [0] }, '"targets" must be a list of texts'],
  ['shrink', {}, '"script" must be a text'],
  ['shrink', { bug: 'none' }, 'there is no bug "none"'],
  ['shrink/7/try', {}, 'has ended'],
  [
    'shrink',
    { script: 'T1: SELECT 1;', target: 'exec:touch /tmp/x' },
    'there is no target "exec:touch /tmp/x"',
  ],
  ['hunt/start', {}, '"target" must be a text'],
  ['probe/start', {}, '"target" must be a text'],
])('%s with %o is an error: %s', async (path, body, message) => {
  const { status, error } = await post(path, body);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(error).toContain(message);
});

it('a database that is not on the list is never opened', async () => {
  const response = await fetch(`${studio.url}api/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(studio.url).origin },
    body: JSON.stringify({ script: 'T1: SELECT 1;', targets: ['duckdb:', '__proto__', '99'] }),
  });
  const { runs } = (await response.json()) as { readonly runs: readonly { readonly failure?: string }[] };
  expect(runs.map(({ failure }) => failure)).toEqual([
    'there is no target "duckdb:"',
    'there is no target "__proto__"',
    'there is no target "99"',
  ]);
});

it('targets hide passwords, and those given come first', () => {
  const targets = new StudioTargets(['postgres://me:secret@localhost/app']);
  expect(targets.choices[0]).toEqual({
    id: '0',
    url: 'postgres://me:***@localhost/app',
    title: 'PostgreSQL',
  });
  expect(JSON.stringify(targets.choices)).not.toContain('secret');
  expect(targets.choices.some(({ url }) => url.startsWith('exec:'))).toBe(false);
  expect(targets.choices.find(({ url }) => url === 'h2:')?.title).toBe('H2');
});

it('parts of paths are decoded once, and only whole parts match', () => {
  const routes = { 'GET bugs/:id': () => 1, 'GET bugs': () => 2 };
  expect(findRoute(routes, 'GET', 'bugs/a%2Fb')?.params).toEqual({ id: 'a/b' });
  expect(findRoute(routes, 'GET', 'bugs/a/b')).toBeUndefined();
  expect(findRoute(routes, 'POST', 'bugs')).toBeUndefined();
  expect(findRoute(routes, 'GET', 'bugs/%E0%A4%A')?.params).toEqual({ id: '%E0%A4%A' });
});
