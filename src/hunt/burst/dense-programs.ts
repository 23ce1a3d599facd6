/**
 * Programs whose transactions conflict nearly always. A certifier that misses one transaction of a thousand is seen only if that one
 * meets another, so chance is left as little room as possible.
 *
 * - `pairs`: two sessions share a table of two rows. Each reads both rows, then sets its own row to one more than the larger of the two.
 *   One after another, every transaction makes the maximum larger by one; so the maximum counts them. Two that do not see each other make the
 *   same number (write skew), and the count is short by one. Each pair has a table of its own, so that nobody waits for a row and an
 *   engine that locks pages or tables sees no conflicts but these. Each write leaves a number of its own, too: with the
 *   reads that makes a history of registers, which the dependency graph judges, at weaker levels as well.
 * - `numbers`: everybody inserts one more than the largest number in one table. One after another, no number comes twice (G2: what
 *   each has read is changed by rows that it has not seen).
 */
import {
  type History,
  KvBuilder,
  type KvHistory,
  type KvStatus,
  type Operation,
} from '../../histories/index.js';
import type { Dialect } from '../../sql/index.js';
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

/** Further sessions share the tables of the first ones. */
const tables = ['p1', 'p2', 'p3', 'p4'] as const;

/** MySQL does not read the table that it updates, but for a table made of it. */
function largest(table: string, dialect: Dialect): string {
  const max = `SELECT MAX(v) AS m FROM ${table}`;
  return dialect === 'mysql' ? `(SELECT m FROM (${max}) AS d)` : `(${max})`;
}

const tableOf = (session: number) => tables[Math.floor(session / 2) % tables.length]!;
const rowOf = (session: number) => 1 + (session % 2);

export const pairs: BurstProgram = {
  name: 'pairs',
  fact: 'the larger number of each pair counts the transactions of the pair that were committed',
  clause: forbidding('write-skew'),
  setup: tables.flatMap((table) => [
    `CREATE TABLE ${table} (id INT PRIMARY KEY, v INT, w INT)`,
    `INSERT INTO ${table} VALUES (1, 0, 0), (2, 0, 0)`,
  ]),
  transaction: ({ session, tag, dialect }) => {
    const table = tableOf(session);
    return [
      'BEGIN',
      `SELECT id, w FROM ${table}`,
      `UPDATE ${table} SET v = ${largest(table, dialect)} + 1, w = ${tag} WHERE id = ${rowOf(session)}`,
      'COMMIT',
    ];
  },
  parts: reads,
  final: tables.map((table) => `SELECT MAX(v) FROM ${table}`),
  judge: ({ history, final }) => {
    const sum = sumOf(final?.map((rows) => numberOf(rows[0]?.[0])));
    if (sum === undefined) return unreadable();
    const { least, most } = effects(history);
    if (sum >= least && sum <= most) return kept;
    return { kind: 'broken', text: sum < least ? `${least - sum} not counted` : `${sum - most} too many` };
  },
  graph: registersOf,
};

/** Undefined: one of them is no number. */
function sumOf(numbers: readonly (number | undefined)[] | undefined): number | undefined {
  return numbers?.reduce(
    (sum, each) => (sum === undefined || each === undefined ? undefined : sum + each),
    0,
  );
}

const readOfPair = /^SELECT id, w FROM (\w+)$/;
const writeOfPair = /^UPDATE (\w+) .* w = (\d+) WHERE id = (\d+)$/;

/** The transactions of `pairs` as reads and writes of registers: one for each row. */
function registersOf(history: History): KvHistory {
  const builder = new KvBuilder({ definitions: 'adya' });
  const ends = endsOf(history);
  const transactions = new Map<number, Operation[]>();
  for (const op of history.operations) {
    if (op.outcome === 'error' || (op.kind !== 'select' && op.kind !== 'update')) continue;
    const known = transactions.get(op.transaction);
    if (known === undefined) transactions.set(op.transaction, [op]);
    else known.push(op);
  }
  for (const [transaction, operations] of transactions) {
    builder.begin(operations[0]!.session);
    for (const op of operations) addOperation(builder, op);
    builder.end(statusOf(ends.get(transaction)));
  }
  return builder.build();
}

function addOperation(builder: KvBuilder, { sql = '', rows = [] }: Operation): void {
  const [, read] = readOfPair.exec(sql) ?? [];
  const [, written, tag, row] = writeOfPair.exec(sql) ?? [];
  if (written !== undefined) builder.write(`${written}.${row}`, Number(tag));
  if (read === undefined) return;
  for (const [id, w] of rows) {
    const value = numberOf(w);
    builder.read(`${read}.${numberOf(id)}`, value === 0 ? null : value);
  }
}

function statusOf(end: Operation['ends']): KvStatus {
  if (end === 'commit') return 'committed';
  return end === 'rollback' ? 'aborted' : 'unknown';
}

export const numbers: BurstProgram = {
  name: 'numbers',
  fact: 'no number was given twice',
  clause: forbidding('G2'),
  setup: ['CREATE TABLE q (n INT, s INT)'],
  transaction: ({ session }) => [
    'BEGIN',
    `INSERT INTO q (n, s) SELECT COALESCE(MAX(n), 0) + 1, ${session} FROM q`,
    'COMMIT',
  ],
  parts: begun,
  final: ['SELECT COUNT(*), COUNT(DISTINCT n) FROM q'],
  judge: ({ history, final }) => {
    const [rows, distinct] = (final?.[0]?.[0] ?? []).map(numberOf);
    if (rows === undefined || distinct === undefined) return unreadable();
    if (rows !== distinct) return { kind: 'broken', text: `${rows - distinct} given twice` };
    const { least, most } = effects(history);
    if (rows >= least && rows <= most) return kept;
    return {
      kind: 'broken',
      text: rows < least ? `${least - rows} rows missing` : `${rows - most} rows too many`,
    };
  },
};
