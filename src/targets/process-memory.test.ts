import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ownMemoryBytes } from './process-memory.js';

it.skipIf(!existsSync('/proc/self/status'))(
  'adds what children hold, and knows nothing of the dead',
  async () => {
    const before = ownMemoryBytes(process.pid)!;
    // It says when it holds 64 MiB.
    const script =
      'const held = Buffer.alloc(64 * 2 ** 20, 1); console.log(held.length); setInterval(() => held, 1000)';
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(ownMemoryBytes(child.pid!)).toBeGreaterThan(64 * 2 ** 20);
    expect(ownMemoryBytes(process.pid)! - before).toBeGreaterThan(32 * 2 ** 20);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    expect(ownMemoryBytes(child.pid!)).toBeUndefined();
  },
);
