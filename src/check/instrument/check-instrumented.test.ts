import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Instrumented } from './index.js';
import { checkInstrumented } from './index.js';
import { sourcesOf } from './marks.js';
import { instrumentScript, type Step, type Told, tell } from './tell.case.js';

const two = `CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 10), (2, 20);\n`;
/** Initial lists of both rows; row 1 is `s2.1`, row 2 `s2.2`. */
const [x0, y0] = [
  [10, 's2.1', ';0'],
  [20, 's2.2', ';0'],
] as const;

function kinds(instrumented: Instrumented, told: Told, contract: string): string[] {
  const result = checkInstrumented(tell(instrumented, told), instrumented, {
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
  const story = (list: string, ending: Step[] = [at('T1')]): Told => ({
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
    const told = { ...story(';0;1.1'), before: [[]], after };
    expect(kinds(committing, told, 'adya:PL-2')).toEqual(['G1b: forbids G1b']);
    const whole = { ...story(';0;1.1;1.2'), before: [[]], after };
    expect(kinds(committing, whole, 'adya:PL-2')).toEqual([]);
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
    const told = {
      ...story(';0'),
      before: [[]],
      after: [
        [
          [1, 12, 's2.1', ';0;1.1;1.2'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    expect(kinds(script, told, 'mariadb:read-uncommitted')).toEqual(['G1a: what is rolled back is gone']);
  });
});

describe('own writes', () => {
  const script = instrumentScript(`${two}
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1
    T1: SELECT v FROM t WHERE id = 1
    T1: COMMIT`);
  const told = (list: string): Told => ({
    steps: [at('T1'), at('T1', undefined, 1), at('T1', [[10, 's2.1', list]]), at('T1')],
    before: [[]],
    after: [[[1, 11, 's2.1', ';0;1.1']]],
  });

  it('must be seen', () => {
    expect(kinds(script, told(';0'), 'duckdb:snapshot')).toEqual(['internal: forbids own-write-missed']);
    expect(kinds(script, told(';0;1.1'), 'duckdb:snapshot')).toEqual([]);
  });

  it('that were committed and are nowhere at the end are lost', () => {
    const lost = { ...told(';0;1.1'), after: [[[1, 10, 's2.1', ';0']]] };
    expect(kinds(script, lost, 'adya:PL-1')).toEqual(['lost-write: what is committed stays']);
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
    const story = (deleted: number): Told => ({
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
    const read = (list: string): Told => ({ steps: [...steps, at('T2', [[11, 's2.1', list]])] });
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
    const told = {
      steps: [
        at('T1', undefined, 1),
        at('T3', [[11, 's2.1', ';0;1.1']]),
        at('T2', undefined, 1),
        at('T3', [[11, 's2.1', ';0;4.1']]),
      ],
    };
    expect(kinds(script, told, 'adya:PL-2')).toEqual([]);
    expect(kinds(script, told, 'postgres:read-committed')).toContain(
      'incompatible-order: forbids lost-update-expression',
    );
  });

  it('may be a write and a delete, and then the write is lost', () => {
    const script = instrumentScript(`${two}
      T1: DELETE FROM t WHERE id = 1
      T2: UPDATE t SET v = 55 WHERE id = 1`);
    const steps = [at('T1', [['s2.1', ';0']]), at('T2', undefined, 1)];
    const told = { steps, before: [[]], after: [[[2, 20, 's2.2', ';0']]] };
    expect(kinds(script, told, 'duckdb:snapshot')).toEqual(['lost-write: what is committed stays']);
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
    const told = {
      steps,
      before: [[]],
      after: [
        [
          [1, 11, 's2.1', ';0;1.1'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    expect(kinds(late, told, 'postgres:serializable')).toEqual(['G-single-realtime: pivot first-statement']);
    expect(kinds(late, told, 'adya:PL-3')).toEqual([]);
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
    const told = { steps: [...steps, ...ends], before: [[], []], after: [state, matching] };
    expect(kinds(script, told, 'postgres:serializable')).toEqual(['G2: forbids G2']);
    expect(kinds(script, told, 'adya:PL-2.99')).toEqual([]);
    expect(kinds(script, told, 'postgres:repeatable-read')).toEqual([]);
  });

  it('say nothing where the row does not match, or the database cut the list', () => {
    const other = { steps: [...steps, ...ends], before: [[], []], after: [state, matching.slice(0, 3)] };
    expect(kinds(script, other, 'postgres:serializable')).toEqual([]);
    const cut = [at('T1'), at('T1', [[2, 's2.1=;0!,s2.2=;']]), at('T2'), at('T2', [[2, both]]), ...ends];
    const result = checkInstrumented(
      tell(script, { steps: cut, before: [[], []], after: [state, matching] }),
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
    const told = {
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
    expect(kinds(deleted, told, 'mariadb:repeatable-read')).toEqual(['read-skew: forbids read-skew']);
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
    const told = {
      steps: [at('T1'), at('T1', [x0]), at('T2', undefined, 1), at('T1', undefined, 1), at('T1')],
      before: [[]],
      after: [
        [
          [1, 12, 's2.1', ';0;2.1;1.2'],
          [2, 20, 's2.2', ';0'],
        ],
      ],
    };
    const history = tell(script, told);
    const result = checkInstrumented(history, script, { level: 'snapshot' });
    expect(result.findings.map(({ kind }) => kind)).toEqual(['lost-update']);
    expect(result.strongest).not.toContain('snapshot');
    expect(checkInstrumented(history, script, { level: 'read committed' }).valid).toBe(true);
    expect(result.findings[0]!.explanation).toMatchInlineSnapshot(`
      "Let T1 = BEGIN; SELECT v FROM t WHERE id = 1 → (10); UPDATE t SET v = 12 WHERE id = 1; COMMIT;
          T2 = UPDATE t SET v = 11 WHERE id = 1;
      T1 < T2, because T1 read t[id=1] (SELECT v FROM t WHERE id = 1) in the version before T2 wrote it (UPDATE t SET v = 11 WHERE id = 1);
      however, T2 < T1, because T1 wrote t[id=1] (UPDATE t SET v = 12 WHERE id = 1) right after T2 wrote it (UPDATE t SET v = 11 WHERE id = 1): a contradiction."
    `);
    const edge = result.findings[0]!.cycle![0]!;
    expect(result.history.operations[edge.fromOperation!]!.sql).toBe('SELECT v FROM t WHERE id = 1');
  });

  it('are unknown, not true, when a part of the case ran unseen', () => {
    const script = instrumentScript(`${two}
      T1: TRUNCATE TABLE t`);
    expect(checkInstrumented(tell(script, { steps: [at('T1')] }), script).valid).toBe('unknown');
  });
});
