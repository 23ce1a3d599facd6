import { describe, expect, it } from 'vitest';
import { parseScript, printScript, scheduleProblem } from '../../cases/index.js';
import { type Candidate, candidateOf } from '../candidate.js';
import type { TrialOracle } from '../trial.js';
import { Trials } from '../trials.js';
import { pieces } from './drop-rows.js';
import { type Pass, type PassContext, type Passes, passes, runPasses } from './index.js';
import { weakerStatements } from './weaken-statements.js';

const context: PassContext = {
  dialect: 'postgres',
  levels: ['read committed', 'repeatable read', 'serializable'],
  level: undefined,
};

function candidate(text: string): Candidate {
  return candidateOf(parseScript(text, { file: 'test.sql', dialect: 'postgres' }));
}

/** Simplifies as long as the predicate over the printed script holds; checks that every proposal is a valid case. */
async function simplify(
  text: string,
  shows: (script: string, given: Candidate) => boolean,
  only?: string,
): Promise<string> {
  const oracle: TrialOracle = {
    lanes: 1,
    run: async (given) => {
      expect(scheduleProblem(given.case, given.schedule)).toBeUndefined();
      return { verdict: shows(printScript(given), given) ? 'same' : 'none' };
    },
  };
  const trials = new Trials(candidate(text), { oracle });
  const just = (some: readonly Pass[]) => some.filter(({ name }) => only === undefined || name === only);
  const chosen: Passes = {
    removals: just(passes.removals),
    structural: just(passes.structural),
    cosmetic: just(passes.cosmetic),
  };
  expect(Object.values(chosen).flat()).not.toEqual([]);
  await runPasses(chosen, trials, context);
  return printScript(trials.best)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('--'))
    .join('\n');
}

const twoSessions = `
CREATE TABLE accounts (account_id INT PRIMARY KEY, balance INT NOT NULL, note VARCHAR(100));
CREATE INDEX by_balance ON accounts (balance);
CREATE TABLE log (entry INT);
INSERT INTO log VALUES (1);
INSERT INTO accounts VALUES (1, 1000, 'first'), (2, 2000, 'second'), (3, 3000, 'third');
reader: BEGIN;
reader: SELECT account_id, balance FROM accounts WHERE balance > 10 AND account_id = 1 ORDER BY balance LIMIT 3 FOR UPDATE;
writer: BEGIN;
writer: UPDATE accounts SET balance = 4711, note = 'x' WHERE account_id = 1;
writer: COMMIT;
reader: SELECT balance FROM accounts;
reader: COMMIT;`;

describe('rows that the program inserts', () => {
  const placed = `
CREATE TABLE t (a INT, b INT);
A: INSERT INTO t VALUES (1, 10);
B: BEGIN;
B: INSERT INTO t VALUES (2, 20);
B: UPDATE t SET b = 21 WHERE a = 2;
B: COMMIT;
A: SELECT * FROM t;`;

  it('stand in the set-up where it does not matter who inserted them', async () => {
    const shows = (script: string) =>
      /VALUES \(1, 10\)[\s\S]*UPDATE[\s\S]*SELECT/.test(script) && script.includes('(2, 20)');
    expect(await simplify(placed, shows, 'insert first')).toBe(
      [
        'CREATE TABLE t (a INT, b INT);',
        'INSERT INTO t VALUES (1, 10);',
        'INSERT INTO t VALUES (2, 20);',
        'B: BEGIN;',
        'B: UPDATE t SET b = 21 WHERE a = 2;',
        'B: COMMIT;',
        'A: SELECT * FROM t;',
      ].join('\n'),
    );
  });

  it('stay where it does', async () => {
    const shows = (script: string) => /B: INSERT[\s\S]*UPDATE/.test(script) && /A: INSERT/.test(script);
    expect(await simplify(placed, shows, 'insert first')).toBe(placed.trim());
  });
});

