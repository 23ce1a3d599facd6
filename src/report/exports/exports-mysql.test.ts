/** What is exported of a bug runs on the current MySQL, too. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parseScript } from '../../cases/index.js';
import { runScheduled } from '../../execute/index.js';
import { probeCases } from '../../probe/index.js';
import { mysqlAvailable, mysqlDriver, startMysqlServer } from '../../targets/mysql/index.js';
import { describeLiveServer } from '../../targets/mysql/live-server.case.js';
import { installedPrograms, providedProgram } from '../../targets/programs.js';
import type { Bug } from '../bug.js';
import { sameAnswers } from '../evidence.js';
import { findBug } from '../found-bug.case.js';
import { answersOf, caseInForm, exported, runNodeScript, runProgram } from './run-export.case.js';

const noOp = probeCases.find(({ id }) => id === 'own-write-no-op')!;
const engine = {
  scheme: 'mysql',
  driver: mysqlDriver,
  start: startMysqlServer,
  missing: mysqlAvailable(),
};

describeLiveServer(engine, 'exports of MySQL’s no-op update', (live) => {
  let bug: Bug;
  beforeAll(async () => {
    const { target, scratch } = live();
    const place = { target, scratch, scheduled: noOp, level: 'repeatable read' } as const;
    bug = await findBug({ ...place, kind: 'own-write-missed' });
  });

  it('shows the bug again as script, as SQL in the vendor’s form, and through Node', async () => {
    const { target, scratch, server } = live();
    const script = parseScript(exported(bug, 'repro.sql'), { file: 'repro.sql' });
    expect(sameAnswers(bug, await runScheduled(scratch, script, { target }))).toBe(true);
    const form = await runScheduled(scratch, caseInForm(bug), { target, level: 'repeatable read' });
    expect(answersOf(form)).toEqual(answersOf(bug.history));
    const { code, out, err } = await runNodeScript(bug, server.address.socket!);
    expect({ code, err }, out).toEqual({ code: 1, err: '' });
  });

  it('fills in MySQL’s bug form', () => {
    const form = exported(bug, 'bug-report.txt');
    for (const title of ['Synopsis', 'Version', 'Severity', 'How to repeat'])
      expect(form).toContain(`${title}\n${'='.repeat(title.length)}\n`);
    expect(form).not.toMatch(/```|\\[(_]|ownWrites|ownDeletesHide/);
  });

  const [tester] = ['mysqltest', 'mariadb-test'].flatMap(installedPrograms);
  const client = providedProgram('mysql', 'mysql') ?? installedPrograms('mysql')[0];
  const missing = tester === undefined || client === undefined;
  it.skipIf(missing)(
    `its test passes in a test client, in a database the mysql client made${missing ? ' (no test client)' : ''}`,
    async () => {
      const { server } = live();
      const login = ['--no-defaults', `--socket=${server.address.socket}`, '--user=root'];
      const folder = await mkdtemp(join(tmpdir(), 'isolde-mtr-'));
      try {
        for (const file of ['repro.test', 'repro.result'])
          await writeFile(join(folder, file), exported(bug, file));
        expect(
          await runProgram(client!, [...login, '-e', 'CREATE DATABASE isolde_mtr_export']),
        ).toMatchObject({
          code: 0,
        });
        const files = ['--test-file=repro.test', '--result-file=repro.result'];
        const options = [...login, '--database=isolde_mtr_export', ...files];
        const { code, out, err } = await runProgram(tester!, options, { cwd: folder });
        expect(code, `${out}${err}`).toBe(0);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});
