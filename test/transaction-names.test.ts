/**
 * One name means one transaction: whatever an oracle says of `T2#2`, the table of the report shows those very statements
 * under that name. In a recorded history the name is the number that the file gives the transaction or operation.
 */
import { describe, expect, it } from 'vitest';
import { parseScript } from '../src/cases/index.js';
import { brokenConstraints } from '../src/check/constraints/constraint-oracle.js';
import {
  check,
  checkInstrumented,
  explain,
  type Finding,
  findingsToDot,
  referencesOf,
  verifyMechanism,
  type WorkloadName,
} from '../src/check/index.js';
import { answered, instrumentScript } from '../src/check/instrument/scripted-answers.case.js';
import { story } from '../src/check/mechanism/story.case.js';
import { serverFinding } from '../src/check/server/server-finding.js';
import { describeKind, type FindingKind, fieldOfClause, findContract } from '../src/contracts/index.js';
import { readContent } from '../src/histories/formats/import.case.js';
import { type History, interleave, renderInterleaving } from '../src/histories/index.js';
import { run } from '../src/judge/index.js';
import type { Dialect } from '../src/sql/index.js';
import { openTarget } from '../src/targets/index.js';

interface Case {
  readonly title: string;
  readonly findings: readonly Finding[];
  readonly history: History;
}

function mechanism(title: string, contract: string, text: string, dialect: Dialect = 'postgres'): Case {
  const history = story(text, { dialect });
  return { title, history, findings: verifyMechanism(history, findContract(contract)!).findings };
}

const instrumented = (() => {
  const script = instrumentScript(`
    CREATE TABLE t (id INT PRIMARY KEY, v INT);
    INSERT INTO t VALUES (1, 10);

    T2: UPDATE t SET v = 9 WHERE id = 1;
    T1: BEGIN;
    T1: SELECT v FROM t WHERE id = 1;
    T2: UPDATE t SET v = 11 WHERE id = 1;
    T1: UPDATE t SET v = 12 WHERE id = 1;
    T1: COMMIT;`);
  const raw = answered(script, {
    steps: [
      { who: 'T2', count: 1 },
      { who: 'T1' },
      { who: 'T1', rows: [[9, 's2.1', ';0;1.1']] },
      { who: 'T2', count: 1 },
      { who: 'T1', count: 1 },
      { who: 'T1' },
    ],
    before: [[]],
    after: [[[1, 12, 's2.1', ';0;1.1;2.1;3.2']]],
  });
  const { history, findings } = checkInstrumented(raw, script);
  return { title: 'dependencies: lost update', history, findings };
})();

const crashed: History = (() => {
  const history = story('T1: SELECT v FROM t -> 10\nT1: SELECT v FROM t -> 10');
  const error = { class: 'crash', message: 'gone' } as const;
  return {
    ...history,
    operations: history.operations.map((each, i) =>
      i === 1 ? { ...each, outcome: 'unknown', error } : each,
    ),
  };
})();

/** The statement oracle executes the case again, on a database that computes wrongly inside transactions. */
async function statement(): Promise<Case> {
  const scheduled = parseScript(
    `CREATE TABLE t (id INT PRIMARY KEY, v INT);
     INSERT INTO t VALUES (1, 10), (2, 20);
     T2: UPDATE t SET v = 11 WHERE id = 1;
     T1: BEGIN;
     T2: BEGIN;
     T2: UPDATE t SET v = 12 WHERE id = 1;
     T2: COMMIT;
     T1: UPDATE t SET v = 21 WHERE id = 2;
     T1: SELECT id, MAX(v) OVER (PARTITION BY id) FROM t;
     T1: COMMIT;`,
    { file: 'names.sql', dialect: 'duckdb' },
  );
  const target = await openTarget('duckdb:?fault=misfolded-expression');
  try {
    const { findings, history } = await run(scheduled, { target, oracle: 'statement' });
    return { title: 'statement: result-differs', findings, history };
  } finally {
    await target.close();
  }
}

