import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { duckdbRepro } from './duckdb-repro.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-duckdb-repro-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** The script's part that talks to DuckDB, with a driver of ours in place of the real one. */
async function driverPart(connection: string): Promise<{ open(): Promise<Opened> }> {
  const driver = `const DuckDBInstance = { create: async () => ({ connect: async () => (${connection}) }) };`;
  const code = duckdbRepro.code.replace("import { DuckDBInstance } from '@duckdb/node-api';", driver);
  const file = join(folder, `part-${connection.length}.mjs`);
  await writeFile(file, `${code}\nexport { open };\n`);
  return import(pathToFileURL(file).href);
}

interface Opened {
  session(): Promise<unknown>;
  close(): Promise<void>;
}

it('ends quietly with drivers that cannot close a connection', async () => {
  const { session, close } = await (await driverPart('{}')).open();
  await session();
  await expect(close()).resolves.toBeUndefined();
});

it('closes connections where the driver can', async () => {
  const counting = '{ closeSync() { globalThis.isoldeClosed = (globalThis.isoldeClosed ?? 0) + 1; } }';
  const { session, close } = await (await driverPart(counting)).open();
  await session();
  await session();
  await close();
  expect((globalThis as { isoldeClosed?: number }).isoldeClosed).toBe(2);
});
