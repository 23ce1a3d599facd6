import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseScript, type ScheduledCase } from '../../cases/index.js';
import { runScheduled } from '../../execute/index.js';
import { probeCases } from '../../probe/index.js';
import { describeLive, type Live } from '../../targets/mariadb/live-mariadb.case.js';
import type { Bug } from '../bug.js';
import { sameAnswers } from '../evidence.js';
import { findBug, findGraphBug } from '../found-bug.case.js';
import { exportForms } from './index.js';
import {
  answersOf,
  caseInForm,
  type Ended,
  exported,
  nastyCase,
  nastyTexts,
  recordRun,
  runNodeScript,
  runProgram,
} from './run-export.case.js';

const noOp = probeCases.find(({ id }) => id === 'own-write-no-op')!;

const enginesRequired = process.env.ISOLDE_REQUIRE_ENGINES === '1';

function programNamed(...names: readonly string[]): string | undefined {
  return names.find((program) => {
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** The test client of the server's own test suite, if it is installed (Debian: mariadb-test). */
const testClient = programNamed('mariadb-test', 'mysqltest');

describeLive('exports of MariaDB’s no-op update', (live) => {
  let bug: Bug;
  beforeAll(async () => {
    const { target, scratch } = live();
    bug = await findBug({
      target,
      scratch,
      scheduled: noOp,
      level: 'repeatable read',
      kind: 'own-write-missed',
    });
  });

  it('the mtr test, read back, shows the bug again', async () => {
    const again = parseScript(exported(bug, 'repro.test'), { file: 'repro.test' });
    const { target, scratch } = live();
    const history = await runScheduled(scratch, again, { target });
    expect(answersOf(history)).toEqual(answersOf(bug.history));
    expect(answersOf(history)).toContain('T2: SELECT id, value FROM test → (1, 10) (2, 20)');
  });

  it('the script shows the bug again', async () => {
    const { target, scratch } = live();
    const history = await runScheduled(scratch, parseScript(exported(bug, 'repro.sql'), { file: 'x' }), {
      target,
    });
    expect(sameAnswers(bug, history)).toBe(true);
  });

  it('the stand-alone script exits with 1, and with 0 once the server keeps the promise', async () => {
    const { server } = live();
    const { code, out, err } = await runNodeScript(bug, server.address.socket!);
    expect(err).toBe('');
    expect(out).toContain('The bug shows');
    expect(code).toBe(1);
    await administer(live(), 'SET GLOBAL innodb_snapshot_isolation = ON');
    try {
      const mended = await runNodeScript(bug, server.address.socket!);
      expect(mended.out).toContain('The bug does not show');
      expect(mended.code).toBe(0);
    } finally {
      await administer(live(), 'SET GLOBAL innodb_snapshot_isolation = OFF');
    }
  });

  it('the SQL in the bug form runs and shows the bug again', async () => {
    const { target, scratch } = live();
    const history = await runScheduled(scratch, caseInForm(bug), { target, level: 'repeatable read' });
    expect(answersOf(history)).toEqual(answersOf(bug.history));
  });

  const client = programNamed('mariadb', 'mysql');
  it.skipIf(client === undefined && !enginesRequired)(
    `repro.sql is read by the vendor’s client${client === undefined ? ' (none is installed)' : ''}`,
    async () => {
      const { server } = live();
      const login = ['--no-defaults', `--socket=${server.address.socket}`, '--user=root', '--force'];
      await administer(live(), 'CREATE DATABASE isolde_client_export');
      try {
        const script = exported(bug, 'repro.sql');
        const { out, err } = await runProgram(client!, [...login, '--table', 'isolde_client_export'], {
          input: script,
        });
        expect(err).not.toMatch(/syntax/i);
        expect(err).toBe('');
        // Both answers of the SELECT, from one session.
        expect(out.match(/\| id +\| value +\|/g)).toHaveLength(2);
      } finally {
        await administer(live(), 'DROP DATABASE isolde_client_export');
      }
    },
  );

  it('the bug form holds the test', () => {
    const form = exported(bug, 'bug-report.txt');
    for (const title of ['Affects Version/s', 'Component/s', 'Environment', 'Description'])
      expect(form).toContain(`${title}\n${'='.repeat(title.length)}\n`);
    expect(form).not.toMatch(/```|\\[(_]|ownWrites|ownDeletesHide/);
    expect(form).toContain('--disable_connect_log');
  });

  it.skipIf(testClient === undefined && !enginesRequired)(
    'the test fails once the server keeps the promise',
    async () => {
      await administer(live(), 'SET GLOBAL innodb_snapshot_isolation = ON');
      try {
        const { code, out, err } = await runTest(live(), bug);
        expect(`${out}${err}`).toMatch(/failed|differ/i);
        expect(code).not.toBe(0);
      } finally {
        await administer(live(), 'SET GLOBAL innodb_snapshot_isolation = OFF');
      }
    },
  );

  it.skipIf(testClient === undefined && !enginesRequired)(
    'nasty texts come back as they were through the test, the script and Node',
    async () => {
      const { target, scratch, server } = live();
      const recorded = await recordRun(target, scratch, nastyCase('mysql'), 'repeatable read');
      await expectPasses(live(), recorded);
      const again = parseScript(exported(recorded, 'repro.sql'), { file: 'repro.sql', dialect: 'mysql' });
      const history = await runScheduled(scratch, again, { target });
      expect(history.operations.flatMap(({ rows = [] }) => rows)).toEqual(
        [nastyTexts[0], nastyTexts[0], ...nastyTexts.slice(2)].map((text, id) => [id, text]),
      );
      const { code, out, err } = await runNodeScript(recorded, server.address.socket!);
      expect({ code, err }, out).toEqual({ code: 1, err: '' });
    },
  );

  it('answers of bytes have no test, the reason says so, and Node shows them', async () => {
    const { target, scratch } = live();
    const mtr = exportForms.find(({ name }) => name === 'mtr')!;
    const text = "CREATE TABLE b (k BLOB);\nINSERT INTO b VALUES (x'00ff0a');\nT1: SELECT k FROM b;";
    const scheduled = parseScript(text, { file: 'bytes', dialect: 'mysql' });
    const recorded = await recordRun(target, scratch, scheduled);
    expect(mtr.unfit(recorded)).toContain('bytes or a line break');
    const { code, out, err } = await runNodeScript(recorded, live().server.address.socket!);
    expect({ code, err }, out).toEqual({ code: 1, err: '' });
    expect(mtr.unfit(bug)).toBeUndefined();
  });

  it.skipIf(testClient === undefined && !enginesRequired)(
    `the server’s own test client accepts test and result${testClient === undefined ? ' (mariadb-test is not installed)' : ''}`,
    async () => {
      await expectPasses(live(), bug);
      await expectPasses(live(), await waiting(live()));
    },
  );

  it('a statement that waits is sent and reaped, and runs the same through our reader and through Node', async () => {
    const { target, scratch, server } = live();
    const blocked = await waiting(live());
    const test = exported(blocked, 'repro.test');
    expect(test).toMatch(/send UPDATE test SET value = 12 WHERE id = 1;\n[\s\S]*COMMIT;[\s\S]*reap;/);
    const again = parseScript(test, { file: 'repro.test' });
    const history = await runScheduled(scratch, again, { target });
    expect(history.operations.some((operation) => operation.blocked)).toBe(true);
    const { code, out } = await runNodeScript(blocked, server.address.socket!);
    expect(out).toContain('The bug shows');
    expect(code).toBe(1);
  });
});

/** A run in which one session waits for another: lost update at REPEATABLE READ, by Adya's definition a bug. */
function waiting({ target }: Live): Promise<Bug> {
  const scheduled: ScheduledCase = probeCases.find(({ id }) => id === 'lost-update')!;
  return findGraphBug(target, scheduled, {
    contract: 'adya:PL-2.99',
    level: 'repeatable read',
    kind: 'lost-update',
  });
}

async function administer({ server }: Live, sql: string): Promise<void> {
  const done = await runProgram('mariadb', [`--socket=${server.address.socket}`, '--user=root', '-e', sql]);
  expect(done).toMatchObject({ code: 0, err: '' });
}

async function expectPasses(here: Live, bug: Bug): Promise<void> {
  const { code, out, err } = await runTest(here, bug);
  expect(`${out}${err}`).not.toContain('failed');
  expect(code).toBe(0);
}

/** Runs test and result with the server's own test client. */
async function runTest(here: Live, bug: Bug): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-mtr-'));
  const database = 'isolde_mtr_export';
  try {
    await writeFile(join(folder, 'repro.test'), exported(bug, 'repro.test'));
    await writeFile(join(folder, 'repro.result'), exported(bug, 'repro.result'));
    await administer(here, `CREATE DATABASE ${database}`);
    return await runProgram(
      testClient ?? 'mariadb-test',
      [
        '--no-defaults',
        `--socket=${here.server.address.socket}`,
        '--user=root',
        `--database=${database}`,
        '--test-file=repro.test',
        '--result-file=repro.result',
      ],
      { cwd: folder },
    );
  } finally {
    await administer(here, `DROP DATABASE ${database}`);
    await rm(folder, { recursive: true, force: true });
  }
}
