/** Several nodes of one database from the command line: run, probe and hunt name the nodes and hold them to their contracts. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { galeraAvailable } from '../src/targets/mariadb/galera-nodes.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { enginesRequired, isolde } from './isolde.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-cluster-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const script = join(folder, 'skew.sql');
writeFileSync(
  script,
  `CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);

T1: BEGIN;
T2: BEGIN;
T2: SELECT v FROM t WHERE id = 1;
T1: UPDATE t SET v = v + 1;
T1: COMMIT;
T2: SELECT v FROM t WHERE id = 2;
T2: COMMIT;
`,
);

describe.each([
  {
    url: 'cluster:postgres',
    nodes: ['primary', 'standby'],
    broken: 'cluster:postgres:?fault=lost-update',
    kind: 'postgres-',
    missing: enginesRequired ? undefined : postgresAvailable(),
  },
  {
    url: 'cluster:mariadb',
    nodes: ['node1', 'node2'],
    // MDEV-26642, which two nodes show as two sessions of one do.
    broken: 'cluster:mariadb',
    kind: 'own-write-missed',
    missing: galeraAvailable(),
  },
])('$url', ({ url, nodes, broken, kind, missing }) => {
  it.skipIf(missing !== undefined)(
    `a run keeps its contract and names the nodes ${missing ?? ''}`,
    async () => {
      const out = join(folder, `${nodes[0]}.history.jsonl`);
      const run = await isolde(['run', script, '--target', url, '--level', 'RR', '--check', '--out', out]);
      expect(run, run.err).toMatchObject({ code: 0 });
      expect(run.out).toContain(`T2@${nodes[1]}`);
      const [header, ...operations] = readFileSync(out, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(header).toMatchObject({ sessions: nodes.map((node, i) => `T${i + 1}@${node}`), nodes });
      // One snapshot, although the other node had caught up before the second read.
      const reads = operations.filter(({ kind }) => kind === 'select').map(({ rows }) => rows);
      expect(reads).toEqual([[[10]], [[20]]]);
      // What was recorded is judged by the contract of the cluster again.
      const check = await isolde(['check', out]);
      expect(check.out + check.err).not.toMatch(/no contract/);
      expect(check.code).not.toBe(1);
    },
    60_000,
  );

  it.skipIf(missing !== undefined)(
    `a hunt finds what breaks the contract there, and names the nodes ${missing ?? ''}`,
    async () => {
      const store = join(folder, nodes[0]!);
      const limits = ['--for', '60s', '--bugs', '1', '--store', store];
      const hunt = await isolde(['hunt', broken, '--level', 'RR', ...limits]);
      expect(hunt.code, hunt.err).toBe(1);
      const [bug] = readdirSync(join(store, 'bugs'));
      expect(bug).toContain(kind);
      expect(readFileSync(join(store, 'bugs', bug!, 'case.case.json'), 'utf8')).toContain(`T1@${nodes[0]}`);
      expect(readFileSync(join(store, 'bugs', bug!, 'report.md'), 'utf8')).toContain(
        `cluster:${url.slice(8)}`,
      );
    },
    120_000,
  );
});
