/**
 * Programs for bursts. Each is one short transaction, sent thousands of times by many sessions, and a fact about the results that
 * every engine must keep which forbids a certain anomaly.
 *
 * | program | every transaction | the fact | asked of |
 * |---|---|---|---|
 * | `increments` | adds 1 to one row | the row counts the transactions that committed | who forbids lost updates of expressions |
 * | `transfers` | moves 1 from one row to another | every sum read is the initial one | whose plain reads see one state |
 * | `skew` | takes from or adds to one of two rows if their sum allows it | a sum of 0 or 1 | who forbids write skew |
 * | `absent` | inserts a number if it is not there | no number twice | who forbids G2 |
 * | `keys` | inserts a key that others insert, too | each key at most once, and the rows that were acknowledged | everybody |
 * | `pairs`, `numbers` | conflict nearly always | see `dense-programs.ts` | |
 * | `drawn`, `upserts`, `merges`, `deletes`, `ensured`, `locked` | statements of many kinds | see `ledger-programs.ts` | |
 */
import type { Operation } from '../../histories/index.js';
import {
  type BurstProgram,
  begun,
  effects,
  endsOf,
  forbidding,
  kept,
  numberOf,
  reads,
  unreadable,
} from './burst-program.js';
import { numbers, pairs } from './dense-programs.js';
import { ledgerPrograms } from './ledger-programs.js';

const increments: BurstProgram = {
  name: 'increments',
  fact: 'the counter counts every UPDATE that was committed, once',
  clause: forbidding('lost-update-expression'),
  setup: ['CREATE TABLE c (id INT PRIMARY KEY, v INT)', 'INSERT INTO c VALUES (1, 0), (2, 0)'],
  transaction: ({ repeat }) => {
    const update = 'UPDATE c SET v = v + 1 WHERE id = 1';
    return repeat % 2 === 0 ? [update] : ['BEGIN', update, 'COMMIT'];
  },
  parts: begun,
  final: ['SELECT v FROM c WHERE id = 1'],
  judge: ({ history, final }) => {
    const v = numberOf(final?.[0]?.[0]?.[0]);
    if (v === undefined) return unreadable();
    const { least, most } = effects(history);
    if (v >= least && v <= most) return kept;
    const difference = v < least ? least - v : v - most;
    return { kind: 'broken', text: `${difference} ${v < least ? 'lost' : 'counted twice'}` };
  },
};

/** The single numbers that queries returned; undefined: one of them is none. What several statements in one text return is not theirs. */
function sumsOf(answers: readonly Operation[]): readonly number[] | undefined {
  const alone = answers.filter(({ sql = '' }) => !sql.includes(';'));
  const sums = alone.map(({ rows }) => numberOf(rows?.[0]?.[0]));
  return sums.includes(undefined) ? undefined : (sums as number[]);
}

const total = 200;

const transfers: BurstProgram = {
  name: 'transfers',
  fact: `every sum of the two rows is ${total}`,
  clause: ({ mechanism }) =>
    mechanism === undefined || mechanism.pivot === 'uncommitted' || mechanism.readsLockBriefly === true
      ? undefined
      : `pivot ${mechanism.pivot}`,
  setup: [
    'CREATE TABLE a (id INT PRIMARY KEY, v INT)',
    `INSERT INTO a VALUES (1, ${total / 2}), (2, ${total / 2})`,
  ],
  transaction: ({ session, repeat }) => {
    const sum = 'SELECT SUM(v) FROM a';
    if ((session + repeat) % 3 === 0) return [sum];
    const [first, second] = (session + repeat) % 2 === 0 ? ['-', '+'] : ['+', '-'];
    // Always the same row first: some engines need a second to see a deadlock.
    return [
      'BEGIN',
      `UPDATE a SET v = v ${first} 1 WHERE id = 1`,
      `UPDATE a SET v = v ${second} 1 WHERE id = 2`,
      'COMMIT',
    ];
  },
  parts: reads,
  final: ['SELECT SUM(v) FROM a'],
  judge: ({ history, final }) => {
    if (final === undefined) return unreadable();
    // One half of a transfer was refused and the other one committed: the program's own doing.
    const ends = endsOf(history);
    const halved = history.operations.some(
      ({ kind, outcome, transaction }) =>
        kind === 'update' && outcome !== 'ok' && ends.get(transaction) !== 'rollback',
    );
    if (halved)
      return { kind: 'unknown', text: 'a transfer was committed after one of its UPDATEs had failed' };
    const sums = sumsOf(
      history.operations.filter(({ kind, outcome }) => kind === 'select' && outcome === 'ok'),
    );
    if (sums === undefined) return unreadable();
    return sums.every((sum) => sum === total) ? kept : { kind: 'broken', text: 'another sum was read' };
  },
};

