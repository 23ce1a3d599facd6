import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import pc from 'picocolors';
import { afterAll, describe, expect, it } from 'vitest';
import { parseCaseFile } from '../cases/index.js';
import type { CliWorld, ExitCode } from './context.js';
import { guardOutput } from './guarded-output.js';
import { main } from './main.js';
import { reproduceCommand } from './reproduce-command.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-reproduce-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const world = (out: string[], err: string[]): CliWorld => ({
  out: (text) => out.push(text),
  err: (text) => err.push(text),
  outIsTerminal: false,
  errIsTerminal: false,
  colors: pc.createColors(false),
  width: 100,
  signal: new AbortController().signal,
});

async function isolde(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const context = world(out, err);
  let code: ExitCode | undefined;
  const program = new Command('isolde').exitOverride();
  reproduceCommand(program, guardOutput(context), (given) => {
    code = given;
  });
  await program.parseAsync(['reproduce', ...args], { from: 'user' });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** DuckDB #17223: updating a row that another transaction has deleted is no conflict. */
const bug = {
  format: 'isolde-case',
  version: 1,
  name: 'deleted row updated',
  setup: ['CREATE TABLE t (id INTEGER, v INTEGER)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
  sessions: [
    { name: 'T1', statements: ['BEGIN', 'DELETE FROM t WHERE id = 1', 'COMMIT'] },
    {
      name: 'T2',
      statements: ['BEGIN', 'SELECT id, v FROM t', 'UPDATE t SET v = 55 WHERE id = 1', 'COMMIT'],
    },
  ],
  schedule: {
    batches: [[[1, 0]], [[1, 1]], [[0, 0]], [[0, 1]], [[1, 2]], [[0, 2]], [[1, 3]]],
  },
};

describe('isolde reproduce', () => {
  it('shows a live bug in every replay and writes the schedule', async () => {
    const out = join(folder, 'schedule.case.json');
    const { code, out: printed } = await isolde(file('bug.case.json', bug), '--runs', '4', '--out', out);
    expect(printed).toContain('4 of 4 replays (batch) show the finding');
    expect(printed).toContain('between 51 % and 100 % (95 % confidence)');
    expect(printed).toContain('every operation saw what it saw in the history, in every replay');
    expect(code).toBe(1);
    const written = parseCaseFile(readFileSync(out, 'utf8'), out);
    expect(written.case.sessions.map(({ statements }) => statements.length)).toEqual([3, 4]);
    expect(written.schedule?.batches.flat()).toHaveLength(7);
  });

  it('says what is undecided where nothing was found, as check does, with the same exit code', async () => {
    const open = {
      ...bug,
      sessions: [{ name: 'T1', statements: ['SELECT random() FROM t'] }],
      schedule: { batches: [[[0, 0]]] },
    };
    const history = join(folder, 'open.history.jsonl');
    await main(['run', file('open.case.json', open), '--out', history], world([], []));
    for (const path of [join(folder, 'open.case.json'), history]) {
      const { code, err } = await isolde(path);
      expect(code).toBe(2);
      expect(err).toMatch(/^not decided: /m);
      expect(err).not.toContain('nothing in it breaks its contract');
    }
    expect(await main(['check', history], world([], []))).toBe(2);
  });

  it.each([
    ['CREATE TABLE', ['CREATE TABLE u (a INTEGER)', 'INSERT INTO u VALUES (1)', 'SELECT a FROM u']],
    ['CREATE TABLE AS', ['CREATE TABLE u AS SELECT id AS a FROM t', 'UPDATE u SET a = 3', 'SELECT a FROM u']],
  ])('says of %s inside a session what check says, with the same exit code', async (name, statements) => {
    const made = {
      ...bug,
      sessions: [{ name: 'T1', statements }],
      schedule: { batches: statements.map((_, at) => [[0, at]]) },
    };
    const program = file(`${name}.case.json`, made);
    const history = join(folder, `${name}.history.jsonl`);
    const ran = await main(['run', program, '--check', '--out', history], world([], []));
    const checked: string[] = [];
    expect(await main(['check', history], world(checked, []))).toBe(ran);
    for (const path of [program, history]) {
      const { code, err } = await isolde(path);
      expect(code).toBe(ran);
      expect(await main(['reduce', path], world([], []))).toBe(ran);
      expect(/^not decided: /m.test(err)).toBe(ran === 2);
    }
    expect(/unknown|not decided/.test(checked.join('\n'))).toBe(ran === 2);
  });

  it('prints clean JSON', async () => {
    const { out } = await isolde(file('bug.case.json', bug), '--runs', '2', '--mode', 'sequential', '--json');
    expect(JSON.parse(out)).toMatchObject({
      format: 'isolde-reproduction/1',
      mode: 'sequential',
      runs: 2,
      reproduced: 2,
      identical: 2,
      ambiguous: [],
    });
  });

  it('says that a finding does not reproduce, where the replays diverge from the history, and ends with 2', async () => {
    const history = join(folder, 'forged.history.jsonl');
    const header = {
      format: 'isolde-history',
      version: 1,
      sessions: ['T1'],
      dialect: 'duckdb',
      level: 'snapshot',
      setup: ['CREATE TABLE t (id INTEGER PRIMARY KEY, v INTEGER)', 'INSERT INTO t VALUES (1, 10)'],
    };
    const read = {
      ...{
        index: 0,
        session: 0,
        transaction: 0,
        kind: 'select',
        sql: 'SELECT id, v FROM t',
        start: 1,
        end: 2,
      },
      ...{ outcome: 'ok', ends: 'commit', columns: ['id', 'v'], rows: [[1, 99]] },
    };
    writeFileSync(history, `${JSON.stringify(header)}\n${JSON.stringify(read)}\n`);
    const { code, out } = await isolde(history, '--runs', '2');
    expect(out).toContain('0 of 2 replays (batch) show the finding');
    expect(out).toContain('the finding does not reproduce');
    expect(out).toMatch(
      /operation 0 \(2 times\) {2}T1: SELECT id, v FROM t\n {4}was \(1, 99\)\n {4}is {2}\(1, 10\)/,
    );
    expect(out).toContain('\n    known to be open: no version or lock explains it\n'.trimEnd());
    expect(code).toBe(2);
  });

  it('says so when a case has no finding, and ends with 0 as check does', async () => {
    const harmless = {
      ...bug,
      sessions: [bug.sessions[0]],
      schedule: { batches: [[[0, 0]], [[0, 1]], [[0, 2]]] },
    };
    const program = file('harmless.case.json', harmless);
    const history = join(folder, 'harmless.history.jsonl');
    expect(await main(['run', program, '--check', '--out', history], world([], []))).toBe(0);
    for (const path of [program, history]) {
      const { code, err } = await isolde(path);
      expect(err).toContain('nothing in it breaks its contract; there is no finding to reproduce');
      expect(code).toBe(0);
      expect(await main(['reduce', path], world([], []))).toBe(0);
    }
    expect(await main(['check', history], world([], []))).toBe(0);
  });

  it.each([
    [['--mode', 'backwards'], '"backwards" is no way to replay; say batch, sequential, random'],
    [['--runs', '0'], '--runs takes a whole number above 0'],
    [['--contract', 'moon:si'], 'no contract is called "moon:si"; there are duckdb:snapshot'],
  ])('refuses %j and says what would be accepted', async (args, message) => {
    await expect(isolde(file('bug.case.json', bug), ...args)).rejects.toThrow(message);
  });
});
