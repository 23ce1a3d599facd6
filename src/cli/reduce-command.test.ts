import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCaseFile, parseScript, printCaseFile } from '../cases/index.js';
import { describeLive } from '../targets/mariadb/live-mariadb.case.js';
import type { CliWorld } from './context.js';
import { main } from './main.js';

const script = 'examples/scripts/duckdb-17223.sql';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-reduce-command-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function isolde(args: readonly string[], more: Partial<CliWorld> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(['reduce', ...args], {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
    ...more,
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('isolde reduce', () => {
  it('prints the smallest case as a script that runs again, with results and the argument as comments', async () => {
    const { code, out, err } = await isolde([script]);
    expect(code).toBe(1);
    expect(out).toContain('T1: UPDATE t SET');
    expect(out).toMatch(/^T2: DELETE FROM t;\n-- {2}→ 1 matched$/m);
    expect(out).toContain('which breaks duckdb:snapshot');
    expect(err).toMatch(/6 operations → 4 in 2 transactions, 1 row of set-up/);
    expect(err).toContain('1-minimal: each of');
    const again = parseScript(out, { file: 'reduced.sql', dialect: 'duckdb' });
    expect(again.case.sessions.flatMap(({ statements }) => statements)).toHaveLength(4);
  });

  it('prints what programs need as JSON', async () => {
    const { code, out } = await isolde([script, '--json', '--jobs', '2', '--strategy', 'pisco']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      strategy: 'pisco',
      trials: expect.any(Number),
      seconds: expect.any(Number),
      operations: 4,
      transactions: 2,
      rows: 1,
      minimal: true,
      sameFinding: true,
      schedule: { batches: expect.any(Array) },
      case: { sessions: [{ name: 'T1' }, { name: 'T2' }] },
    });
  });

  it('writes the case, reduces it again to itself, and prints what its page says', async () => {
    const file = join(folder, 'reduced.case.json');
    await isolde([script, '--out', file]);
    expect(await readFile('docs/stages/reduce.md', 'utf8')).toContain(
      (await isolde([script])).out.split('\n').slice(0, 14).join('\n'),
    );
    const reduced = parseCaseFile(await readFile(file, 'utf8'), file);
    const { out } = await isolde([file, '--json']);
    expect(JSON.parse(out).case).toEqual(reduced.case);
  });

  it('reduces a raw history', async () => {
    const history = join(folder, 'raw.history.jsonl');
    await main(['run', script, '--out', history], silent());
    const { code, out } = await isolde([history, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ operations: 4, minimal: true, sameFinding: true });
  });

  it.each([
    ['of theory, which only an instrumented run can be held to', ['--contract', 'adya:PL-3']],
    ['seen by the oracle asked for', ['--contract', 'adya:PL-3', '--oracle', 'dependency-graph']],
  ])('reduces a finding %s', async (_, args) => {
    const { code, out } = await isolde([await skew(), '--json', ...args]);
    expect(code).toBe(1);
    const result = JSON.parse(out);
    expect(result).toMatchObject({ minimal: true, sameFinding: true, confirmed: { shown: 5, runs: 5 } });
    expect(result.finding).toMatchObject({ oracle: 'dependency-graph', kind: 'write-skew' });
    expect(result.operations).toBeLessThan(9);
    // Told as it was written, without the columns and tables of the instrumentation.
    expect(out).not.toContain('isolde_');
  });

  it('says what is undecided where nothing was found', async () => {
    const file = join(folder, 'random.sql');
    await writeFile(
      file,
      'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (1);\nT2: SELECT random() FROM t;\n',
    );
    const { code, err } = await isolde([file]);
    expect(code).toBe(2);
    expect(err).toContain('not decided: ');
    expect(err).toContain('not everything could be judged');
  });

  it('says where a replay diverged when the finding of a history does not reproduce', async () => {
    const fine = join(folder, 'fine.sql');
    await writeFile(
      fine,
      'CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nT1: SELECT * FROM t;\nT2: SELECT a FROM t;\n',
    );
    const history = join(folder, 'fine.history.jsonl');
    await main(['run', fine, '--out', history], silent());
    // A history somebody made up: the last read returns a row that nobody wrote.
    const lines = (await readFile(history, 'utf8')).trimEnd().split('\n');
    const madeUp = { ...JSON.parse(lines.at(-1)!), rows: [[55]] };
    const madeUpFile = join(folder, 'made-up.history.jsonl');
    await writeFile(madeUpFile, `${[...lines.slice(0, -1), JSON.stringify(madeUp)].join('\n')}\n`);
    const { code, out, err } = await isolde([madeUpFile]);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).toContain('the finding does not reproduce');
    expect(err).toContain(
      'first divergence: T2: SELECT a FROM t was answered → (55) in the history and → (1) in the replay',
    );
  });

  it('ends with 0 when everything was judged and there is no finding', async () => {
    const file = join(folder, 'fine.case.json');
    const fine = parseScript(
      'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (1);\nT2: SELECT * FROM t;\n',
      {
        file: 'fine.sql',
        dialect: 'duckdb',
      },
    );
    await writeFile(file, printCaseFile(fine));
    const { code, err } = await isolde([file]);
    expect(code).toBe(0);
    expect(err).toContain('there is no finding to reduce');
  });

  it('compares all strategies, and a case somebody else made', async () => {
    const { code, out } = await isolde([script, '--against', script]);
    expect(code).toBe(1);
    for (const name of ['witness', 'pisco', 'ddmin', 'creduce'])
      expect(out).toMatch(new RegExp(`^${name} +\\d+ .* 5 +2 +yes +yes$`, 'm'));
    // The script as it was published shows the finding, with a read more than it needs.
    expect(out).toMatch(/^examples\S+ +6 +3 +no +yes$/m);
  });

  it('keeps its state, and goes on from it', async () => {
    const state = join(folder, 'state.json');
    const first = await isolde([script, '--state', state, '--json']);
    const again = await isolde([script, '--state', state, '--json']);
    const comparable = ({ out }: { readonly out: string }) => ({
      ...JSON.parse(out),
      seconds: 0,
      finding: 0,
    });
    expect(comparable(again)).toEqual(comparable(first));
  });

  it('says so when it is interrupted before anything is known', async () => {
    const { code, err } = await isolde([script], { signal: AbortSignal.abort() });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('interrupted before') });
    expect(err).not.toContain('unexpected');
  });

  it('prints the best so far when it is interrupted', async () => {
    const controller = new AbortController();
    let lines = 0;
    const { code, out, err } = await isolde([script], {
      signal: controller.signal,
      err: () => {
        if (++lines === 3) controller.abort();
      },
    });
    expect(code).toBe(2);
    expect(out).toContain('T1: ');
    expect(err).toBe('');
  });

  it('interrupted and started again with the same state, ends as if it had not been', async () => {
    const whole = await isolde([script, '--json']);
    const state = join(folder, 'interrupted.json');
    const controller = new AbortController();
    const said: string[] = [];
    const first = await isolde([script, '--state', state], {
      signal: controller.signal,
      err: (line) => {
        said.push(line);
        if (line.includes('2 accepted')) controller.abort();
      },
    });
    expect(first.code).toBe(2);
    expect(first.out).toContain('T1: ');
    expect(said.at(-1)).toContain('interrupted');
    const kept = Object.keys(JSON.parse(await readFile(state, 'utf8')).answers).length;
    expect(kept).toBeGreaterThan(1);
    const again = await isolde([script, '--state', state, '--json']);
    expect(again.code).toBe(1);
    expect(withoutTimes(again.out)).toEqual(withoutTimes(whole.out));
  });

  it.each(['witness', 'ddmin'])('gives the same with three jobs as with one: %s', async (strategy) => {
    const [one, three] = await Promise.all(
      ['1', '3'].map((jobs) => isolde([script, '--json', '--strategy', strategy, '--jobs', jobs])),
    );
    expect(withoutTimes(three!.out)).toEqual(withoutTimes(one!.out));
  });

  it.each([
    [
      ['x.sql', '--strategy', 'guess'],
      'there is no strategy "guess"; there are witness, pisco, ddmin, creduce',
    ],
    [['x.sql', '--jobs', '0'], '--jobs takes a whole number above 0'],
    [['x.sql', '--contract', 'atlantis'], 'no contract is called "atlantis"; there are'],
    [['x.sql', '--oracle', 'tarot'], 'no oracle that judges runs is called "tarot"; there are server'],
    [['no-such-file.sql'], 'cannot read no-such-file.sql'],
  ])('refuses %j and says what would be accepted', async (args, message) => {
    const { code, err } = await isolde(args);
    expect(code).toBe(3);
    expect(err).toContain(message);
  });
});

