/**
 * The reports in docs/reports are what Isolde writes: each is made here anew, with the closing reads that show its damage and the reports
 * of others that it is known by, both found as hunts find them; it is compared with the page, and all its exports are run. A page names the version that ran when it was written; only that may differ from the one that runs here.
 * `npx vitest run test/reports.test.ts -u` writes pages.
 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, type ScheduledCase, serialOrder } from '../src/cases/index.js';
import type { OracleName } from '../src/check/index.js';
import { identifyBy, knownFolder } from '../src/cli/known-command.js';
import { type Level, labelOf } from '../src/contracts/index.js';
import { runScheduled } from '../src/execute/index.js';
import { withAllRead, withClosingReads } from '../src/hunt/closing-reads.js';
import { contractAt, Database } from '../src/judge/index.js';
import { openKnown } from '../src/known/index.js';
import { answersOf, caseInForm, exported, runNodeScript } from '../src/report/exports/run-export.case.js';
import {
  type Bug,
  closingDamage,
  exportFiles,
  makeBug,
  reportMarkdown,
  sameAnswers,
} from '../src/report/index.js';
import { openTarget, type Target } from '../src/targets/index.js';
import { mariadbAvailable, startMariadbServer } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { startServer, urlOf } from '../src/targets/postgres/postgres-lab.case.js';
import { enginesRequired } from './isolde.js';

interface Reported {
  readonly name: string;
  readonly target: 'duckdb:' | 'duckdb:?fault=commit-on-rollback' | 'mariadb:' | 'postgres:';
  readonly level: Level;
  readonly contract: string;
  readonly oracle: OracleName;
  readonly kind: string;
  readonly label: string;
  /** Whom the page names as having reported it. */
  readonly known?: string;
  /** The damage shows only in a read that Isolde adds. */
  readonly closing?: true;
  readonly script: string;
}

const twoRows =
  'CREATE TABLE test (id INT PRIMARY KEY, value INT);\nINSERT INTO test VALUES (1, 10), (2, 20);';

const reported: readonly Reported[] = [
  {
    name: 'duckdb-17223',
    target: 'duckdb:',
    level: 'snapshot',
    contract: 'vendor',
    oracle: 'mechanism',
    kind: 'update-of-changed-row',
    label: 'breaks-manual',
    script: `
      CREATE TABLE t (id INT, v INT);
      INSERT INTO t VALUES (1, 10), (2, 20);
      T1: BEGIN
      T1: SELECT * FROM t
      T2: DELETE FROM t WHERE id = 1
      T1: UPDATE t SET v = 55 WHERE id = 1
      T1: COMMIT`,
    known: 'DuckDB .+17223',
    closing: true,
  },
  {
    name: 'mariadb-no-op-update',
    target: 'mariadb:',
    level: 'repeatable read',
    contract: 'vendor',
    oracle: 'mechanism',
    kind: 'own-write-missed',
    label: 'breaks-manual',
    script: `
      ${twoRows}
      T1: BEGIN
      T1: SELECT * FROM test
      T2: UPDATE test SET value = 11 WHERE id = 1
      T1: UPDATE test SET value = 11 WHERE id = 1
      T1: SELECT * FROM test
      T1: COMMIT`,
    known: 'MDEV-26642',
  },
  {
    name: 'mariadb-predicate-mismatch',
    target: 'mariadb:',
    level: 'repeatable read',
    contract: 'reported',
    oracle: 'mechanism',
    kind: 'condition-mismatch',
    label: 'reported',
    script: `
      ${twoRows}
      CREATE TABLE item (id INT PRIMARY KEY, value INT);
      INSERT INTO item VALUES (1, 5), (2, 100);
      T1: BEGIN
      T1: SELECT * FROM item WHERE value <= (SELECT MIN(value) FROM test)
      T2: INSERT INTO test VALUES (3, 1)
      T1: UPDATE item SET value = 7 WHERE value <= (SELECT MIN(value) FROM test)
      T1: COMMIT`,
    known: 'MySQL .+108528',
    closing: true,
  },
  {
    name: 'postgres-write-skew',
    target: 'postgres:',
    level: 'repeatable read',
    contract: 'adya',
    oracle: 'dependency-graph',
    kind: 'write-skew',
    label: 'theory',
    script: `
      ${twoRows}
      T1: BEGIN
      T2: BEGIN
      T1: SELECT * FROM test
      T2: SELECT * FROM test
      T1: UPDATE test SET value = 11 WHERE id = 1
      T2: UPDATE test SET value = 21 WHERE id = 2
      T1: COMMIT
      T2: COMMIT`,
  },
  {
    name: 'injected-fault',
    target: 'duckdb:?fault=commit-on-rollback',
    level: 'snapshot',
    contract: 'vendor',
    oracle: 'mechanism',
    kind: 'dirty-read',
    label: 'breaks-manual',
    script: `
      ${twoRows}
      T1: BEGIN
      T1: UPDATE test SET value = 11 WHERE id = 1
      T1: ROLLBACK
      T2: SELECT * FROM test`,
  },
];