const skew: BurstProgram = {
  name: 'skew',
  fact: 'the sum of the two rows is 0 or 1',
  clause: forbidding('write-skew'),
  setup: [
    'CREATE TABLE a (id INT PRIMARY KEY, v INT)',
    'CREATE TABLE b (id INT PRIMARY KEY, v INT)',
    'INSERT INTO a VALUES (1, 1)',
    'INSERT INTO b VALUES (1, 0)',
  ],
  transaction: ({ session, repeat }) => {
    const [one, other] = (session + repeat) % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    const sum = `v + (SELECT v FROM ${other} WHERE id = 1)`;
    // Sessions change direction together, so that two of them want the same sum to change by different rows.
    const [change, condition] = Math.floor(repeat / 2) % 2 === 0 ? ['- 1', '> 0'] : ['+ 1', '< 1'];
    return [
      'BEGIN',
      'SELECT a.v + b.v FROM a, b',
      `UPDATE ${one} SET v = v ${change} WHERE id = 1 AND ${sum} ${condition}`,
      'COMMIT',
    ];
  },
  parts: reads,
  final: ['SELECT a.v + b.v FROM a, b'],
  judge: ({ history, final }) => {
    if (final === undefined) return unreadable();
    const ends = endsOf(history);
    // What a transaction read counts once it has committed.
    const sums = sumsOf(
      history.operations.filter(
        ({ kind, outcome, transaction }) =>
          kind === 'select' && outcome === 'ok' && ends.get(transaction) === 'commit',
      ),
    );
    if (sums === undefined) return unreadable();
    const wrong = sums.find((sum) => sum !== 0 && sum !== 1);
    return wrong === undefined ? kept : { kind: 'broken', text: `a sum of ${wrong}` };
  },
};

const absent: BurstProgram = {
  name: 'absent',
  fact: 'no number was inserted twice',
  clause: forbidding('G2'),
  setup: ['CREATE TABLE g (n INT, s INT)', 'CREATE INDEX g_n ON g (n)'],
  transaction: ({ session, repeat, oneRow }) => [
    'BEGIN',
    `INSERT INTO g (n, s) SELECT ${repeat}, ${session}${oneRow} WHERE NOT EXISTS (SELECT 1 FROM g WHERE n = ${repeat})`,
    'COMMIT',
  ],
  parts: begun,
  final: ['SELECT n, COUNT(*) FROM g GROUP BY n HAVING COUNT(*) > 1'],
  judge: ({ final }) => {
    if (final === undefined) return unreadable();
    const twice = final[0]!.length;
    return twice === 0 ? kept : { kind: 'broken', text: `${twice} twice` };
  },
};

const keys: BurstProgram = {
  name: 'keys',
  fact: 'each key is there once, and so is every row whose INSERT was committed',
  clause: () => 'declared primary key',
  setup: ['CREATE TABLE u (k INT PRIMARY KEY, s INT)'],
  transaction: ({ session, repeat }) => {
    const insert = `INSERT INTO u VALUES (${repeat}, ${session})`;
    return repeat % 2 === 0 ? [insert] : ['BEGIN', insert, 'COMMIT'];
  },
  parts: begun,
  final: ['SELECT COUNT(*), COUNT(DISTINCT k) FROM u'],
  judge: ({ history, final }) => {
    const [rows, distinct] = (final?.[0]?.[0] ?? []).map(numberOf);
    if (rows === undefined || distinct === undefined) return unreadable();
    const { least, most } = effects(history);
    if (rows !== distinct) return { kind: 'broken', text: `${rows - distinct} keys twice` };
    if (rows >= least && rows <= most) return kept;
    return {
      kind: 'broken',
      text: rows < least ? `${least - rows} rows missing` : `${rows - most} rows too many`,
    };
  },
};

export const burstPrograms: readonly BurstProgram[] = [
  pairs,
  increments,
  numbers,
  transfers,
  skew,
  absent,
  keys,
  ...ledgerPrograms,
];
