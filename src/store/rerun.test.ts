import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check, type JudgedHistory, oracleNamed } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import type { History, Operation } from '../histories/index.js';
import { probeCases } from '../probe/index.js';
import { findBug, findGraphBug } from '../report/found-bug.case.js';
import { type Bug, homeUrl, makeBug, sameAnswers } from '../report/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import { judgeRun } from './judge-run.js';
import { printJunit } from './junit.js';
import { rerunBug } from './rerun.js';

let duckdb: Target;
let faulty: Target;
let scratch: Scratch;
let real: Bug;
let injected: Bug;

const caseOf = (id: string) => probeCases.find((each) => each.id === id)!;

beforeAll(async () => {
  duckdb = await openTarget('duckdb:');
  faulty = await openTarget('duckdb:?fault=missed-own-write');
  scratch = await duckdb.createScratch();
  real = await findBug({
    target: duckdb,
    scratch,
    scheduled: caseOf('lost-update-deleted-row'),
    kind: 'update-of-changed-row',
  });
  injected = await findBug({
    target: faulty,
    scratch: await faulty.createScratch(),
    scheduled: caseOf('own-write'),
  });
});
afterAll(async () => {
  await duckdb.close();
  await faulty.close();
});

describe('rerunBug', () => {
  it('calls a bug alive that shows again, and says how often', async () => {
    expect(await rerunBug(real, duckdb, { runs: 4 })).toMatchObject({ outcome: 'alive', shown: 4, runs: 4 });
    expect(await rerunBug(injected, faulty)).toMatchObject({ outcome: 'alive', shown: 3, runs: 3 });
  });

  it('calls a bug alive that is not isolation, though its signature is made in another way', async () => {
    const { finding, history, case: program, schedule, reproduced, firstSeen: at } = injected;
    const found = { case: program, schedule, finding, history, reproduced, at };
    const bug = makeBug({ ...found, notIsolation: true });
    expect(bug.signature).not.toBe(injected.signature);
    expect(await rerunBug(bug, faulty)).toMatchObject({ outcome: 'alive', shown: 3, runs: 3 });
    expect(await rerunBug(bug, duckdb)).toMatchObject({ outcome: 'fixed' });
  });

  it('calls a bug fixed when every answer keeps the contract', async () => {
    expect(await rerunBug(injected, duckdb)).toMatchObject({ outcome: 'fixed', shown: 0, runs: 3 });
  });

  it('calls a bug changed when another violation shows instead', async () => {
    const other = await openTarget('duckdb:?fault=dirty-read');
    try {
      const dirty = await findBug({
        target: other,
        scratch: await other.createScratch(),
        scheduled: caseOf('G1a'),
      });
      const { history } = dirty;
      const judged = { ...check(history, dirty.finding.contract), history };
      expect(judgeRun(judged, dirty).outcome).toBe('alive');
      const disguised: Bug = { ...dirty, history: injected.history, finding: injected.finding };
      expect(judgeRun(judged, disguised)).toMatchObject({ outcome: 'changed' });
    } finally {
      await other.close();
    }
  });

  it('calls a bug changed when a statement fails for another reason', async () => {
    const moved: Bug = {
      ...real,
      case: {
        ...real.case,
        setup: real.case.setup.map((sql) => sql.replace('value INT', 'val INT').replace('value)', 'val)')),
      },
    };
    const result = await rerunBug(moved, duckdb, { runs: 1 });
    expect(result.outcome).toBe('changed');
    expect(result.why).toContain('value');
  });

  it('is fixed where every answer is as before but the oracle finds nothing any more', () => {
    const kept = {
      ...check(real.history, real.finding.contract),
      findings: [],
      valid: true,
      history: real.history,
    };
    expect(sameAnswers(real, kept.history)).toBe(true);
    expect(judgeRun(kept, real)).toMatchObject({ outcome: 'fixed' });
  });

  it('is neither alive nor fixed where the oracle can no longer judge everything', () => {
    const open = {
      ...check(real.history, real.finding.contract),
      ...({ findings: [], valid: 'unknown', unknownReasons: ['1 read not judged: no key'] } as const),
      history: real.history,
    };
    expect(judgeRun(open, real)).toMatchObject({
      outcome: 'changed',
      why: expect.stringContaining('1 read not judged'),
    });
  });

  describe('where a statement is refused', () => {
    const refusal = { class: 'duplicate-key', message: 'the key 1 is taken' } as const;
    const refusing = (history: History, error: Operation['error'] = refusal): History => ({
      ...history,
      operations: history.operations.map((operation) =>
        operation.kind === 'update' ? { ...operation, outcome: 'error', error } : operation,
      ),
    });
    const judged = (valid: true | 'unknown', error?: Operation['error']) => ({
      ...check(real.history, real.finding.contract),
      ...{ findings: [], valid, unknownReasons: valid === true ? [] : ['1 read not judged: no key'] },
      history: refusing(real.history, error),
    });

    it('is fixed, and the refusal is the reason', () => {
      expect(judgeRun(judged(true), real)).toMatchObject({
        outcome: 'fixed',
        why: expect.stringContaining('duplicate-key: the key 1 is taken'),
      });
    });

    it('is not fixed where not everything was judged', () => {
      expect(judgeRun(judged('unknown'), real)).toMatchObject({
        outcome: 'changed',
        why: expect.stringContaining('1 read not judged'),
      });
    });

    it('gives no refusal as reason that was there when the bug was confirmed', () => {
      const bug: Bug = { ...real, history: refusing(real.history) };
      expect(judgeRun(judged(true), bug)).toEqual({
        outcome: 'fixed',
        why: 'every answer keeps the contract',
      });
      expect(judgeRun(judged('unknown'), bug).outcome).toBe('changed');
    });

    it('has not changed because of a statement that failed before, too', () => {
      const data = { class: 'data', message: 'out of range' } as const;
      expect(judgeRun(judged(true, data), real).outcome).toBe('changed');
      const bug: Bug = { ...real, history: refusing(real.history, data) };
      expect(judgeRun(judged(true, data), bug).outcome).toBe('fixed');
    });
  });

  it('is not run where nobody can judge it', async () => {
    const unheardOf: Bug = { ...real, finding: { ...real.finding, contract: 'atlantis:snapshot' } };
    expect(await rerunBug(unheardOf, duckdb)).toMatchObject({
      outcome: 'not-run',
      why: expect.stringContaining('atlantis:snapshot'),
    });
  });

  it('does not run what cannot run there, and says why', async () => {
    const sqlite = await openTarget('sqlite:');
    try {
      expect(await rerunBug(real, sqlite)).toMatchObject({
        outcome: 'not-run',
        why: expect.stringContaining('duckdb'),
      });
    } finally {
      await sqlite.close();
    }
    expect(await rerunBug({ ...real, level: 'serializable' }, duckdb)).toMatchObject({
      outcome: 'not-run',
      why: 'duckdb has no level serializable',
    });
    const broken = { ...real, case: { ...real.case, setup: ['CREATE TABEL t (id INT)'] } };
    expect(await rerunBug(broken, duckdb)).toMatchObject({
      outcome: 'not-run',
      why: expect.stringContaining('TABEL'),
    });
  });
});

