/**
 * Programs for bursts: one short transaction, sent thousands of times by many sessions, and a fact about the results that
 * every engine must keep which forbids a certain anomaly. A race inside a statement has no order that could be written down, so
 * nothing is replayed: a run either keeps the fact or breaks it.
 *
 * | program | every transaction | the fact | asked of |
 * |---|---|---|---|
 * | `increments` | adds 1 to one row | the row counts the transactions that committed | who forbids lost updates of expressions |
 * | `transfers` | moves 1 from one row to another | every sum read is the initial one | whose plain reads see one state |
 * | `skew` | takes from or adds to one of two rows if their sum allows it | a sum of 0 or 1 | who forbids write skew |
 * | `absent` | inserts a number if it is not there | no number twice | who forbids G2 |
 * | `keys` | inserts a key that others insert, too | each key at most once, and the rows that were acknowledged | everybody |
 *
 * Statements whose outcome nobody knows (a lost connection) may or may not count.
 */
import type { Contract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { Dialect, Value } from '../../sql/index.js';

export interface BurstProgram {
  readonly name: string;
  /** The fact, for people. */
  readonly fact: string;
  /** The clause of a contract that demands it; undefined: the contract does not. */
  readonly clause: (contract: Contract) => string | undefined;
  readonly setup: readonly string[];
  /** One transaction: the `repeat`-th of a session. */
  readonly transaction: (place: {
    readonly session: number;
    readonly repeat: number;
    readonly dialect: Dialect;
  }) => readonly string[];
  /** Queries that show the state at the end. */
  readonly final: readonly string[];
  readonly judge: (run: BurstRun) => BurstOutcome;
}

/** What happened in one run. */
export interface BurstRun {
  readonly history: History;
  /** Answers to the program's `final` queries; undefined: one of them failed. */
  readonly final: readonly (readonly (readonly Value[])[])[] | undefined;
}

export interface BurstOutcome {
  readonly kind: 'kept' | 'broken' | 'unknown';
  /** Short, and the same for runs that ended in the same way. */
  readonly text: string;
}

const kept: BurstOutcome = { kind: 'kept', text: 'as it must be' };

function unreadable(): BurstOutcome {
  return { kind: 'unknown', text: 'the state at the end could not be read' };
}

/** A number as engines return it (a SUM may be a decimal); undefined: it is none, and nothing follows from it. */
function numberOf(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const text = 'decimal' in value ? value.decimal : 'int' in value ? value.int : '';
  return /^-?\d+(?:\.0*)?$/.test(text) ? Number(text) : undefined;
}

/** The clause that forbids an anomaly, if the contract does. */
const forbidding = (anomaly: Contract['forbids'][number]) => (contract: Contract) =>
  contract.forbids.includes(anomaly) ? `forbids ${anomaly}` : undefined;

/** How each transaction ended. */
function endsOf({ operations }: History): ReadonlyMap<number, Operation['ends']> {
  const ends = new Map<number, Operation['ends']>();
  for (const { transaction, ends: end } of operations) if (end !== undefined) ends.set(transaction, end);
  return ends;
}

/** How many statements of a kind took effect: at least, and at most. */
function effects(
  history: History,
  kind: Operation['kind'],
): { readonly least: number; readonly most: number } {
  const ends = endsOf(history);
  let [least, most] = [0, 0];
  for (const op of history.operations) {
    if (op.kind !== kind || op.outcome === 'error') continue;
    const end = ends.get(op.transaction);
    if (end === 'rollback') continue;
    most++;
    if (op.outcome === 'ok' && end === 'commit') least++;
  }
  return { least, most };
}

const increments: BurstProgram = {
  name: 'increments',
  fact: 'the counter counts every UPDATE that was committed, once',
  clause: forbidding('lost-update-expression'),
  setup: ['CREATE TABLE c (id INT PRIMARY KEY, v INT)', 'INSERT INTO c VALUES (1, 0), (2, 0)'],
  transaction: ({ repeat }) => {
    const update = 'UPDATE c SET v = v + 1 WHERE id = 1';
    return repeat % 2 === 0 ? [update] : ['BEGIN', update, 'COMMIT'];
  },
  final: ['SELECT v FROM c WHERE id = 1'],
  judge: ({ history, final }) => {
    const v = numberOf(final?.[0]?.[0]?.[0]);
    if (v === undefined) return unreadable();
    const { least, most } = effects(history, 'update');
    if (v >= least && v <= most) return kept;
    const difference = v < least ? least - v : v - most;
    return { kind: 'broken', text: `${difference} ${v < least ? 'lost' : 'counted twice'}` };
  },
};

/** The single numbers that queries returned; undefined: one of them is none. */
function sumsOf(reads: readonly Operation[]): readonly number[] | undefined {
  const sums = reads.map(({ rows }) => numberOf(rows?.[0]?.[0]));
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
    const [from, to] = (session + repeat) % 2 === 0 ? [1, 2] : [2, 1];
    return [
      'BEGIN',
      `UPDATE a SET v = v - 1 WHERE id = ${from}`,
      `UPDATE a SET v = v + 1 WHERE id = ${to}`,
      'COMMIT',
    ];
  },
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
  transaction: ({ session, repeat, dialect }) => [
    'BEGIN',
    `INSERT INTO g (n, s) SELECT ${repeat}, ${session}${dialect === 'mysql' ? ' FROM (SELECT 1 AS one) AS d' : ''} WHERE NOT EXISTS (SELECT 1 FROM g WHERE n = ${repeat})`,
    'COMMIT',
  ],
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
  final: ['SELECT COUNT(*), COUNT(DISTINCT k) FROM u'],
  judge: ({ history, final }) => {
    const [rows, distinct] = (final?.[0]?.[0] ?? []).map(numberOf);
    if (rows === undefined || distinct === undefined) return unreadable();
    const { least, most } = effects(history, 'insert');
    if (rows !== distinct) return { kind: 'broken', text: `${rows - distinct} keys twice` };
    if (rows >= least && rows <= most) return kept;
    return {
      kind: 'broken',
      text: rows < least ? `${least - rows} rows missing` : `${rows - most} rows too many`,
    };
  },
};

export const burstPrograms: readonly BurstProgram[] = [increments, transfers, skew, absent, keys];
