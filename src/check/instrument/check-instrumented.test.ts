import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { explain } from '../explain.js';
import type { Instrumented } from './index.js';
import { checkInstrumented } from './index.js';
import { sourcesOf } from './marks.js';
import { type Answers, answered, instrumentScript, type Step } from './scripted-answers.case.js';

const two = `CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);\n`;
/** Initial lists of both rows; row 1 is `s2.1`, row 2 `s2.2`. */
const [x0, y0] = [
  [10, 's2.1', ';0'],
  [20, 's2.2', ';0'],
] as const;

function kinds(instrumented: Instrumented, answers: Answers, contract: string): string[] {
  const result = checkInstrumented(answered(instrumented, answers), instrumented, {
    contract: findContract(contract)!,
  });
  return result.findings.map(({ kind, clause }) => `${kind}: ${clause}`);
}

const at = (who: string, rows?: Step['rows'], count?: number): Step => ({
  who,
  ...(rows === undefined ? {} : { rows }),
  ...(count === undefined ? {} : { count }),
});

describe('single reads', () => {
  const script = instrumentScript(`${two}
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1
    T1: UPDATE t SET v = 12 WHERE id = 1
    T2: SELECT v FROM t WHERE id = 1
    T1: ROLLBACK`);
  const story = (list: string, ending: Step[] = [at('T1')]): Answers => ({
    steps: [
      at('T1'),
      at('T1', undefined, 1),
      at('T1', undefined, 1),
      at('T2', [[12, 's2.1', list]]),
      ...ending,
    ],
  });

  it('of a rolled-back write are G1a, and allowed where uncommitted data may be read', () => {
    expect(kinds(script, story(';0;1.1;1.2'), 'postgres:read-committed')).toEqual(['G1a: forbids G1a']);
    expect(kinds(script, story(';0;1.1;1.2'), 'mariadb:read-uncommitted')).toEqual([]);
    expect(kinds(script, story(';0'), 'postgres:read-committed')).toEqual([]);
  });

  it('of a write that its writer replaced are G1b', () => {
    const committing = instrumentScript(`${two}
      T1: BEGIN
      T1: UPDATE t SET v = 11 WHERE id = 1
      T1: UPDATE t SET v = 12 WHERE id = 1
      T2: SELECT v FROM t WHERE id = 1
      T1: COMMIT`);
    const after = [[[1, 12, 's2.1', ';0;1.1;1.2']]];
    const answers = { ...story(';0;1.1'), before: [[]], after };
    expect(kinds(committing, answers, 'adya:PL-2')).toEqual(['G1b: forbids G1b']);
    const whole = { ...story(';0;1.1;1.2'), before: [[]], after };
    expect(kinds(committing, whole, 'adya:PL-2')).toEqual([]);
  });

  it('name what is judged first, then what contradicts it, and what would have been right', () => {
    const [finding] = checkInstrumented(answered(script, story(';0;1.1;1.2')), script, {
      contract: findContract('postgres:read-committed')!,
    }).findings;
    expect(finding!.operations.map(({ text }) => text)).toEqual([
      'SELECT v FROM t WHERE id = 1 → (12);',
      'UPDATE t SET v = 11 WHERE id = 1;',
    ]);
    expect(finding!.versions![0]).toMatchObject({ seen: { text: ';0;1.1;1.2' }, allowed: [{ text: ';0' }] });
    // The argument quotes the transactions as a whole.
    expect(explain(finding!)).toContain('UPDATE t SET v = 12 WHERE id = 1; ROLLBACK;');
  });

  it('of what nobody wrote are garbage, of one write twice duplicate', () => {
    for (const list of ['', ';0;9.9', 'x', ';1.1', ';0;0']) {
      expect(kinds(script, story(list), 'adya:PL-1'), list).toEqual([
        'garbage-read: rows hold what was written to them',
      ]);
    }
    const committing = instrumentScript(`${two}
      T1: UPDATE t SET v = 11 WHERE id = 1
      T2: SELECT v FROM t WHERE id = 1`);
    const steps = [at('T1', undefined, 1), at('T2', [[11, 's2.1', ';0;1.1;1.1']])];
    expect(kinds(committing, { steps }, 'adya:PL-1')).toEqual([
      'duplicate-write: rows hold what was written to them',
    ]);
  });

  it('in a final state that holds what was rolled back break every contract', () => {
    const answers = {
      ...story(';0'),
      before: [[]],
      after: [
        [
          [1, 12, 's2.1', ';0;1.1;1.2'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    expect(kinds(script, answers, 'mariadb:read-uncommitted')).toEqual(['G1a: what is rolled back is gone']);
  });
});

describe('own writes', () => {
  const script = instrumentScript(`${two}
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1
    T1: SELECT v FROM t WHERE id = 1
    T1: COMMIT`);
  const answers = (list: string): Answers => ({
    steps: [at('T1'), at('T1', undefined, 1), at('T1', [[10, 's2.1', list]]), at('T1')],
    before: [[]],
    after: [[[1, 11, 's2.1', ';0;1.1']]],
  });

  it('must be seen', () => {
    expect(kinds(script, answers(';0'), 'duckdb:snapshot')).toEqual(['internal: forbids own-write-missed']);
    expect(kinds(script, answers(';0;1.1'), 'duckdb:snapshot')).toEqual([]);
  });

  it('that were committed and are nowhere at the end are lost', () => {
    const lost = { ...answers(';0;1.1'), after: [[[1, 10, 's2.1', ';0']]] };
    expect(kinds(script, lost, 'adya:PL-1')).toEqual(['lost-write: what is committed stays']);
    const [finding] = checkInstrumented(answered(script, lost), script, {
      contract: findContract('adya:PL-1')!,
    }).findings;
    expect(finding!.operations.map(({ text }) => text)).toEqual(['UPDATE t SET v = 11 WHERE id = 1;']);
    expect(finding!.versions![0]).toMatchObject({ seen: { text: ';0' }, allowed: [{ text: ';0;1.1' }] });
    const gone = {
      steps: [at('T1'), at('T1', undefined, 2), at('T1', []), at('T1')],
      before: [[]],
      after: [[]],
    };
    expect(kinds(script, gone, 'adya:PL-1')).toEqual(['lost-write: what is committed stays']);
  });

  it('may be deleted unnamed when the DELETE takes more rows than its companion saw', () => {
    const deleting = instrumentScript(
      `${two}
      T1: BEGIN
      T1: DELETE FROM t
      T2: INSERT INTO t VALUES (3, 30)
      T1: COMMIT`,
      'mysql',
      { returning: false },
    );
    const story = (deleted: number): Answers => ({
      steps: [
        at('T1'),
        at('T1', [
          ['s2.1', ';0'],
          ['s2.2', ';0'],
        ]),
        at('T2', undefined, 1),
        at('T1', undefined, deleted),
        at('T1'),
      ],
      before: [
        [
          [1, 10, 's2.1', ';0'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
      after: [[]],
    });
    expect(kinds(deleting, story(3), 'mariadb:read-committed')).toEqual([]);
    expect(kinds(deleting, story(2), 'mariadb:read-committed')).toEqual([
      'lost-write: what is committed stays',
    ]);
  });

  it('undone by ROLLBACK TO must not be seen by others', () => {
    const partial = instrumentScript(`${two}
      T1: BEGIN
      T1: SAVEPOINT a
      T1: UPDATE t SET v = 11 WHERE id = 1
      T1: ROLLBACK TO a
      T1: COMMIT
      T2: SELECT v FROM t WHERE id = 1`);
    const steps = [at('T1'), at('T1'), at('T1', undefined, 1), at('T1'), at('T1')];
    const read = (list: string): Answers => ({ steps: [...steps, at('T2', [[11, 's2.1', list]])] });
    expect(kinds(partial, read(';0;1.2'), 'adya:PL-2')).toEqual(['G1a: forbids G1a']);
    expect(kinds(partial, read(';0'), 'adya:PL-2')).toEqual([]);
  });
});

describe('two successors of one version', () => {
  it('are an incompatible order', () => {
    const script = instrumentScript(`${two}
      T1: UPDATE t SET v = v + 1 WHERE id = 1
      T3: SELECT v FROM t WHERE id = 1
      T2: UPDATE t SET v = v + 1 WHERE id = 1
      T3: SELECT v FROM t WHERE id = 1`);
    const answers = {
      steps: [
        at('T1', undefined, 1),
        at('T3', [[11, 's2.1', ';0;1.1']]),
        at('T2', undefined, 1),
        at('T3', [[11, 's2.1', ';0;4.1']]),
      ],
    };
    expect(kinds(script, answers, 'adya:PL-2')).toEqual([]);
    expect(kinds(script, answers, 'postgres:read-committed')).toContain(
      'incompatible-order: forbids lost-update-expression',
    );
  });

  it('may be a write and a delete, and then the write is lost', () => {
    const script = instrumentScript(`${two}
      T1: DELETE FROM t WHERE id = 1
      T2: UPDATE t SET v = 55 WHERE id = 1`);
    const steps = [at('T1', [['s2.1', ';0']]), at('T2', undefined, 1)];
    const answers = { steps, before: [[]], after: [[[2, 20, 's2.2', ';0']]] };
    expect(kinds(script, answers, 'duckdb:snapshot')).toEqual(['lost-write: what is committed stays']);
  });
});

describe('the locking-read exemption (IsoRel §3.4, Figure 5)', () => {
  const script = instrumentScript(
    `${two}
    T1: BEGIN
    T1: SELECT v FROM t WHERE id = 1
    T2: UPDATE t SET v = 11 WHERE id = 1
    T1: SELECT v FROM t WHERE id = 1 FOR UPDATE
    T1: COMMIT`,
    'mysql',
  );
  const steps = [
    at('T1'),
    at('T1', [x0]),
    at('T2', undefined, 1),
    at('T1', [[11, 's2.1', ';0;2.1']]),
    at('T1'),
  ];

  it('holds where locking reads see current rows, and in theory', () => {
    expect(kinds(script, { steps }, 'mariadb:repeatable-read')).toEqual([]);
    expect(kinds(script, { steps }, 'adya:PL-2.99')).toEqual([]);
  });

  it('does not hold where they see the snapshot, or where the level is serializable', () => {
    expect(kinds(script, { steps }, 'postgres:repeatable-read')).toEqual(['G-single: forbids G-single']);
    expect(kinds(script, { steps }, 'mariadb:serializable')).toEqual(['G-single: forbids G2']);
  });

  it('is no excuse for plain reads', () => {
    const plain = instrumentScript(`${two}
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1
      T2: UPDATE t SET v = 11 WHERE id = 1
      T1: SELECT v FROM t WHERE id = 1
      T1: COMMIT`);
    expect(kinds(plain, { steps }, 'mariadb:repeatable-read')).toEqual(['G-single: forbids read-skew']);
    expect(kinds(plain, { steps }, 'mariadb:read-committed')).toEqual([]);
  });
});

describe('snapshots', () => {
  const script = instrumentScript(`${two}
    T1: BEGIN
    T1: SELECT v FROM t WHERE id = 1
    T2: BEGIN
    T2: UPDATE t SET v = 11 WHERE id = 1
    T2: UPDATE t SET v = 21 WHERE id = 2
    T2: COMMIT
    T1: SELECT v FROM t WHERE id = 2
    T1: COMMIT`);
  const write = [at('T2'), at('T2', undefined, 1), at('T2', undefined, 1), at('T2')];
  const after = [
    [
      [1, 11, 's2.1', ';0;2.1'],
      [2, 21, 's2.2', ';0;2.2'],
    ],
  ];

  it('of statements may differ, but must not go back: observed transactions vanish', () => {
    const skew = {
      steps: [at('T1'), at('T1', [x0]), ...write, at('T1', [[21, 's2.2', ';0;2.2']]), at('T1')],
      before: [[]],
      after,
    };
    expect(kinds(script, skew, 'postgres:read-committed')).toEqual([]);
    expect(kinds(script, skew, 'postgres:repeatable-read')).toEqual(['read-skew: forbids G-single']);
    const first = instrumentScript(`${two}
      T2: BEGIN
      T2: UPDATE t SET v = 11 WHERE id = 1
      T2: UPDATE t SET v = 21 WHERE id = 2
      T1: BEGIN
      T2: COMMIT
      T1: SELECT v FROM t WHERE id = 2
      T1: SELECT v FROM t WHERE id = 1
      T1: COMMIT`);
    const back = [
      ...write.slice(0, 3),
      at('T1'),
      at('T2'),
      at('T1', [[21, 's2.2', ';0;1.2']]),
      at('T1', [x0]),
      at('T1'),
    ];
    const vanished = {
      steps: back,
      before: [[]],
      after: [
        [
          [1, 11, 's2.1', ';0;1.1'],
          [2, 21, 's2.2', ';0;1.2'],
        ],
      ],
    };
    expect(kinds(first, vanished, 'postgres:read-committed')).toEqual([
      'read-skew: forbids OTV',
      'G-single-realtime: pivot statement',
    ]);
    expect(kinds(first, vanished, 'adya:PL-2')).toEqual([]);
  });

  it('are not older than their pivot', () => {
    const late = instrumentScript(`${two}
      T2: UPDATE t SET v = 11 WHERE id = 1
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1
      T1: COMMIT`);
    const steps = [at('T2', undefined, 1), at('T1'), at('T1', [x0]), at('T1')];
    const answers = {
      steps,
      before: [[]],
      after: [
        [
          [1, 11, 's2.1', ';0;1.1'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    expect(kinds(late, answers, 'postgres:serializable')).toEqual([
      'G-single-realtime: pivot first-statement',
    ]);
    expect(kinds(late, answers, 'adya:PL-3')).toEqual([]);
  });
});

describe('searches', () => {
  const script = instrumentScript(`${two}
    T1: BEGIN
    T1: SELECT COUNT(*) FROM t WHERE v > 5
    T2: BEGIN
    T2: SELECT COUNT(*) FROM t WHERE v > 5
    T1: INSERT INTO t VALUES (3, 30)
    T2: INSERT INTO t VALUES (4, 40)
    T1: COMMIT
    T2: COMMIT`);
  const both = 's2.1=;0!,s2.2=;0!';
  const steps = [at('T1'), at('T1', [[2, both]]), at('T2'), at('T2', [[2, both]])];
  const ends = [at('T1', undefined, 1), at('T2', undefined, 1), at('T1'), at('T2')];
  const state = [
    [1, 10, 's2.1', ';0'],
    [2, 20, 's2.2', ';0'],
    [3, 30, '1.2.1', ';1.2'],
    [4, 40, '2.2.1', ';2.2'],
  ];
  const matching = state.map((row) => row.slice(2));

  it('that miss each other’s rows are G2, which is no matter of items', () => {
    const answers = { steps: [...steps, ...ends], before: [[], []], after: [state, matching] };
    expect(kinds(script, answers, 'postgres:serializable')).toEqual(['G2: forbids G2']);
    expect(kinds(script, answers, 'adya:PL-2.99')).toEqual([]);
    expect(kinds(script, answers, 'postgres:repeatable-read')).toEqual([]);
  });

  it('say nothing where the row does not match, or the database cut the list', () => {
    const other = { steps: [...steps, ...ends], before: [[], []], after: [state, matching.slice(0, 3)] };
    expect(kinds(script, other, 'postgres:serializable')).toEqual([]);
    const cut = [at('T1'), at('T1', [[2, 's2.1=;0!,s2.2=;']]), at('T2'), at('T2', [[2, both]]), ...ends];
    const result = checkInstrumented(
      answered(script, { steps: cut, before: [[], []], after: [state, matching] }),
      script,
      { contract: findContract('postgres:serializable')! },
    );
    expect(result.valid).toBe('unknown');
    expect(result.notes.join()).toContain('cut off 1');
  });

  it('that no longer find a row saw its delete', () => {
    const deleted = instrumentScript(`${two}
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 2
      T2: BEGIN
      T2: UPDATE t SET v = 21 WHERE id = 2
      T2: DELETE FROM t WHERE id = 1
      T2: COMMIT
      T1: SELECT v FROM t WHERE id = 1
      T1: COMMIT`);
    const answers = {
      steps: [
        at('T1'),
        at('T1', [y0]),
        at('T2'),
        at('T2', undefined, 1),
        at('T2', [['s2.1', ';0']]),
        at('T2'),
        at('T1', []),
        at('T1'),
      ],
      before: [[], [['s2.2', ';0']], [['s2.1', ';0']]],
      after: [[[2, 21, 's2.2', ';0;2.1']], [['s2.2', ';0;2.1']], []],
    };
    expect(kinds(deleted, answers, 'mariadb:repeatable-read')).toEqual(['read-skew: forbids read-skew']);
  });
});

describe('reads inside writes', () => {
  const tables = `${two}CREATE TABLE u (k INT PRIMARY KEY, n INT); INSERT INTO u VALUES (1, 0), (2, 0);\n`;
  const skew = `${tables}
    T1: BEGIN
    T1: UPDATE u SET n = (SELECT v FROM t WHERE id = 1) WHERE k = 1
    T2: BEGIN
    T2: UPDATE u SET n = 1 WHERE k = 2 AND EXISTS (SELECT 1 FROM t WHERE id = 2)
    T1: UPDATE t SET v = 0 WHERE id = 2
    T2: UPDATE t SET v = 0 WHERE id = 1
    T1: COMMIT
    T2: COMMIT`;
  const steps = [
    at('T1'),
    at('T1', undefined, 1),
    at('T2'),
    at('T2', undefined, 1),
    at('T1', undefined, 1),
    at('T2', undefined, 1),
    at('T1'),
    at('T2'),
  ];
  const t = [
    [1, 0, 's2.1', ';0;2.2'],
    [2, 0, 's2.2', ';0;1.2'],
  ];
  const u = (first: string, second: string) => [
    [1, 10, first, 's4.1', ';0;1.1'],
    [2, 1, second, 's4.2', ';0;2.1'],
  ];

  it('are dependencies like others', () => {
    const answers = (first: string, second: string): Answers => ({
      steps,
      before: [[], []],
      after: [t, u(first, second)],
    });
    const script = instrumentScript(skew);
    expect(kinds(script, answers('|1.1:s2.1=;0!', '|2.1:s2.2=;0!'), 'adya:PL-2.99')).toEqual([
      'write-skew: forbids G2-item',
    ]);
    expect(kinds(script, answers('|1.1:s2.1=;0!', ''), 'adya:PL-2.99')).toEqual([]);
    // What T2 read, it then wrote over, and the older note of another write stays readable.
    expect(kinds(script, answers('|9.9:x=;0!|1.1:s2.1=;0!', '|2.1:s2.2=;0!'), 'adya:PL-2.99')).toEqual([
      'write-skew: forbids G2-item',
    ]);
  });

  it('that the database cut off are no garbage, and leave the verdict open', () => {
    const script = instrumentScript(skew);
    const answers = { steps, before: [[], []], after: [t, u('|1.1:s2.1=;0!,s2.2=', '|2.1:s2.2=;0!')] };
    const { findings, valid, notes } = checkInstrumented(answered(script, answers), script, {
      contract: findContract('postgres:repeatable-read')!,
    });
    expect(findings).toEqual([]);
    expect(valid).toBe('unknown');
    expect(notes.join()).toContain('cut off 1');
  });

  it('of a write that takes no row are not seen, and the verdict says so', () => {
    const script = instrumentScript(`${tables}
      T1: UPDATE u SET n = (SELECT v FROM t WHERE id = 1) WHERE k = 7`);
    const answers = { steps: [at('T1', undefined, 0)], before: [[], [], []], after: [[], [], []] };
    const { valid, notes } = checkInstrumented(answered(script, answers), script);
    expect(valid).toBe('unknown');
    expect(notes.join()).toContain('1 writes took no row');
  });

  describe('of current rows, on InnoDB,', () => {
    const script = instrumentScript(
      `${tables}
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1
      T2: UPDATE t SET v = 11 WHERE id = 1
      T1: UPDATE u SET n = (SELECT v FROM t WHERE id = 1) WHERE k = 1
      T1: COMMIT`,
      'mysql',
    );
    const answers = {
      steps: [at('T1'), at('T1', [x0]), at('T2', undefined, 1), at('T1', undefined, 1), at('T1')],
      before: [[], []],
      after: [
        [
          [1, 11, 's2.1', ';0;2.1'],
          [2, 20, 's2.2', ';0'],
        ],
        [
          [1, 11, '|1.2:s2.1=;0;2.1!', 's4.1', ';0;1.2'],
          [2, 0, null, 's4.2', ';0'],
        ],
      ],
    };
    it('are exempt as locking reads are, except at SERIALIZABLE', () => {
      expect(kinds(script, answers, 'mariadb:repeatable-read')).toEqual([]);
      expect(kinds(script, answers, 'adya:PL-2.99')).toEqual([]);
      expect(kinds(script, answers, 'mariadb:serializable')).toEqual(['G-single: forbids G2']);
    });

    it('are no excuse elsewhere', () => {
      const plain = instrumentScript(`${tables}
        T1: BEGIN
        T1: SELECT v FROM t WHERE id = 1
        T2: UPDATE t SET v = 11 WHERE id = 1
        T1: UPDATE u SET n = (SELECT v FROM t WHERE id = 1) WHERE k = 1
        T1: COMMIT`);
      expect(kinds(plain, answers, 'postgres:repeatable-read')).toEqual(['G-single: forbids G-single']);
      expect(kinds(plain, answers, 'adya:PL-2.99')).toEqual(['G-single: forbids G2-item']);
    });
  });

  it('that search miss rows as SELECTs do', () => {
    const script = instrumentScript(`${tables}
      T1: BEGIN
      T1: UPDATE u SET n = (SELECT COUNT(*) FROM t) WHERE k = 1
      T2: BEGIN
      T2: UPDATE t SET v = 0 WHERE v > 25
      T1: INSERT INTO t VALUES (3, 30)
      T2: INSERT INTO t VALUES (4, 40)
      T1: COMMIT
      T2: COMMIT`);
    const rows = [
      [1, 10, 's2.1', ';0'],
      [2, 20, 's2.2', ';0'],
      [3, 30, '1.2.1', ';1.2'],
      [4, 40, '2.2.1', ';2.2'],
    ];
    const noted = [
      [1, 2, '|1.1:s2.1=;0!,s2.2=;0!', 's4.1', ';0;1.1'],
      [2, 0, null, 's4.2', ';0'],
    ];
    const marks = rows.map((row) => row.slice(-2));
    const after = script.observed.map((query, i) =>
      query.type === 'state'
        ? query.table === 't'
          ? rows
          : noted
        : script.observe[i]!.includes('v > 25')
          ? marks.slice(2)
          : script.observe[i]!.includes('k = 1')
            ? [['s4.1', ';0;1.1']]
            : marks,
    );
    const answers = (second: number): Answers => ({
      steps: [
        at('T1'),
        at('T1', undefined, 1),
        at('T2'),
        at('T2', undefined, second),
        at('T1', undefined, 1),
        at('T2', undefined, 1),
        at('T1'),
        at('T2'),
      ],
      before: script.observed.map(() => []),
      after,
    });
    // T1 counted the table without T2's row; T2 looked for rows to update and did not find T1's.
    expect(kinds(script, answers(0), 'postgres:serializable')).toEqual(['G2: forbids G2']);
    // T2 says it updated a row, and no row shows it: that write is lost, and its search proves nothing.
    expect(kinds(script, answers(1), 'postgres:serializable')).toEqual([
      'lost-write: what is committed stays',
    ]);
  });
});

describe('a write', () => {
  const text = `${two}CREATE TABLE u (k INT); INSERT INTO u VALUES (15);
    T1: BEGIN
    T1: UPDATE t SET v = 0 WHERE v < (SELECT MIN(k) FROM u)
    T1: COMMIT`;
  const contract = findContract('postgres:repeatable-read')!;
  const marked = (first: string): NonNullable<Answers['after']> => [
    [
      [1, 0, null, 's2.1', first],
      [2, 20, null, 's2.2', ';0'],
    ],
    [[15, 's4.1', ';0']],
  ];

  it('takes the rows its condition names in the snapshot, no fewer and no more', () => {
    const script = instrumentScript(text, 'postgres', { contract });
    const answers = (matches: string, count: number, list: string): Answers => ({
      steps: [at('T1'), at('T1', [[matches, 's4.1=;0!']]), at('T1', undefined, count), at('T1')],
      before: [[], []],
      after: marked(list),
    });
    const level = 'postgres:repeatable-read';
    expect(kinds(script, answers('s2.1=;0!', 1, ';0;1.1'), level)).toEqual([]);
    expect(kinds(script, answers('s2.1=;0!', 0, ';0'), level)).toEqual([
      'write-missed-row: forbids PMP-write',
    ]);
    const [extra] = checkInstrumented(answered(script, answers('', 1, ';0;1.1')), script, {
      contract,
    }).findings;
    expect(extra!.kind).toBe('write-extra-row');
    expect(explain(extra!)).toContain(
      'T1 wrote t[id=1] although its condition does not hold for it in operation 1 (UPDATE t SET v = 0 WHERE v < (SELECT MIN(k) FROM u)): its condition holds for 0 rows in the snapshot of the transaction, and it wrote 1.',
    );
  });

  it('is not compared where each statement has a snapshot, where LIMIT picks, or where nobody knows', () => {
    const roles = (sql: string, id?: string, dialect: 'postgres' | 'mysql' = 'postgres') => {
      const options = id === undefined ? {} : { contract: findContract(id)! };
      return instrumentScript(sql, dialect, options).plans[0]!.map(
        ({ role, matches }) => `${role}${matches === true ? ' matches' : ''}`,
      );
    };
    expect(roles(text, 'postgres:repeatable-read')[1]).toBe('companion matches');
    expect(roles(text, 'postgres:read-committed')[1]).toBe('statement');
    expect(roles(text)[1]).toBe('statement');
    const picks = text.replace('SELECT MIN(k) FROM u', 'SELECT k FROM u LIMIT 1');
    expect(roles(picks, 'postgres:repeatable-read')[1]).toBe('companion');
    expect(roles(text.replace('BEGIN', 'BEGIN ISOLATION LEVEL READ COMMITTED'), contract.id)[1]).toBe(
      'statement',
    );
    expect(roles(text, 'mariadb:repeatable-read', 'mysql')[1]).toBe('companion');
    expect(roles(text, 'mariadb:read-committed', 'mysql')[1]).toBe('statement');
    expect(roles(text, 'tidb:repeatable-read', 'mysql')[1]).toBe('statement');
  });
});

describe('INSERT … SELECT', () => {
  it('says what it read in the ids of the rows it makes', () => {
    const script = instrumentScript(`${two}
      CREATE TABLE u (id INT, v INT);
      T1: BEGIN
      T1: INSERT INTO u SELECT * FROM t WHERE id = 1
      T2: BEGIN
      T2: INSERT INTO u SELECT * FROM t WHERE id = 2
      T1: UPDATE t SET v = 0 WHERE id = 2
      T2: UPDATE t SET v = 0 WHERE id = 1
      T1: COMMIT
      T2: COMMIT`);
    const one = undefined;
    const steps = [
      at('T1'),
      at('T1', one, 1),
      at('T2'),
      at('T2', one, 1),
      at('T1', one, 1),
      at('T2', one, 1),
      at('T1'),
      at('T2'),
    ];
    const t = [
      [1, 0, 's2.1', ';0;2.2'],
      [2, 0, 's2.2', ';0;1.2'],
    ];
    const u = [
      [1, 10, '1.1(s2.1@;0)', ';1.1'],
      [2, 20, '2.1(s2.2@;0)', ';2.1'],
    ];
    expect(kinds(script, { steps, before: [[], []], after: [t, u] }, 'adya:PL-2.99')).toEqual([
      'write-skew: forbids G2-item',
    ]);
    expect(sourcesOf('5.1(3.2(s2.1@;0)@;3.2+-@)')).toEqual({
      token: '5.1',
      rows: [{ rid: '3.2(s2.1@;0)', list: ';3.2' }],
    });
  });
});

describe('levels', () => {
  it('are judged without a contract, and the strongest that is left is named', () => {
    const script = instrumentScript(`${two}
      T1: BEGIN
      T1: SELECT v FROM t WHERE id = 1
      T2: UPDATE t SET v = 11 WHERE id = 1
      T1: UPDATE t SET v = 12 WHERE id = 1
      T1: COMMIT`);
    const answers = {
      steps: [at('T1'), at('T1', [x0]), at('T2', undefined, 1), at('T1', undefined, 1), at('T1')],
      before: [[]],
      after: [
        [
          [1, 12, 's2.1', ';0;2.1;1.2'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    const history = answered(script, answers);
    const result = checkInstrumented(history, script, { level: 'snapshot' });
    expect(result.findings.map(({ kind }) => kind)).toEqual(['lost-update']);
    expect(result.strongest).not.toContain('snapshot');
    expect(checkInstrumented(history, script, { level: 'read committed' }).valid).toBe(true);
    expect(explain(result.findings[0]!)).toMatchInlineSnapshot(`
      "Let T1 = BEGIN; SELECT v FROM t WHERE id = 1 → (10); UPDATE t SET v = 12 WHERE id = 1; COMMIT;
          T2 = UPDATE t SET v = 11 WHERE id = 1;
      T1 < T2, because T1 read t[id=1] with operation 1 (SELECT v FROM t WHERE id = 1) in the version before T2 wrote it with operation 2 (UPDATE t SET v = 11 WHERE id = 1);
      however, T2 < T1, because T1 wrote t[id=1] with operation 3 (UPDATE t SET v = 12 WHERE id = 1) right after T2 wrote it with operation 2 (UPDATE t SET v = 11 WHERE id = 1): a contradiction."
    `);
    expect(result.findings[0]!.operations.map(({ text }) => text)).toEqual([
      'SELECT v FROM t WHERE id = 1 → (10);',
      'UPDATE t SET v = 11 WHERE id = 1;',
      'UPDATE t SET v = 12 WHERE id = 1;',
    ]);
    const edge = result.findings[0]!.cycle![0]!;
    expect(result.history.operations[edge.fromOperation!]!.sql).toBe('SELECT v FROM t WHERE id = 1');
  });

  it('are unknown, not true, when a part of the case ran unseen', () => {
    const script = instrumentScript(`${two}
      T1: TRUNCATE TABLE t`);
    expect(checkInstrumented(answered(script, { steps: [at('T1')] }), script).valid).toBe('unknown');
  });
});