describe('a bug that only an instrumented run shows', () => {
  it('is alive where its cycle is there again, whatever numbers the answers hold', async () => {
    const bug = await findGraphBug(duckdb, caseOf('write-skew'), { contract: 'adya:PL-3' });
    expect(bug.finding).toMatchObject({ oracle: 'dependency-graph', kind: 'write-skew' });
    // Other answers than those on file: only the dependencies can say that it is the same bug.
    const operations = bug.history.operations.map((operation) =>
      operation.rows === undefined ? operation : { ...operation, rows: [[4711]] },
    );
    const other: Bug = { ...bug, history: { ...bug.history, operations } };
    expect(await rerunBug(other, duckdb, { runs: 2 })).toMatchObject({
      outcome: 'alive',
      shown: 2,
      runs: 2,
      why: expect.stringContaining('skew'),
    });
  });

  it('is fixed where the engine keeps the promise, though it answers without an error', async () => {
    const broken = await openTarget('duckdb:?fault=dirty-read');
    try {
      const bug = await findGraphBug(broken, caseOf('G1a'), { contract: 'duckdb:snapshot' });
      expect(bug.finding.oracle).toBe('dependency-graph');
      expect(await rerunBug(bug, broken)).toMatchObject({ outcome: 'alive', shown: 3 });
      expect(await rerunBug(bug, duckdb)).toMatchObject({
        outcome: 'fixed',
        shown: 0,
        why: 'every answer keeps the contract',
      });
    } finally {
      await broken.close();
    }
  });

  it('has changed where another dependency is broken instead', async () => {
    const [dirty, keeps] = await Promise.all([
      openTarget('duckdb:?fault=dirty-read'),
      openTarget('duckdb:?fault=commit-on-rollback'),
    ]);
    try {
      const bug = await findGraphBug(dirty, caseOf('G1a'), { contract: 'duckdb:snapshot' });
      expect(await rerunBug(bug, keeps)).toMatchObject({
        outcome: 'changed',
        shown: 0,
        why: expect.stringContaining('another violation'),
      });
    } finally {
      await dirty.close();
      await keeps.close();
    }
  });
});