const cases: readonly Case[] = [
  mechanism(
    'post-snapshot-read',
    'postgres:repeatable-read',
    `T2: UPDATE t SET v = 5 WHERE id = 1 -> 1
     T1: BEGIN
     T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
     T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
     T1: SELECT id, v FROM t WHERE id = 1 -> 1,11`,
  ),
  mechanism(
    'update-of-changed-row',
    'postgres:repeatable-read',
    `T2: SELECT id, v FROM t WHERE id = 1 -> 1,10
     T1: BEGIN
     T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
     T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
     T1: UPDATE t SET v = 12 WHERE id = 1 -> 1`,
  ),
  mechanism(
    'lock-violated',
    'postgres:read-committed',
    `B: SELECT id, v FROM t WHERE id = 1 -> 1,10
     B: BEGIN
     A: BEGIN
     B: UPDATE t SET v = 11 WHERE id = 1 -> 1
     A: UPDATE t SET v = 12 WHERE id = 1 -> 1
     B: COMMIT
     A: COMMIT`,
  ),
  mechanism(
    'write-skew',
    'postgres:serializable',
    `T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
     T2: BEGIN
     T1: BEGIN
     T2: SELECT id, v FROM t WHERE id = 1 -> 1,10
     T1: SELECT id, v FROM t WHERE id = 2 -> 2,20
     T2: UPDATE t SET v = 21 WHERE id = 2 -> 1
     T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
     T2: COMMIT
     T1: COMMIT`,
  ),
  mechanism(
    'own-delete-missed',
    'mariadb:repeatable-read+reported',
    `T2: SELECT id, v FROM t -> 1,10 | 2,20
     T2: BEGIN
     T2: SELECT id, v FROM t -> 1,10 | 2,20
     T1: DELETE FROM t -> 2
     T2: DELETE FROM t -> 0
     T2: SELECT id, v FROM t -> 1,10 | 2,20`,
    'mysql',
  ),
  instrumented,
  { title: 'server-crash', history: crashed, findings: [serverFinding(crashed)!] },
  (() => {
    const history = story(
      `T1: SELECT id, v FROM t -> 1,10 | 2,20
       T2: INSERT INTO t VALUES (5, 50) -> 1
       T1: INSERT INTO t VALUES (5, 51) -> 1`,
    );
    const contract = findContract('postgres:read-committed')!;
    return { title: 'double-insert', history, findings: brokenConstraints(history, contract) };
  })(),
  await statement(),
];

/** The statements under each name, as a reader of the table finds them. */
function readTable(history: History): Map<string, number[]> {
  const current = history.header.sessions.map((name) => name);
  const statements = new Map<string, number[]>();
  for (const { session, operation, begins, part } of interleave(history)) {
    if (begins !== undefined) current[session] = begins;
    const name = current[session]!;
    if (part !== 'answered') statements.set(name, [...(statements.get(name) ?? []), operation.index]);
  }
  return statements;
}