/** A server of the test's own: the stand-alone script is told where it is. */
interface Started {
  readonly url: string;
  readonly argument: string;
  readonly stop: () => Promise<void>;
}

async function start(target: Reported['target']): Promise<Started | undefined> {
  if (target === 'postgres:') {
    const server = await startServer();
    return { url: urlOf(server), argument: urlOf(server), stop: () => server.stop() };
  }
  if (target !== 'mariadb:') return undefined;
  const server = await startMariadbServer();
  const socket = server.address.socket!;
  return { url: `mariadb://root@localhost/?socket=${socket}`, argument: socket, stop: () => server.stop() };
}

function missing(target: string): string | undefined {
  if (enginesRequired) return undefined;
  if (target === 'mariadb:') return mariadbAvailable();
  return target === 'postgres:' ? postgresAvailable() : undefined;
}

/** Pages are compared without the version that ran. */
function withoutVersion(text: string): string {
  const version = /^- \*\*Version:\*\* (.+)$/m.exec(text)?.[1];
  if (version === undefined) return text;
  return text.replaceAll(version, 'VERSION').replaceAll(version.replaceAll(/\\(.)/g, '$1'), 'VERSION');
}

for (const { name, target: url, level, contract, oracle, kind, label, script, ...shows } of reported) {
  const why = missing(url);
  describe.skipIf(why !== undefined)(`docs/reports/${name}.md${why === undefined ? '' : ` (${why})`}`, () => {
    let server: Started | undefined;
    let database: Database;
    let bug: Bug;
    const target = (): Target => database.target;

    beforeAll(async () => {
      server = await start(url);
      const place = server?.url ?? url;
      database = await Database.open({ open: () => openTarget(place), onReopen: () => undefined });
      const { case: program, schedule } = parseScript(`-- isolde script\n${script}`, {
        file: `${name}.sql`,
        dialect: target().dialect,
      });
      const held = contractAt(contract, target(), level);
      const run = async (scheduled: Required<ScheduledCase>) => {
        const observed = await database.observe({ ...scheduled, oracle, contract: held, level }, 0);
        if (observed.kind !== 'ran') throw new Error(`${name} did not run: ${observed.kind}`);
        const { history, findings } = observed;
        const finding = findings.find((each) => each.kind === kind);
        if (finding !== undefined) return { ...scheduled, finding, history };
        throw new Error(
          `no ${kind} in ${name}: ${findings.map((each) => each.kind).join(', ') || 'nothing'}`,
        );
      };
      const plain = { case: program, schedule: schedule ?? serialOrder(program) };
      // As in a hunt: all tables are read at the end, and those reads belong to the case that show damage.
      const damage = closingDamage(await run(withAllRead(plain, target().dialect)));
      const shown = withClosingReads(
        plain.case,
        plain.schedule,
        damage.map(({ operation }) => operation.sql!),
      );
      const runs = 3;
      for (let i = 1; i < runs; i++) await run(shown);
      const found = makeBug({
        ...(await run(shown)),
        at: '2026-11-16T12:00:00.000Z',
        reproduced: { shown: runs, runs },
      });
      const identify = identifyBy(await openKnown({ own: knownFolder }), false);
      const observe = (request: Parameters<Database['observe']>[0]) => database.observe(request, 0);
      bug = { ...found, known: (await identify(found, { target: target(), observe }))! };
    }, 300_000);
    afterAll(async () => {
      await database?.close();
      await server?.stop();
    });

    it('is what Isolde writes', async () => {
      const page = `docs/reports/${name}.md`;
      const text = reportMarkdown(bug);
      const written = existsSync(page) ? readFileSync(page, 'utf8') : '';
      if (withoutVersion(text) !== withoutVersion(written))
        await expect(text).toMatchFileSnapshot(`../${page}`);
    });

    it('names who has reported it, and shows the damage', () => {
      const page = reportMarkdown(bug);
      if (shows.known !== undefined) expect(page).toMatch(new RegExp(`^Known as .*${shows.known}`, 'm'));
      const last = bug.case.sessions.at(-1)!;
      expect(last.name === 'after').toBe(shows.closing === true);
      if (shows.closing) expect(page).toMatch(/^\| after \| `SELECT \* FROM \w+` \|/m);
      // What the first screen calls wrong is wrong in the table of expected access, too.
      const wrong = page.split('\n').filter((line) => line.includes('**wrong**'));
      expect(wrong.length > 0).toBe(label !== 'theory');
    });

    it('holds title, summary, case, expected and actual before the fold', () => {
      const fold = reportMarkdown(bug).split('\n').slice(0, 40).join('\n');
      expect(fold.startsWith('# ')).toBe(true);
      expect(fold).toMatch(/^.+\. Here .+, where .+\.$/m);
      expect(fold).toContain('CREATE TABLE');
      expect(fold).toMatch(/^\| operation \| T1 \| T2 \|/m);
      expect(fold).toContain('| transaction | statement | actual | expected |');
      expect(fold).not.toMatch(/firstUpdaterWins|ownWrites|ownDeletesHide|subqueriesSee|pivot|\bns\b/);
      expect(labelOf(bug)).toBe(label);
      if (url.includes('fault=')) expect(fold.split('\n')[0]).toContain('injected fault');
    });

    it('has scripts that show it again', async () => {
      const files = exportFiles(bug).map((file) => file.name);
      const readable = ['repro.sql', 'repro.spec', 'repro.test'].filter((file) => files.includes(file));
      expect(readable).toHaveLength(url.startsWith('duckdb') ? 1 : 2);
      for (const file of readable) {
        const again = parseScript(exported(bug, file), { file, dialect: target().dialect });
        const scratch = await target().createScratch();
        const history = await runScheduled(scratch, again, { target: target(), level });
        await scratch.drop();
        const answers = history.operations.flatMap(({ rows }) => (rows === undefined ? [] : [rows]));
        const before = bug.history.operations.flatMap(({ rows }) => (rows === undefined ? [] : [rows]));
        expect(answers, file).toEqual(before);
        if (file === 'repro.sql') expect(sameAnswers(bug, history)).toBe(true);
      }
    });

    it('has a form of the vendor’s whose SQL shows it again', async () => {
      const scratch = await target().createScratch();
      const history = await runScheduled(scratch, caseInForm(bug), { target: target(), level });
      await scratch.drop();
      expect(answersOf(history)).toEqual(
        // The form names the level that a plain BEGIN had.
        answersOf(bug.history).map((line) =>
          target().dialect === 'postgres'
            ? line.replace(/: BEGIN$/, ': BEGIN ISOLATION LEVEL REPEATABLE READ')
            : line,
        ),
      );
    });

    it('has a program that says whether it shows', async () => {
      const ended = await runNodeScript(bug, ...(server === undefined ? [] : [server.argument]));
      expect({ code: ended.code, err: ended.err }, ended.out).toEqual({
        code: url.includes('fault=') ? 0 : 1,
        err: '',
      });
    });
  });
}