/** Two transactions that each miss the other's write, among others. */
async function skew(): Promise<string> {
  const file = join(folder, 'skew.sql');
  await writeFile(
    file,
    `CREATE TABLE t (id INT PRIMARY KEY, v INT);
     INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
     C: UPDATE t SET v = 31 WHERE id = 3;
     A: BEGIN;
     B: BEGIN;
     A: SELECT v FROM t WHERE id = 2;
     B: SELECT v FROM t WHERE id = 1;
     A: UPDATE t SET v = 11 WHERE id = 1;
     B: UPDATE t SET v = 21 WHERE id = 2;
     A: COMMIT;
     B: COMMIT;
     C: SELECT v FROM t WHERE id = 3;`,
  );
  return file;
}

/** A result without what differs from run to run: times, and trials that ran ahead of their turn. */
function withoutTimes(json: string): unknown {
  const { seconds: _, speculative: __, cached: ___, finding, ...rest } = JSON.parse(json);
  return { ...rest, kind: finding.kind };
}

describeLive('isolde reduce on a server that dies', () => {
  /** Servers that this process started, by number. */
  const servers = () =>
    readdirSync('/proc').filter((name) => {
      try {
        const [comm, fields] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ');
        return comm!.includes('mariadb') && fields!.split(' ')[1] === String(process.pid);
      } catch {
        return false;
      }
    });

  it('goes on with a new one, and ends as if nothing had happened', async () => {
    const file = join(folder, 'no-op.sql');
    await writeFile(
      file,
      `CREATE TABLE t (id INT PRIMARY KEY, v INT);
       INSERT INTO t VALUES (1, 10), (2, 20);
       A: BEGIN;
       A: SELECT id, v FROM t;
       B: UPDATE t SET v = 99 WHERE id = 1;
       A: UPDATE t SET v = 99 WHERE id = 1;
       A: SELECT id, v FROM t ORDER BY v;
       A: COMMIT;`,
    );
    const args = [file, '--target', 'mariadb:', '--level', 'repeatable read', '--json'];
    const calm = await isolde(args);
    expect(calm.code).toBe(1);
    const before = new Set(servers());
    let killed = 0;
    const said: string[] = [];
    const disturbed = await isolde(args, {
      err: (line) => {
        said.push(line);
        if (killed > 0 || !line.includes('accepted')) return;
        for (const pid of servers()) {
          if (before.has(pid)) continue;
          process.kill(Number(pid), 'SIGKILL');
          killed++;
        }
      },
    });
    expect(killed).toBe(1);
    expect(disturbed.code, said.join('\n')).toBe(1);
    expect(withoutTimes(disturbed.out)).toEqual(withoutTimes(calm.out));
  }, 60_000);
});

function silent(): CliWorld {
  const ignore = () => undefined;
  const colors = pc.createColors(false);
  const signal = new AbortController().signal;
  return { out: ignore, err: ignore, outIsTerminal: false, errIsTerminal: false, colors, width: 100, signal };
}