describe('a bug of the server itself', () => {
  const crash = { class: 'crash', message: 'server closed the connection unexpectedly' } as const;
  const context = {
    contract: findContract('duckdb:snapshot')!,
    target: { name: 'duckdb', dialect: 'duckdb' },
  } as const;
  const server = (): Bug => ({
    ...real,
    finding: {
      ...real.finding,
      kind: 'server-crash',
      oracle: 'server',
      clause: 'the server answers every statement',
    },
  });

  it('is alive when the server goes away again, under whichever statement, and fixed when it answers', () => {
    const operations = real.history.operations.map((operation, i) =>
      i === 3 ? { ...operation, outcome: 'unknown' as const, error: crash } : operation,
    );
    const judged = (history: History) =>
      judgeRun(oracleNamed('server').judge!(history, undefined, context) as JudgedHistory, server());
    expect(judged({ ...real.history, operations })).toMatchObject({
      outcome: 'alive',
      why: expect.stringContaining('the server crashed'),
    });
    expect(judged(real.history).outcome).toBe('fixed');
  });
});

describe('homeUrl', () => {
  it('leads to the engine a bug was found on, faults included', () => {
    expect(homeUrl(real)).toBe('duckdb:');
    expect(homeUrl(injected)).toBe('duckdb:?fault=missed-own-write');
    expect(homeUrl({ target: { name: 'cockroach', version: '23' } })).toBeUndefined();
  });

  it('lets no setting of a stranger’s bug become a parameter', () => {
    const evil = {
      name: 'duckdb',
      version: '1',
      settings: { fault: 'x&package=/tmp/evil', journal_mode: 'wal&a=b' },
    };
    expect(homeUrl({ target: evil })).toBe('duckdb:?fault=x%26package%3D%2Ftmp%2Fevil');
    expect(homeUrl({ target: { ...evil, name: 'sqlite', settings: { journal_mode: 'wal&a=b' } } })).toBe(
      'sqlite:',
    );
  });
});

describe('printJunit', () => {
  it('counts outcomes and keeps data out of the markup', () => {
    const nasty = {
      ...makeBug({ ...real, at: '2026-01-01T00:00:00.000Z' }),
      title: '"><failure/>\u0000\u001b[2J & <b>',
    };
    const xml = printJunit('isolde "bugs"', [
      { bug: nasty, result: { outcome: 'alive', why: '</failure> ]]>', shown: 2, runs: 3 }, seconds: 0.5 },
      { bug: nasty, result: { outcome: 'fixed', why: '', shown: 0, runs: 3 }, seconds: 0.25 },
      { bug: nasty, result: { outcome: 'changed', why: 'other', shown: 0, runs: 3 }, seconds: 0.25 },
      { bug: nasty, result: { outcome: 'not-run', why: 'no level', shown: 0, runs: 0 }, seconds: 0 },
    ]);
    expect(xml).toContain(
      '<testsuite name="isolde &quot;bugs&quot;" tests="4" failures="1" errors="1" skipped="1" time="1.000">',
    );
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml.match(/<error /g)).toHaveLength(1);
    expect(xml.match(/<skipped /g)).toHaveLength(1);
    expect(xml.match(/<\/?[a-z?]+/g)!.filter((tag) => tag === '<testcase')).toHaveLength(4);
    expect(xml).not.toMatch(/<b>|<failure\/>/);
    expect(xml.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