describe.each(cases)('$title', ({ title, findings, history }) => {
  const kind = title.split(': ').at(-1)!.replace(' ', '-');
  const finding = findings.find((each) => each.kind === kind)!;

  it('is found, by an oracle that finds its kind', () => {
    expect(findings.map((each) => each.kind)).toContain(kind);
    const { oracles, clauses } = describeKind(finding.kind);
    expect(oracles).toContain(finding.oracle);
    if (finding.clause !== undefined && !clauses.includes('always'))
      expect(clauses).toContain(fieldOfClause(finding.clause));
  });

  it('names the transactions of its text as the table does', () => {
    const table = readTable(history);
    const { transactions, operations } = referencesOf(finding.explanation);
    for (const { id, name } of finding.transactions) {
      const run = history.operations.filter(({ transaction }) => transaction === id);
      expect(table.get(name)).toEqual(run.map(({ index }) => index));
    }
    for (const piece of finding.explanation.flatMap(({ says }) => says)) {
      const ref = typeof piece === 'string' ? undefined : 'transaction' in piece ? piece : undefined;
      if (ref?.name === undefined) continue;
      const run = history.operations.filter(({ transaction }) => transaction === ref.transaction);
      expect(table.get(ref.name)).toEqual(run.map(({ index }) => index));
    }
    expect(transactions.length).toBeGreaterThan(0);
    for (const index of operations) expect(history.operations[index]).toBeDefined();
    for (const { index, transaction } of finding.operations) {
      const name = finding.transactions.find(({ id }) => id === transaction)!.name;
      expect(table.get(name)).toContain(index);
    }
  });

  it('says no other names, in text and graph', () => {
    const names = new Set(readTable(history).keys());
    const dot = findingsToDot([finding]);
    for (const text of [explain(finding), dot]) {
      for (const [said] of text.matchAll(/(?<![\w.#])[TAB]\d?(?:#\d+)?(?![\w.(])/g))
        expect(names).toContain(said);
    }
    for (const { name } of finding.transactions) expect(dot).toContain(`"${name}`);
  });

  it('shows where a session’s second transaction begins', () => {
    const later = [...readTable(history).keys()].filter((name) => name.includes('#'));
    expect(later.length).toBeGreaterThan(0);
    for (const name of later) expect(renderInterleaving(history)).toContain(`${name}: `);
  });

  it('reads well', () => {
    expect(explain(finding)).toMatchSnapshot();
  });
});

/** An event of a recorded history: who did what, as the file says it and as findings must repeat it. */
interface Recorded {
  readonly process: number;
  readonly type?: 'ok' | 'fail';
  readonly f?: string;
  readonly value: string;
  readonly texts: readonly string[];
}

/** A transaction in short: `w x 1`, `r x nil`, `append x 2`, `r x [1 2]`. */
function txn(process: number, short: string, type: 'ok' | 'fail' = 'ok'): Recorded {
  const ops = short
    .split(', ')
    .map((op) => /^(\w+) (\w+) (.+)$/.exec(op)!.slice(1) as [string, string, string]);
  return {
    process,
    type,
    value: `[${ops.map(([f, key, value]) => `[:${f} "${key}" ${value}]`).join(' ')}]`,
    texts: ops.map(([f, key, value]) => `${f}(${key}, ${value === 'nil' ? 'initial' : value})`),
  };
}

/** Numbers that no reader would give by counting. */
const numberOf = (place: number): number => 40 + 7 * place;

function fileOf(events: readonly Recorded[]): string {
  const lines = events.map(({ process, type = 'ok', f = 'txn', value }, i) => {
    const about = `:process ${process}, :f :${f}, :value ${value}`;
    return `{:index ${numberOf(i) - 1}, :type :invoke, ${about}}\n{:index ${numberOf(i)}, :type :${type}, ${about}}`;
  });
  return lines.join('\n');
}

const reads = (process: number, value: string): Recorded => ({
  process,
  f: 'read',
  value,
  texts: [`read ${value}`],
});

const recorded: readonly {
  readonly kind: FindingKind;
  /** None: it is held to a level. */
  readonly workload?: WorkloadName;
  readonly events: readonly Recorded[];
}[] = [
  {
    kind: 'G0',
    events: [
      txn(3, 'append x 1, append y 1'),
      txn(5, 'append x 2, append y 2'),
      txn(4, 'r x [1 2], r y [2 1]'),
    ],
  },
  { kind: 'G1a', events: [txn(4, 'w y 9'), txn(3, 'w x 1', 'fail'), txn(5, 'r x 1')] },
  { kind: 'G1b', events: [txn(3, 'w x 1, w x 2'), txn(5, 'r x 1')] },
  { kind: 'G1c', events: [txn(5, 'w x 1, r y 1'), txn(3, 'w y 1, r x 1')] },
  { kind: 'internal', events: [txn(4, 'w y 9'), txn(3, 'w x 1, r x nil')] },
  { kind: 'lost-update', events: [txn(4, 'w y 9'), txn(5, 'r x nil, w x 1'), txn(3, 'r x nil, w x 2')] },
  { kind: 'read-skew', events: [txn(5, 'append x 1, append y 1'), txn(3, 'r x [], r y [1]')] },
  { kind: 'write-skew', events: [txn(5, 'r x nil, w y 1'), txn(4, 'w z 9'), txn(3, 'r y nil, w x 1')] },
  {
    kind: 'incompatible-order',
    events: [txn(3, 'append x 1'), txn(5, 'append x 2'), txn(4, 'r x [1 2]'), txn(6, 'r x [2 1]')],
  },
  {
    kind: 'long-fork',
    workload: 'long-fork',
    events: [txn(6, 'w x 1'), txn(5, 'w y 1'), txn(4, 'r x 1, r y nil'), txn(3, 'r x nil, r y 1')],
  },
  {
    kind: 'wrong-total',
    workload: 'bank',
    events: [reads(3, '{0 5, 1 5}'), reads(4, '{0 5, 1 5}'), reads(5, '{0 5, 1 4}')],
  },
  {
    kind: 'not-linearizable',
    workload: 'register',
    events: [{ process: 3, f: 'write', value: '1', texts: ['write 1'] }, reads(5, '1'), reads(4, '3')],
  },
];

describe.each(recorded)('$kind of a recorded history', ({ kind, workload, events }) => {
  const oracle = workload === undefined ? 'key-value' : 'workload';
  const finding = async (): Promise<Finding> => {
    const history = await readContent(fileOf(events));
    const result = check(history, {}, workload === undefined ? {} : { workload: { name: workload } });
    const found = [...result.findings, ...result.beyond];
    expect(found.map((each) => each.kind)).toContain(kind);
    return found.find((each) => each.kind === kind)!;
  };
  const prefix = oracle === 'workload' && workload !== 'long-fork' ? 'op ' : 'T';
  const byName = new Map(events.map((event, i) => [`${prefix}${numberOf(i)}`, event]));

  it('names transactions by the numbers of the file, and shows their operations', async () => {
    const { oracle: by, transactions, operations } = await finding();
    expect(by).toBe(oracle);
    expect(describeKind(kind).oracles).toContain(oracle);
    expect(transactions.length).toBeGreaterThan(0);
    for (const { id, name, session, status } of transactions) {
      const event = byName.get(name)!;
      expect(event, name).toBeDefined();
      expect(session).toBe(String(event.process));
      expect(status).toBe(event.type === 'fail' ? 'aborted' : 'committed');
      const shown = operations.filter(({ transaction }) => transaction === id).map(({ text }) => text);
      expect(shown.length).toBeGreaterThan(0);
      for (const text of shown) expect(event.texts).toContain(text);
    }
  });

  it('says no other names, in text and graph', async () => {
    const one = await finding();
    const names = one.transactions.map(({ name }) => name);
    const dot = findingsToDot([one]);
    for (const text of [explain(one), dot]) {
      const said = [...text.matchAll(/(?<![\w.#])(?:T|op )\d+(?:#\d+)?(?![\w.(])/g)].map(([name]) => name);
      for (const name of said) expect(names).toContain(name);
    }
    for (const name of names) {
      expect(explain(one)).toContain(name);
      expect(dot).toContain(`"${name}`);
    }
  });
});
