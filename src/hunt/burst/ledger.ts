/**
 * A ledger: what the answers of a burst say about one table of keys and numbers, compared with the rows that are there at the end.
 *
 * | statement | entry |
 * |---|---|
 * | `add`: UPDATE … SET v = v + 1, `upsert`, `merge` | the key's number grows by 1 |
 * | `insert` | the key is there once more |
 * | `ensure`: INSERT … DO NOTHING, `absent`: INSERT … WHERE NOT EXISTS | once more, if the server counted a row |
 * | `delete` | once less, if the server counted a row |
 * | `lock`: SELECT … FOR UPDATE | none; the number it read is judged |
 *
 * 1. No key is there twice: it is declared.
 * 2. A key's number is what was added to it, and a key is there as often as it was inserted and not deleted, by what was
 *    acknowledged. Neither depends on the order or on what a statement saw: a writer that waited looks at the newest row, at other levels
 *    it fails, and a statement that passed a row by has said so by its count. It needs only that no two writers replace one version of a row.
 * 3. A key that nobody deleted is there if a transaction that made sure of it was committed: what it found instead was committed, too.
 * 4. Transactions that lock a row, read its number and add to it read different numbers: the lock is held until they end.
 *
 * What was not acknowledged may or may not count, and where a server does not count rows (or is sent a whole transaction at once) a statement
 * may or may not have found one. A key has entries of numbers or of rows, never of both.
 */
import type { Feature } from '../../generate/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { Dialect, Value } from '../../sql/index.js';
import { type BurstOutcome, endsOf, kept, numberOf } from './burst-program.js';

export interface LedgerStatement {
  readonly needs?: Feature;
  /** `oneRow`: what stands before the WHERE of a query that reads no table. */
  readonly sql: (key: number, dialect: Dialect, oneRow: string) => string;
  /** Finds such statements in a text; the first group is the key. */
  readonly found: RegExp;
  /** What it adds to: the key's number, or how often the key is there. */
  readonly to?: 'number' | 'rows';
  readonly by?: 1 | -1;
  /** It may find nothing to do, which only its count tells. */
  readonly mayDoNothing?: true;
}

const values = (key: number, v: number) => `INTO led (k, v) VALUES (${key}, ${v})`;

export const ledgerStatements = {
  add: {
    sql: (key) => `UPDATE led SET v = v + 1 WHERE k = ${key}`,
    found: /UPDATE led SET v = v \+ 1 WHERE k = (\d+)/g,
    ...{ to: 'number', by: 1 },
  },
  upsert: {
    needs: 'statement.upsert',
    sql: (key, dialect) =>
      `INSERT ${values(key, 1)} ${dialect === 'mysql' ? 'ON DUPLICATE KEY UPDATE v = v + 1' : 'ON CONFLICT (k) DO UPDATE SET v = led.v + 1'}`,
    found: /INSERT INTO led \(k, v\) VALUES \((\d+), 1\)/g,
    ...{ to: 'number', by: 1 },
  },
  merge: {
    needs: 'statement.merge',
    sql: (key) =>
      `MERGE INTO led USING (SELECT ${key} AS k) AS s ON led.k = s.k WHEN MATCHED THEN UPDATE SET v = led.v + 1 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 1)`,
    found: /MERGE INTO led USING \(SELECT (\d+) AS k\)/g,
    ...{ to: 'number', by: 1 },
  },
  insert: {
    sql: (key) => `INSERT ${values(key, 0)}`,
    found: /INSERT INTO led \(k, v\) VALUES \((\d+), 0\)(?! ON)/g,
    ...{ to: 'rows', by: 1 },
  },
  ensure: {
    needs: 'statement.upsert',
    sql: (key, dialect) =>
      dialect === 'mysql'
        ? `INSERT IGNORE ${values(key, 0)}`
        : `INSERT ${values(key, 0)} ON CONFLICT (k) DO NOTHING`,
    found:
      /INSERT (?:INTO led \(k, v\) VALUES \((?=\d+, 0\) ON)|IGNORE INTO led \(k, v\) VALUES \()(\d+), 0\)/g,
    ...{ to: 'rows', by: 1, mayDoNothing: true },
  },
  absent: {
    sql: (key, _, oneRow) =>
      `INSERT INTO led (k, v) SELECT ${key}, 0${oneRow} WHERE NOT EXISTS (SELECT 1 FROM led WHERE k = ${key})`,
    found: /INSERT INTO led \(k, v\) SELECT (\d+), 0/g,
    ...{ to: 'rows', by: 1, mayDoNothing: true },
  },
  delete: {
    sql: (key) => `DELETE FROM led WHERE k = ${key}`,
    found: /DELETE FROM led WHERE k = (\d+)/g,
    ...{ to: 'rows', by: -1, mayDoNothing: true },
  },
  lock: {
    needs: 'lock.update',
    sql: (key) => `SELECT v FROM led WHERE k = ${key} FOR UPDATE`,
    found: /SELECT v FROM led WHERE k = (\d+) FOR UPDATE/g,
  },
} as const satisfies Readonly<Record<string, LedgerStatement>>;

export type LedgerKind = keyof typeof ledgerStatements;

/** The rows before the burst: keys and numbers. */
export const ledgerRows: readonly (readonly [key: number, v: number])[] = [
  [1, 0],
  [2, 0],
  [11, 0],
];

export const ledgerSetup: readonly string[] = [
  'CREATE TABLE led (k INT PRIMARY KEY, v INT)',
  `INSERT INTO led VALUES ${ledgerRows.map(([key, v]) => `(${key}, ${v})`).join(', ')}`,
];

interface Entry {
  readonly kind: LedgerKind;
  readonly key: number;
}

