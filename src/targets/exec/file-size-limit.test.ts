import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canLimitFileSize, limitFileSize } from './file-size-limit.js';

/** Appends as many bytes as it is told, and says how that went. */
const writer = `
  import { openSync, writeSync } from 'node:fs';
  const file = openSync(process.argv[2], 'a');
  process.on('message', (bytes) => {
    try {
      process.send(writeSync(file, Buffer.alloc(bytes)));
    } catch (error) {
      process.send(error.code);
    }
  });
  process.send('ready');`;

let folder: string;
let child: ChildProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-limit-'));
  const program = join(folder, 'writer.mjs');
  writeFileSync(program, writer);
  child = fork(program, [join(folder, 'data')], { execArgv: [] });
  await once(child, 'message');
});
afterAll(() => {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function write(bytes: number): Promise<unknown> {
  child.send(bytes);
  const [said] = await once(child, 'message');
  return said;
}

it.skipIf(!canLimitFileSize())('writes are cut short, then fail, and work again', async () => {
  expect(await write(1000)).toBe(1000);
  await limitFileSize(child.pid!, 1500);
  expect(await write(1000)).toBe(500);
  expect(await write(1000)).toBe('EFBIG');
  await limitFileSize(child.pid!, undefined);
  expect(await write(1000)).toBe(1000);
});

it.skipIf(!canLimitFileSize())('a process that is gone is an error', async () => {
  await expect(limitFileSize(2 ** 22 + 1, 0)).rejects.toThrow('cannot be limited');
});
