import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pc from 'picocolors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type History, kv, readAnyHistory, writeKvHistory, writeWholeHistory } from '../histories/index.js';
import type { Row } from '../sql/index.js';
import type { CliWorld } from './context.js';
import { main } from './main.js';

/** Runs `isolde …` and collects what it prints. */
async function isolde(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const context: CliWorld = {
    out: (text) => out.push(text),
    err: (text) => err.push(text),
    outIsTerminal: false,
    errIsTerminal: false,
    colors: pc.createColors(false),
    width: 100,
    signal: new AbortController().signal,
  };
  const code = await main(args, context);
  return { code, out: out.join('\n'), err: err.join('\n') };
}

let folder = '';
const at = (name: string): string => join(folder, name);

async function written(name: string, text: string): Promise<string> {
  await writeFile(at(name), text);
  return at(name);
}

/** Write skew without reads before the writes, so that only the order of versions that is left shows it. */
const blindSkew = 'w(2,0,0,0)\nw(10,0,0,0)\nw(2,1,1,1)\nr(10,0,1,1)\nw(10,3,2,2)\nr(2,0,2,2)\n';

/** A history of one read, after a set-up of one row. */
function sqlHistory(sql: string, rows: Row[]): History {
  return {
    header: {
      sessions: ['T1'],
      target: { name: 'postgres', version: '18.4' },
      level: 'repeatable read',
      dialect: 'postgres',
      setup: ['CREATE TABLE t (rid INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10)'],
    },
    operations: [
      {
        index: 0,
        session: 0,
        transaction: 0,
        kind: 'select',
        sql,
        start: 0,
        end: 1,
        outcome: 'ok',
        ends: 'commit',
        columns: ['rid', 'v'],
        rows,
      },
    ],
  };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'isolde-check-'));
  const histories = {
    good: 'T1@a[1-2]: ax1 | T2@b[3-4]: rx[1] ax2 | T3@a[5-6]: rx[1,2]',
    skew: 'T1@a[1-9]: rx[] ry[] ax1 | T2@b[1-9]: rx[] ry[] ay1 | T3@a[10-12]: rx[1] ry[1]',
    lost: 'T1@a[1-9]: rx[] ax1 | T2@b[1-9]: rx[] ax2 | T3@a[10-11]: rx[1,2]',
  };
  for (const [name, story] of Object.entries(histories))
    await writeKvHistory(at(`${name}.edn`), kv(story), 'jepsen');
  await writeFile(at('cut.edn'), '{:type :ok, :value [[:r 1');
  await writeWholeHistory(at('sql.history.jsonl'), sqlHistory('SELECT rid, v FROM t', [[1, 10]]));
  await writeWholeHistory(at('stale.history.jsonl'), sqlHistory('SELECT rid, v FROM t', [[1, 9]]));
  await writeWholeHistory(at('opaque.history.jsonl'), sqlHistory('SELECT rid, random() FROM t', [[1, 0.5]]));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('isolde check', () => {
  it('checks every history of a folder, and says what takes a case', async () => {
    const { code, out } = await isolde('check', 'examples/histories');
    expect(code).toBe(1);
    const verdicts = out.split('\n').filter((line) => line.includes('\t'));
    expect(verdicts.map((line) => line.replace(/^.*[/]/, '').split('\t')[0])).toEqual([
      'duckdb-17223.history.jsonl',
      'duckdb-raw.history.jsonl.gz',
      'write-skew.edn',
    ]);
    const script = await isolde('check', 'examples/scripts/duckdb-17223.sql');
    expect([script.code, script.err]).toEqual([3, expect.stringContaining('isolde run')]);
  });

  it('looks at other levels only when asked to, and prints the verdict before it does', async () => {
    const asked = JSON.parse((await isolde('check', at('skew.edn'), '-l', 'snapshot', '--json')).out);
    expect(asked.levels).toMatchObject({ snapshot: 'holds', causal: 'unknown' });
    const all = JSON.parse((await isolde('check', at('skew.edn'), '-l', 'si', '--strongest', '--json')).out);
    expect(all.levels).toMatchObject({ snapshot: 'holds', causal: 'holds', serializable: 'broken' });
    const { out } = await isolde('check', at('skew.edn'), '-l', 'si', '--strongest', '--explain');
    expect(out.split('\n')[0]).toBe(`${at('skew.edn')}\ttrue`);
  });

  it('writes a proof that verify-certificate accepts, and for no other history', async () => {
    for (const [name, level] of [
      ['good', 'serializable'],
      ['good', 'snapshot'],
      ['good', 'causal'],
      ['lost', 'snapshot'],
      ['skew', 'serializable'],
    ] as const) {
      await isolde('check', at(`${name}.edn`), '-l', level, '--certificate', at('proof.json'));
      const verified = await isolde('verify-certificate', at(`${name}.edn`), at('proof.json'));
      expect(verified).toMatchObject({ code: 0, out: `${at('proof.json')}\taccepted` });
    }
    // The proof that `skew` is not serializable says nothing about `good`.
    expect(await isolde('verify-certificate', at('good.edn'), at('proof.json'))).toMatchObject({ code: 1 });
    await writeFile(at('bad.json'), '{"format":"isolde-certificate"}');
    expect(await isolde('verify-certificate', at('good.edn'), at('bad.json'))).toMatchObject({ code: 3 });
    expect(
      await isolde('check', at('good.edn'), at('lost.edn'), '--certificate', at('proof.json')),
    ).toMatchObject({
      code: 3,
    });
  });

  it('takes a budget in seconds', async () => {
    expect(await isolde('check', at('good.edn'), '--budget', '0.5')).toMatchObject({ code: 0 });
    const { code, err } = await isolde('check', at('good.edn'), '--budget', 'much');
    expect(code).toBe(3);
    expect(err).toContain('--budget takes seconds');
  });

  it('gives up the weaker levels, too, when its seconds or megabytes are used up', async () => {
    const file = await written('open.txt', blindSkew);
    for (const level of ['read atomic', 'causal', 'snapshot']) {
      expect(await isolde('check', file, '--level', level), level).toMatchObject({ code: 0 });
    }
    for (const level of ['read committed', 'read atomic']) {
      const { code, err } = await isolde('check', file, '--level', level, '--budget', '0');
      expect([level, code]).toEqual([level, 2]);
      expect(err).toContain('0 s');
    }
    const { code, err } = await isolde('check', file, '--level', 'causal', '--memory', '0');
    expect(code).toBe(2);
    expect(err).toContain('do not fit in memory');
    expect((await isolde('check', file, '--memory', 'much')).err).toContain('--memory takes megabytes');
  });

  it('prints a line per file and ends with 0 when all hold', async () => {
    expect(await isolde('check', at('good.edn'))).toEqual({
      code: 0,
      out: `${at('good.edn')}\ttrue`,
      err: '',
    });
    const { code, out } = await isolde('check', at('good.edn'), at('skew.edn'), '--level', 'SI');
    expect({ code, out }).toEqual({ code: 0, out: `${at('good.edn')}\ttrue\n${at('skew.edn')}\ttrue` });
  });

  it('ends with 1 when one does not, and says on standard error why', async () => {
    const { code, out, err } = await isolde('check', at('skew.edn'));
    expect({ code, out }).toEqual({ code: 1, out: `${at('skew.edn')}\tfalse` });
    expect(err).toContain('serializable is broken: write-skew; still possible: ');
    expect(err).toContain('snapshot');
  });

  it('does not call possible what the finding rules out', async () => {
    const skew = await written('skew.txt', blindSkew);
    const { out, err } = await isolde('check', skew);
    expect(out).toBe(`${skew}\tfalse`);
    expect(err).toContain(
      'strong session serializable is broken: write-skew; still possible: strong session snapshot (',
    );
    const { findings } = JSON.parse((await isolde('check', skew, '--json')).out);
    expect(findings.map(({ rulesOut }: { rulesOut: string[] }) => rulesOut)).toEqual([['repeatable read']]);
    const { err: strongest } = await isolde('check', skew, '--strongest');
    expect(strongest).toBe(err);
    const stale = await written(
      'stale.txt',
      'w(1,1,0,0)\nr(1,1,1,1)\nw(1,2,1,1)\nr(1,2,2,2)\nw(2,2,2,2)\nr(2,2,3,3)\nr(1,1,3,3)\n',
    );
    for (const level of ['causal', 'serializable']) {
      expect((await isolde('check', stale, '--level', level)).err).toContain(
        'still possible: read atomic, cursor stability (',
      );
    }
  });

  it('holds SQL histories to the contract of the database that ran them', async () => {
    expect(await isolde('check', at('sql.history.jsonl'))).toMatchObject({
      code: 0,
      out: `${at('sql.history.jsonl')}\ttrue`,
    });
    const stale = await isolde('check', at('stale.history.jsonl'), '--explain');
    expect(stale.code).toBe(1);
    expect(stale.out).toContain('breaks postgres:repeatable-read');
    const other = await isolde('check', at('stale.history.jsonl'), '--contract', 'mariadb:repeatable-read');
    expect(other.code).toBe(1);
  });

  it('says what another contract would change', async () => {
    const { out } = await isolde(
      'check',
      at('stale.history.jsonl'),
      '--explain',
      '--compare',
      'mariadb:repeatable-read',
    );
    expect(out).toContain('under mariadb:repeatable-read there would be 1 findings instead of 1');
    const { code, err } = await isolde('check', at('stale.history.jsonl'), '--compare', 'adya:PL-3');
    expect(code).toBe(3);
    expect(err).toContain('--compare takes a vendor');
  });

  it.each([
    [['--contract', 'adya'], 'isolde hunt URL --contract adya'],
    [['--contract', 'adya:PL-3'], 'choose a vendor'],
    [['--anomalies', 'G1a'], 'this one holds SQL statements'],
  ])('refuses %j for SQL histories', async (flags, message) => {
    const { code, err } = await isolde('check', at('sql.history.jsonl'), ...flags);
    expect(code).toBe(3);
    expect(err).toContain(message);
  });

  it('ends with 2 for what is undecided, with the reason', async () => {
    const { code, out, err } = await isolde('check', at('opaque.history.jsonl'));
    expect({ code, out }).toEqual({ code: 2, out: `${at('opaque.history.jsonl')}\tunknown` });
    expect(err).toContain('not decided: 1 read not judged');
  });

  it('ends with 3 for what cannot be read, gives that no verdict, and checks the rest', async () => {
    const { code, out, err } = await isolde('check', at('cut.edn'), at('good.edn'), at('missing.edn'));
    expect({ code, out }).toEqual({ code: 3, out: `${at('good.edn')}\ttrue` });
    expect(err).toContain('cut.edn:1: the file ends inside the event that begins here');
    expect(err).toContain('missing.edn: ENOENT');
  });

  it('prints JSON for machines and nothing else', async () => {
    const { out } = await isolde('check', '--json', at('lost.edn'), at('cut.edn'));
    const [lost, cut] = out.split('\n').map((line) => JSON.parse(line));
    expect(lost).toMatchObject({
      file: at('lost.edn'),
      format: 'jepsen',
      valid: false,
      level: 'serializable',
      strongest: expect.any(Array),
      findings: [
        {
          kind: 'lost-update',
          operations: expect.any(Array),
          transactions: expect.any(Array),
          explanation: expect.arrayContaining([expect.objectContaining({ reason: 'contradiction' })]),
        },
      ],
    });
    expect(cut).toEqual({ file: at('cut.edn'), error: expect.stringContaining('cut.edn:1') });
  });

  it('explains, and draws', async () => {
    const { out } = await isolde('check', '--explain', '--dot', at('skew.dot'), at('skew.edn'));
    expect(out).toMatch(/false\n\nwrite-skew, proved\n {2}\S/);
    expect(out).toContain('strongest possible: ');
    expect(await readFile(at('skew.dot'), 'utf8')).toMatch(/^digraph isolde \{[\s\S]*write-skew/);
  });

  it('switches single anomalies on and off', async () => {
    expect((await isolde('check', at('skew.edn'), '--anomalies', 'no-write-skew')).code).not.toBe(1);
    expect((await isolde('check', at('skew.edn'), '--anomalies', 'Write-Skew')).code).toBe(1);
    expect((await isolde('check', at('skew.edn'), '--anomalies', 'G1a,lost-update')).code).not.toBe(1);
  });

  it.each([
    ['vendor:postgres', 'RR', 0],
    ['vendor:postgres', 'serializable', 1],
    ['adya:PL-SI', undefined, 0],
    ['adya:PL-3', undefined, 1],
    ['ansi', 'RR', 1],
    ['adya', 'SI', 0],
  ] as const)('holds write skew to the contract %s at %s', async (contract, level, code) => {
    const more = level === undefined ? [] : ['--level', level];
    expect((await isolde('check', at('skew.edn'), '--contract', contract, ...more)).code).toBe(code);
  });

  it('names the clause of the contract that is broken', async () => {
    const { out } = await isolde(
      'check',
      at('lost.edn'),
      '--json',
      '--contract',
      'vendor:postgres',
      '--level',
      'RR',
    );
    expect(JSON.parse(out).findings[0]).toMatchObject({
      contract: 'postgres:repeatable-read',
      clause: 'forbids lost-update',
    });
    expect(
      (await isolde('check', at('lost.edn'), '--contract', 'vendor:mysql', '--level', 'RR')).code,
    ).not.toBe(1);
  });

  it('does not hold read skew against a contract that speaks of plain reads only, nor call it kept', async () => {
    await writeKvHistory(at('reads.edn'), kv('T1: ax1 ay1 | T2: rx[] ry[1]'), 'jepsen');
    const { code, err } = await isolde(
      'check',
      at('reads.edn'),
      '--contract',
      'vendor:mysql',
      '--level',
      'RR',
    );
    expect(code).toBe(2);
    expect(err).toContain('read-skew was found, which mysql:repeatable-read forbids for plain reads only');
    expect((await isolde('check', at('reads.edn'), '--contract', 'adya:PL-2+')).code).toBe(1);
    expect((await isolde('check', at('skew.edn'), '--contract', 'adya:PL-2+')).code).toBe(0);
  });

  it('recognises workloads, names what is wrong, and takes their options', async () => {
    const read = (index: number, balances: string): string =>
      `{:type :ok, :f :read, :process 1, :index ${index}, :value {${balances}}}`;
    const transfer = '{:type :ok, :f :transfer, :process 0, :value {:from 0, :to 1, :amount 3}, :index 1}';
    await writeFile(at('bank.edn'), [transfer, read(2, '0 7, 1 3'), read(3, '0 7, 1 3'), ''].join('\n'));
    expect(await isolde('check', at('bank.edn'))).toMatchObject({ code: 0, out: `${at('bank.edn')}\ttrue` });
    const asked = await isolde('check', at('bank.edn'), '--workload', 'bank', '--total', '11', '--explain');
    expect(asked.code).toBe(1);
    expect(asked.out).toContain('wrong-total, proved');
    expect(asked.out).toContain('op 2: the balances sum to 10 and not to 11.');
    await writeFile(at('drain.edn'), '{:type :ok, :f :drain, :process 0, :value 3}\n');
    const skipped = await isolde('check', at('drain.edn'));
    expect({ code: skipped.code, out: skipped.out }).toEqual({ code: 2, out: `${at('drain.edn')}\tunknown` });
    expect(skipped.err).toContain('were skipped: 1 drain');
  });

  it('ends with 2 for an SQL history that ends in the middle of a line', async () => {
    const whole = await readFile(at('sql.history.jsonl'));
    await writeFile(at('cut.history.jsonl'), Buffer.concat([whole, Buffer.from('{"index":1,"sess')]));
    const { code, err } = await isolde('check', at('cut.history.jsonl'));
    expect(code).toBe(2);
    expect(err).toContain('ends in the middle of an entry');
  });

  it.each([
    [['--workload', 'casino'], 'there is no workload "casino"; there are bank, set'],
    [['--workload', 'bank', '--level', 'SI'], '--workload says what is demanded'],
    [['--workload', 'bank', '--total', 'much'], '--total takes a number, not "much"'],
    [['--level', 'chaos'], 'unknown level "chaos"'],
    [['--format', 'csv'], 'there is no format "csv"; there are isolde, jepsen'],
    [['--contract', 'vendor:dbase'], 'there are no contracts of "vendor:dbase"; there are those of'],
    [
      ['--contract', 'vendor:postgres'],
      'postgres has several contracts; add --level, or name one: postgres:',
    ],
    [['--anomalies', 'G17'], 'there is no anomaly "G17"; there are G0'],
  ])('refuses %j and says what would be accepted', async (args, message) => {
    const { code, err } = await isolde('check', at('good.edn'), ...args);
    expect(code).toBe(3);
    expect(err).toContain(message);
  });
});

describe('isolde convert', () => {
  it('writes another format, given by the name or by --to', async () => {
    const { code, out, err } = await isolde('convert', at('lost.edn'), at('lost.jsonl.gz'));
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain('lost.jsonl.gz: 3 transactions, 5 operations as elle-json');
    expect((await readAnyHistory(at('lost.jsonl.gz'))).format).toBe('elle-json');
    await isolde('convert', at('lost.jsonl.gz'), at('lost.out'), '--from', 'elle-json', '--to', 'isolde');
    expect((await readAnyHistory(at('lost.out'))).format).toBe('isolde');
    expect((await isolde('check', at('lost.out'))).code).toBe(1);
  });

  it('says what is missing, and so does what it writes', async () => {
    const sql = await readFile(at('sql.history.jsonl'));
    const awdit = Buffer.from('w 1 345\n=====\nr 1 345\n-----\nw 2 12');
    await writeFile(at('half.history.jsonl'), Buffer.concat([sql, Buffer.from('{"index":1,"sess')]));
    await writeFile(at('half.txt'), awdit);
    for (const [from, to, why] of [
      ['half.history.jsonl', 'half2.history.jsonl', 'ends in the middle of an entry'],
      ['half.txt', 'half3.history.jsonl', 'the last line has no line break'],
      ['half.txt', 'half4.edn', 'the last line has no line break'],
    ] as const) {
      const { code, err } = await isolde('convert', at(from), at(to));
      expect(code).toBe(0);
      expect(err).toContain(why);
      expect((await isolde('check', at(to))).code).toBe(2);
    }
    const { out } = await isolde('convert', at('half.txt'), at('half5.jsonl'), '--json');
    expect((JSON.parse(out) as { omitted: unknown[] }).omitted).toHaveLength(1);
  });

  it.each([
    [['good.edn', 'x.txt'], 'tells no format; add --to isolde or --to jepsen'],
    [
      ['good.edn', 'x.edn', '--to', 'plume'],
      '"plume" cannot be written; there are isolde, jepsen, elle-json',
    ],
    [['sql.history.jsonl', 'x.edn'], 'a history of SQL statements can only be written as isolde'],
    [['cut.edn', 'x.edn'], 'cut.edn:1: the file ends'],
    [['good.edn', 'no/such/folder/x.edn'], 'cannot write'],
  ])('refuses %j', async ([from, to, ...more], message) => {
    const { code, err } = await isolde('convert', at(from!), at(to!), ...more);
    expect(code).toBe(3);
    expect(err).toContain(message);
  });
});