/** The statements of the ledger that an operation is made of. */
function entriesOf(sql: string): readonly Entry[] {
  return Object.entries(ledgerStatements).flatMap(([kind, { found }]) =>
    [...sql.matchAll(found)].map(([, key]) => ({ kind: kind as LedgerKind, key: Number(key) })),
  );
}

/** What was sent, with the body of a procedure in place of its call. */
function sentText({ sql = '' }: Operation, { setup = [] }: History['header']): string {
  const [, name] = /^CALL (\w+)\(\)$/.exec(sql) ?? [];
  if (name === undefined) return sql;
  return setup.find((each) => /^CREATE\b/.test(each) && each.includes(` ${name}()`)) ?? '';
}

interface Range {
  least: number;
  most: number;
}

interface Account {
  readonly number: Range;
  readonly rows: Range;
  /** Somebody made sure of it, and that was committed. */
  ensured: boolean;
  /** A DELETE may have found it. */
  deleted: boolean;
}

class Accounts {
  readonly of = new Map<number, Account>();

  constructor() {
    for (const [key, v] of ledgerRows) {
      const account = this.at(key);
      account.rows.least = account.rows.most = 1;
      account.number.least = account.number.most = v;
    }
  }

  at(key: number): Account {
    const known = this.of.get(key);
    if (known !== undefined) return known;
    const account: Account = {
      ...{ number: { least: 0, most: 0 }, rows: { least: 0, most: 0 } },
      ...{ ensured: false, deleted: false },
    };
    this.of.set(key, account);
    return account;
  }

  /** `count`: the rows that the server counted, if it did. */
  enter({ kind, key }: Entry, isSure: boolean, count: number | undefined): void {
    const statement: LedgerStatement = ledgerStatements[kind];
    if (statement.to === undefined) return;
    const account = this.at(key);
    const done: Range =
      statement.mayDoNothing !== true
        ? { least: 1, most: 1 }
        : count === undefined
          ? { least: 0, most: 1 }
          : { least: count, most: count };
    const least = isSure ? done.least : 0;
    const range = account[statement.to];
    if (statement.by === -1) {
      range.least -= done.most;
      range.most -= least;
      account.deleted ||= done.most > 0;
    } else {
      range.least += least;
      range.most += done.most;
      if (statement.to === 'rows') account.ensured ||= isSure;
    }
  }
}

/** Judges a run by the rows of the table at its end. */
export function judgeLedger(history: History, rows: readonly (readonly Value[])[]): BurstOutcome | undefined {
  const final = new Map<number, number>();
  let twice = 0;
  for (const row of rows) {
    const [key, v] = row.map(numberOf);
    if (key === undefined || v === undefined) return undefined;
    if (final.has(key)) twice++;
    final.set(key, v);
  }
  if (twice > 0) return { kind: 'broken', text: `${twice} keys twice` };
  const accounts = accountsOf(history);
  for (const key of final.keys()) accounts.at(key);
  const wrong = [...accounts.of].flatMap(([key, account]) => whatIsWrong(account, final.get(key)) ?? []);
  const counts = new Map<string, number>();
  for (const text of wrong) counts.set(text, (counts.get(text) ?? 0) + 1);
  if (readTwiceUnderLock(history)) counts.set('number read twice under a lock', 1);
  if (counts.size === 0) return kept;
  const said = [...counts].map(([text, count]) => `${count} ${text}`);
  return { kind: 'broken', text: said.join(', ') };
}

function whatIsWrong({ number, rows, ensured, deleted }: Account, v: number | undefined): string | undefined {
  const reached = v ?? 0;
  if (reached < number.least) return 'numbers too small';
  if (reached > number.most) return 'numbers too large';
  // What adds to a number inserts the key where it has to.
  if (number.most > 0) return undefined;
  const there = v === undefined ? 0 : 1;
  if (there < rows.least || (there === 0 && ensured && !deleted)) return 'keys missing';
  return there > rows.most ? 'keys too many' : undefined;
}

function accountsOf(history: History): Accounts {
  const accounts = new Accounts();
  const ends = endsOf(history);
  for (const op of history.operations) {
    const end = ends.get(op.transaction);
    if (op.outcome === 'error' || end === 'rollback') continue;
    const sure = op.outcome === 'ok' && end === 'commit';
    const sent = sentText(op, history.header);
    // What the server counted of several statements in one request is nobody's.
    const isAlone = sent === op.sql && !sent.includes(';');
    for (const entry of entriesOf(sent))
      accounts.enter(entry, sure, isAlone ? (op.changed ?? op.matched) : undefined);
  }
  return accounts;
}

/** Whether two committed transactions read the same number of a row that each had locked and then added to. */
function readTwiceUnderLock(history: History): boolean {
  const ends = endsOf(history);
  const read = new Map<string, number>();
  const seen = new Set<string>();
  let again = false;
  for (const { transaction, outcome, sql = '', rows } of history.operations) {
    const entries = entriesOf(sql);
    const [entry] = entries;
    if (entry === undefined || entries.length > 1 || ends.get(transaction) !== 'commit') continue;
    const place = `${transaction}/${entry.key}`;
    const value = read.get(place);
    if (entry.kind === 'lock') {
      const answer = numberOf(rows?.[0]?.[0]);
      // Its own additions would be read, too: only the first read of a transaction that has not added yet.
      if (outcome === 'ok' && answer !== undefined && value === undefined) read.set(place, answer);
    } else if (entry.kind === 'add' && outcome === 'ok' && value !== undefined) {
      const number = `${entry.key}=${value}`;
      again ||= seen.has(number);
      seen.add(number);
      read.set(place, Number.NaN);
    } else read.set(place, Number.NaN);
  }
  return again;
}
