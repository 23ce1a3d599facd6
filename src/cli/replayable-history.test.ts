import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type History, type Operation, writeWholeHistory } from '../histories/index.js';
import { describeLive } from '../targets/mariadb/live-mariadb.case.js';
import { main } from './main.js';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-foreign-'));
  file = join(folder, 'tidb.history.jsonl');
  await writeWholeHistory(file, tidbHistory());
});
afterAll(() => rm(folder, { recursive: true }));

/**
 * TiDB #42487 in small, as a TiDB would have recorded it: T2 has its snapshot from BEGIN, before T1 commits, writes what is
 * there already, and does not see it. Where the snapshot is taken by the first read, T2 sees it.
 */
function tidbHistory(): History {
  const steps: readonly (readonly [session: number, kind: Operation['kind'], sql: string, more?: object])[] =
    [
      [0, 'begin', 'START TRANSACTION'],
      [0, 'update', 'UPDATE t SET v = 1 WHERE id = 7', { matched: 1, changed: 1 }],
      [1, 'begin', 'start transaction;'],
      [0, 'commit', 'COMMIT', { ends: 'commit' }],
      [1, 'update', 'UPDATE t SET v = 1 WHERE id = 7', { matched: 1, changed: 0 }],
      [1, 'select', 'SELECT id, v FROM t', { columns: ['id', 'v'], rows: [[7, 0]] }],
      [1, 'commit', 'COMMIT', { ends: 'commit' }],
    ];
  return {
    header: {
      sessions: ['T1', 'T2'],
      target: { name: 'tidb', version: '6.5.0' },
      level: 'repeatable read',
      dialect: 'mysql',
      setup: ['CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NONCLUSTERED)', 'INSERT INTO t VALUES (7, 0)'],
    },
    operations: steps.map(([session, kind, sql, more], index) => ({
      ...{ index, session, transaction: session, kind, sql },
      ...{ start: 1000 * index, end: 1000 * index + 500, outcome: 'ok' as const },
      ...more,
    })),
  };
}

async function isolde(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const trace = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';

describeLive('a history of TiDB on MariaDB', (live) => {
  it('is reduced with the snapshot at BEGIN, without what only TiDB knows, under TiDB’s contract', async () => {
    const { code, out, err } = await isolde(
      'reduce',
      file,
      '--target',
      live().url(),
      '--trust-case',
      '--json',
    );
    expect(err).toContain(
      'BEGIN becomes START TRANSACTION WITH CONSISTENT SNAPSHOT: tidb:repeatable-read takes the snapshot there',
    );
    expect(err).toContain('the set-up is given without what only tidb knows');
    expect(code).toBe(1);
    const result = JSON.parse(out);
    expect(result).toMatchObject({ minimal: true, sameFinding: true, transactions: 2 });
    expect(result.finding).toMatchObject({ kind: 'own-write-missed', contract: 'tidb:repeatable-read' });
    const sent: string[] = result.case.sessions.flatMap((s: { statements: string[] }) => s.statements);
    expect(sent).toContain('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  });

  it('reproduces the same way', async () => {
    const { code, out, err } = await isolde(
      'reproduce',
      file,
      '--target',
      live().url(),
      '--trust-case',
      '--runs',
      '3',
    );
    expect(err).toContain('BEGIN becomes START TRANSACTION WITH CONSISTENT SNAPSHOT');
    expect(out).toContain('3 of 3 replays (batch) show the finding');
    expect(code).toBe(1);
  });

  it.skipIf(!existsSync(trace))(
    'ends with a few operations for the trace of the Pisco artifact',
    async () => {
      const { code, out } = await isolde(
        ...[
          'reduce',
          trace,
          '--contract',
          'tidb:repeatable-read',
          '--target',
          live().url(),
          '--trust-case',
          '--json',
        ],
      );
      expect(code).toBe(1);
      const result = JSON.parse(out);
      expect(result).toMatchObject({
        minimal: true,
        sameFinding: true,
        finding: { kind: 'own-write-missed' },
      });
      expect(result.operations).toBeLessThanOrEqual(10);
      expect(result.transactions).toBeLessThanOrEqual(3);
      expect(result.trials).toBeLessThan(106);
    },
    300_000,
  );
});