describe('passes together', () => {
  it('leave what a person would write, when only the shape matters', async () => {
    // A statement that names a column which is not there would fail.
    const shows = (script: string) =>
      script.includes(`${/SET (\w+)/.exec(script)?.[1]} INT`) &&
      /SELECT[^;]*FROM (accounts|t)[\s\S]*UPDATE (accounts|t) SET[\s\S]*SELECT[^;]*FROM (accounts|t)/.test(
        script,
      ) &&
      /CREATE TABLE (accounts|t)/.test(script) &&
      /INSERT INTO (accounts|t)/.test(script);
    expect(await simplify(twoSessions, shows)).toBe(
      [
        'CREATE TABLE t (a INT);',
        'INSERT INTO t VALUES (0);',
        'T1: SELECT * FROM t;',
        'T1: UPDATE t SET a = 0;',
        'T1: SELECT * FROM t;',
      ].join('\n'),
    );
  });

  it('change nothing that may not change', async () => {
    const original = printScript(candidate(twoSessions));
    const kept = await simplify(twoSessions, (script) => script === original);
    expect(kept.split('\n')).toHaveLength(12);
  });
});

describe('each pass', () => {
  it('merges sessions whose transactions take turns, and no others', async () => {
    const turns = 'A: BEGIN;\nA: OP 1;\nA: COMMIT;\nB: OP 2;\nC: BEGIN;\nC: OP 3;\nB: OP 4;\nC: COMMIT;';
    expect(
      await simplify(turns, (script) => /1[\s\S]*2[\s\S]*3[\s\S]*4/.test(script), 'merge sessions'),
    ).toBe('A: BEGIN;\nA: OP 1;\nA: COMMIT;\nA: OP 2;\nC: BEGIN;\nC: OP 3;\nA: OP 4;\nC: COMMIT;');
  });

  it('drops whole transactions', async () => {
    const text = 'A: BEGIN;\nA: OP 1;\nA: OP 2;\nA: COMMIT;\nB: BEGIN;\nB: OP 3;\nB: OP 4;\nB: COMMIT;';
    expect(await simplify(text, (script) => script.includes('OP 4'), 'drop transactions')).toBe(
      'B: BEGIN;\nB: OP 3;\nB: OP 4;\nB: COMMIT;',
    );
  });

  it('drops operations, the BEGIN and COMMIT around them, and a last COMMIT', async () => {
    const text = 'A: BEGIN;\nA: OP 1;\nA: OP 2;\nA: COMMIT;\nB: BEGIN;\nB: OP 3;\nB: COMMIT;';
    const shows = (script: string) => script.includes('B: BEGIN') && /OP 2[\s\S]*OP 3/.test(script);
    expect(await simplify(text, shows, 'drop operations')).toBe('A: OP 2;\nB: BEGIN;\nB: OP 3;');
  });

  it('sends the statements of batches one at a time, in the order that works', async () => {
    const text = 'A: OP 1;\n| B: OP 2;\nA: OP 3;\n| B: OP 4;';
    const order = (script: string) => script.indexOf('OP 2') < script.indexOf('OP 1');
    const shows = (script: string) => (script.includes('|') === false ? order(script) : true);
    expect(await simplify(text, shows, 'one statement at a time')).toBe(
      'B: OP 2;\nA: OP 1;\nB: OP 4;\nA: OP 3;',
    );
  });

  it('drops rows of set-up INSERTs', async () => {
    const rows = Array.from({ length: 100 }, (_, i) => `(${i}, ${i * 7})`).join(', ');
    const text = `CREATE TABLE t (a INT, b INT);\nINSERT INTO t VALUES ${rows};\nA: SELECT * FROM t;`;
    const shows = (script: string) => script.includes('(37, 259)') && script.includes('(93, 651)');
    expect(await simplify(text, shows, 'drop rows')).toContain('INSERT INTO t VALUES (37, 259), (93, 651);');
  });

  it('drops rows that stand in many INSERTs as fast as rows of one', async () => {
    const inserts = Array.from({ length: 64 }, (_, i) => `INSERT INTO t VALUES (${i}, 'x');\n`).join('');
    let trials = 0;
    const shows = (script: string) => {
      trials++;
      return script.includes("(37, 'x')");
    };
    const text = `CREATE TABLE t (a INT, b TEXT);\n${inserts}A: SELECT * FROM t;`;
    expect(await simplify(text, shows, 'drop rows')).toBe(
      "CREATE TABLE t (a INT, b TEXT);\nINSERT INTO t VALUES (37, 'x');\nA: SELECT * FROM t;",
    );
    expect(trials).toBeLessThan(20);
  });

  it('makes all statements bare in one trial where nothing speaks against it', async () => {
    let trials = 0;
    const shows = () => {
      trials++;
      return true;
    };
    const text = `CREATE TABLE t (a INT, b INT);
A: SELECT a FROM t WHERE b = 1 ORDER BY a LIMIT 2 FOR UPDATE;
B: UPDATE t SET a = 1 WHERE b = 2 AND a = 3;
B: DELETE FROM t WHERE b BETWEEN 1 AND 2;`;
    expect(await simplify(text, shows, 'weaken statements')).toBe(`CREATE TABLE t (a INT, b INT);
A: SELECT * FROM t;
B: UPDATE t SET a = 1;
B: DELETE FROM t;`);
    expect(trials).toBeLessThanOrEqual(3);
  });

  it('does not try to drop a table that is still named', async () => {
    const tried: string[] = [];
    const text =
      'CREATE TABLE t (a INT);\nCREATE TABLE u (a INT);\nINSERT INTO u VALUES (1);\nA: SELECT * FROM t;';
    await simplify(
      text,
      (script) => {
        tried.push(script);
        return false;
      },
      'drop tables and indexes',
    );
    expect(tried.length).toBeGreaterThan(0);
    for (const script of tried) {
      expect(script).toContain('CREATE TABLE t');
      expect(script.includes('INSERT INTO u')).toBe(
        script.includes('CREATE TABLE u') && script.includes('INSERT'),
      );
    }
  });

  it('drops all columns that no statement names at once', async () => {
    const columns = Array.from({ length: 12 }, (_, i) => `c${i} INT`).join(', ');
    let trials = 0;
    const shows = (script: string) => {
      trials++;
      return script.includes('c3 INT');
    };
    const text = `CREATE TABLE t (id INT, ${columns});\nA: UPDATE t SET c3 = 1;\nB: SELECT * FROM t;`;
    expect(await simplify(text, shows, 'drop columns')).toContain('CREATE TABLE t (c3 INT);');
    expect(trials).toBeLessThanOrEqual(4);
  });

  it('drops tables with everything that names them, and indexes', async () => {
    const kept = await simplify(
      twoSessions,
      (script) => /TABLE accounts/.test(script),
      'drop tables and indexes',
    );
    expect(kept).not.toContain('log');
    expect(kept).not.toContain('INDEX');
    expect(kept).toContain('CREATE TABLE accounts');
  });

  it('drops columns wherever they are named', async () => {
    const shows = (script: string) => /balance INT/.test(script) && /account_id = 1/.test(script);
    const kept = await simplify(twoSessions, shows, 'drop columns');
    expect(kept).not.toContain('note');
    expect(kept).toContain('INSERT INTO accounts VALUES (1, 1000), (2, 2000), (3, 3000);');
    expect(kept).toContain('UPDATE accounts SET balance = 4711 WHERE account_id = 1;');
  });

  it('makes values small and keeps equal ones equal', async () => {
    const text =
      'CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1034), (77);\nA: SELECT * FROM t WHERE a = 1034;';
    const shows = (script: string) => {
      const [one, two, three] = [...script.matchAll(/\d+/g)].map(Number);
      return one === three && one! > two!;
    };
    expect(await simplify(text, shows, 'small values')).toContain(
      'INSERT INTO t VALUES (1), (0);\nA: SELECT * FROM t WHERE a = 1;',
    );
  });

  it('lowers the level as far as the finding stays', async () => {
    const text = '-- level: serializable\nA: OP 1;';
    const levels: (string | undefined)[] = [];
    await simplify(
      text,
      (_, given) => {
        levels.push(given.case.level);
        return given.case.level !== 'read committed';
      },
      'lower level',
    );
    expect(levels).toEqual(['read committed', 'repeatable read']);
  });

  it('gives plain names to tables, columns and sessions', async () => {
    const kept = await simplify(twoSessions, () => true, 'plain names');
    expect(kept).toContain('CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c VARCHAR(100));');
    expect(kept).toContain('T2: UPDATE t SET b = 4711');
    expect(kept).not.toMatch(/accounts|reader|writer/);
  });
});

