import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { describeConformance } from '../conformance.case.js';
import type { Target } from '../target.js';
import { execDriver } from './index.js';

const example = 'exec:python3 examples/exec-sqlite/adapter.py';

describe('the Python example adapter', () => {
  describeConformance({
    open: () => execDriver.open(example, {}),
    available: () =>
      spawnSync('python3', ['-c', 'import sqlite3']).status === 0
        ? undefined
        : 'python3 with sqlite3 is not installed',
  });
});

const folder = mkdtempSync(join(tmpdir(), 'isolde-exec-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hello = {
  name: 'toy',
  version: '1',
  dialect: 'sqlite',
  levels: [{ level: 'serializable', contract: 'sqlite:serializable+wal', begin: 'BEGIN IMMEDIATE' }],
  defaultLevel: 'serializable',
  features: {
    conflicts: 'fail',
    counts: 'matched',
    lockingReads: false,
    savepoints: false,
    errorDoomsTransaction: false,
    transactionalDdl: true,
    cancel: false,
  },
  reset: true,
};

/** An adapter of a few lines: `answers` maps an operation to the JavaScript that handles `request`. */
function adapter(answers: Readonly<Record<string, string>> = {}): string {
  const handlers = { hello: `ok(${JSON.stringify(hello)})`, ...answers };
  const file = join(folder, `adapter-${Math.random().toString(36).slice(2)}.mjs`);
  const cases = Object.entries(handlers).map(([op, code]) => `case '${op}': ${code}; break;`);
  writeFileSync(
    file,
    `import { createInterface } from 'node:readline';
     for await (const line of createInterface({ input: process.stdin })) {
       const request = JSON.parse(line);
       const ok = (result) => console.log(JSON.stringify({ id: request.id, ok: result }));
       switch (request.op) { ${cases.join('\n')} default: ok({}); }
     }`,
  );
  return `exec:${process.execPath} ${file}`;
}

async function withSession<T>(
  url: string,
  use: (
    session: Awaited<ReturnType<Awaited<ReturnType<Target['createScratch']>>['openSession']>>,
  ) => Promise<T>,
): Promise<T> {
  const target = await execDriver.open(url, {});
  try {
    const scratch = await target.createScratch();
    return await use(
      await scratch.openSession({ level: 'serializable', statementTimeoutMs: 1000, lockTimeoutMs: 1000 }),
    );
  } finally {
    await target.close();
  }
}

describe('an adapter that misbehaves', () => {
  it('is refused with the reason when it cannot be started', async () => {
    await expect(execDriver.open('exec:no-such-program-here --x', {})).rejects.toThrow(
      /adapter "no-such-program-here --x" ended with exit code 12[67].*\n?.*(?:not found|Permission denied)/s,
    );
    await expect(execDriver.open('exec:', {})).rejects.toThrow(/needs a command/);
  });

  it('is refused when hello lacks a field or holds a wrong one', async () => {
    const bad = { ...hello, features: { ...hello.features, conflicts: 'sometimes' } };
    await expect(execDriver.open(adapter({ hello: `ok(${JSON.stringify(bad)})` }), {})).rejects.toThrow(
      /hello\.features\.conflicts is "sometimes"; it must be one of "wait", "fail"/,
    );
    await expect(execDriver.open(adapter({ hello: 'ok({})' }), {})).rejects.toThrow(
      /hello\.levels is missing/,
    );
  });

  it('is refused when it never answers', async () => {
    await expect(execDriver.open(adapter({ hello: '0' }), { connectTimeoutMs: 300 })).rejects.toThrow(
      /did not answer hello within 300 ms/,
    );
  });

  it('answers crash, with its standard error, when it dies under a statement', async () => {
    const url = adapter({ execute: "process.stderr.write('boom at line 7\\n', () => process.exit(3))" });
    await withSession(url, async (session) => {
      const answer = await session.execute('SELECT 1');
      expect([answer.error?.class, answer.transaction]).toEqual(['crash', 'lost']);
      expect(answer.error?.message).toMatch(/exit code 3.*boom at line 7/s);
      expect((await session.execute('SELECT 1')).error?.class).toBe('crash');
    });
  });

  it('is quoted when it writes a line that is no answer', async () => {
    for (const [code, said] of [
      ["console.log('Segmentation fault\\u0007')", /no answer .*Segmentation fault·/],
      ["console.log('[1,2]')", /the line is \[1,2\]; it must be an object/],
      ['console.log(JSON.stringify({ id: 999, ok: {} }))', /no request with id 999 is open/],
      ['console.log(JSON.stringify({ id: request.id }))', /neither "ok" nor "error"/],
      ["ok({ transaction: 'perhaps' })", /answer\.transaction is "perhaps"; it must be one of "none"/],
      [
        "ok({ transaction: 'none', rows: [[{ a: 1 }]] })",
        /answer\.rows\[0\]\[0\] is \{"a":1\}; it must be a value/,
      ],
      ["ok({ transaction: 'none', matched: -1 })", /answer\.matched is -1/],
    ] as const) {
      await withSession(adapter({ execute: code }), async (session) => {
        const answer = await session.execute('SELECT 1');
        expect(answer.error?.message).toMatch(said);
        expect([answer.error?.class, answer.transaction]).toEqual(['connection-lost', 'lost']);
      });
    }
  });

  it('may refuse a reset, and the statement it names is in the error', async () => {
    const url = adapter({
      reset: "console.log(JSON.stringify({ id: request.id, error: 'no such table', statement: 1 }))",
    });
    const target = await execDriver.open(url, {});
    const scratch = await target.createScratch();
    await expect(scratch.reset(['CREATE TABLE a (b)', 'INSERT INTO c VALUES (1)'])).rejects.toThrow(
      'The set-up statement "INSERT INTO c VALUES (1)" failed: no such table',
    );
    await target.close();
  });
});

describe('an adapter that behaves', () => {
  it('may answer out of order', async () => {
    const url = adapter({
      execute: `const text = request.sql;
        setTimeout(() => ok({ transaction: 'none', columns: ['c'], rows: [[text]] }), text === 'slow' ? 200 : 0)`,
    });
    const target = await execDriver.open(url, {});
    const scratch = await target.createScratch();
    const options = { level: 'serializable', statementTimeoutMs: 1000, lockTimeoutMs: 1000 } as const;
    const [a, b] = [await scratch.openSession(options), await scratch.openSession(options)];
    const order: string[] = [];
    await Promise.all(
      [a.execute('slow'), b.execute('quick')].map((pending) =>
        pending.then((answer) => order.push(String(answer.rows?.[0]?.[0]))),
      ),
    );
    expect(order).toEqual(['quick', 'slow']);
    await target.close();
  });
});
