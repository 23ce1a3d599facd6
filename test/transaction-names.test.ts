/**
 * One name means one transaction: whatever an oracle says of `T2#2`, the table of the report shows those very statements
 * under that name.
 */
import { describe, expect, it } from 'vitest';
import {
  checkInstrumented,
  explain,
  type Finding,
  findingsToDot,
  findingToSvg,
  referencesOf,
  verifyMechanism,
} from '../src/check/index.js';
import { answered, instrumentScript } from '../src/check/instrument/scripted-answers.case.js';
import { story } from '../src/check/mechanism/story.case.js';
import { serverFinding } from '../src/check/server/server-finding.js';
import { describeKind, fieldOfClause, findContract } from '../src/contracts/index.js';
import { type History, interleave, renderInterleaving } from '../src/histories/index.js';
import type { Dialect } from '../src/sql/index.js';

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

  it('says no other names, in text, graph and picture', () => {
    const names = new Set(readTable(history).keys());
    const dot = findingsToDot([finding]);
    for (const text of [explain(finding), dot, findingToSvg(finding)]) {
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