describe('weaker statements', () => {
  it.each([
    [
      'SELECT a, b FROM t WHERE a = 1 AND b > 2 ORDER BY a LIMIT 1 FOR UPDATE',
      [
        'SELECT a, b FROM t WHERE a = 1 AND b > 2 LIMIT 1 FOR UPDATE',
        'SELECT a, b FROM t WHERE a = 1 AND b > 2 ORDER BY a FOR UPDATE',
        'SELECT a, b FROM t WHERE a = 1 AND b > 2 ORDER BY a LIMIT 1',
        'SELECT * FROM t WHERE a = 1 AND b > 2 ORDER BY a LIMIT 1 FOR UPDATE',
        'SELECT a FROM t WHERE a = 1 AND b > 2 ORDER BY a LIMIT 1 FOR UPDATE',
        'SELECT a, b FROM t ORDER BY a LIMIT 1 FOR UPDATE',
        'SELECT a, b FROM t WHERE a = 1 ORDER BY a LIMIT 1 FOR UPDATE',
        'SELECT a, b FROM t WHERE b > 2 ORDER BY a LIMIT 1 FOR UPDATE',
      ],
    ],
    ['SELECT t.a FROM t JOIN u ON t.a = u.a', ['SELECT t.a FROM t', 'SELECT t.a FROM u']],
    [
      'UPDATE t SET a = a + 1, b = 2 WHERE a IN (SELECT a FROM u)',
      [
        'UPDATE t SET a = a + 1 WHERE a IN (SELECT a FROM u)',
        'UPDATE t SET a = a + 1, b = 2',
        'UPDATE t SET a = a + 1, b = 2 WHERE a = 1',
        'UPDATE t SET a = 1, b = 2 WHERE a IN (SELECT a FROM u)',
      ],
    ],
    [
      'DELETE FROM t WHERE a BETWEEN 1 AND 5 OR b = (SELECT MAX(b) FROM u)',
      [
        'DELETE FROM t WHERE a BETWEEN 1 AND 5',
        'DELETE FROM t WHERE b = (SELECT MAX(b) FROM u)',
        'DELETE FROM t WHERE a BETWEEN 1 AND 5 OR b = 1',
        'DELETE FROM t WHERE a = 1 OR b = (SELECT MAX(b) FROM u)',
      ],
    ],
    ['WITH c AS (SELECT a FROM u) SELECT * FROM t', ['SELECT * FROM t']],
  ])('of %s include dropping and replacing its parts', (sql, expected) => {
    const weaker = weakerStatements(sql, 'postgres').map((text) => text.toLowerCase());
    expect(weaker).toEqual(expect.arrayContaining(expected.map((text) => text.toLowerCase())));
    expect(weaker).not.toContain(sql.toLowerCase());
  });

  it('of what is not parsed are none', () => {
    expect(weakerStatements('VACUUM FULL', 'postgres')).toEqual([]);
  });
});

describe('pieces of a list', () => {
  it('are the whole, then halves, down to single places', () => {
    expect(pieces(4)).toEqual([
      [0, 4],
      [2, 4],
      [0, 2],
      [3, 4],
      [2, 3],
      [1, 2],
      [0, 1],
    ]);
    expect(pieces(0)).toEqual([]);
  });
});
