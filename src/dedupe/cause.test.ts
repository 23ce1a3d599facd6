/** What must fall together and what must stay apart, as reduced cases of hunts showed it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseScript, serialOrder } from '../cases/index.js';
import { type FindingKind, verifyMechanism } from '../check/index.js';
import { findContract } from '../contracts/index.js';
import { runScheduled } from '../execute/index.js';
import { openTarget } from '../targets/index.js';
import { type About, behaviourOf } from './behaviour.case.js';
import type { Behaviour } from './behaviour.js';
import { nameOf, signatureOf, variantOf } from './signature.js';

const setup = 'CREATE TABLE t (id INT, a INT, b INT);\nINSERT INTO t VALUES (0, 0, 0), (1, 0, 0);\n\n';
const keyed = setup.replace('id INT', 'id INT PRIMARY KEY');

/** Statements of sessions, one a line. */
const script = (lines: string, before = setup): string =>
  before +
  lines
    .trim()
    .split(/\s*;\s*/)
    .filter(Boolean)
    .join(';\n') +
  ';\n';

const graph = (cycle: string, kind: FindingKind, contract = 'adya:PL-2.99'): About => ({
  ...{ kind, cycle, contract, oracle: 'dependency-graph', clause: 'forbids G2-item' },
});
const changed = (...lines: number[]): About => ({
  ...{ kind: 'update-of-changed-row', lines, clause: 'firstUpdaterWins true' },
});
const held = (...lines: number[]): About => ({
  ...{ kind: 'lock-violated', lines, clause: 'writeConflict fails' },
});
const lost: About = { kind: 'lost-write', oracle: 'dependency-graph', clause: 'what is committed stays' };

/** By bug: forms of it that hunts found. */
const bugs: Record<string, readonly (readonly [lines: string, about: About, setup?: string])[]> = {
  'lost update': [
    [
      'T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2; T2: COMMIT',
      graph('T2 rw x T1, T1 ww x T2', 'lost-update'),
    ],
    [
      'T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: DELETE FROM t; T2: COMMIT',
      graph('T2 rw x T1, T1 ww x T2', 'lost-update'),
    ],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: BEGIN; T2: SELECT * FROM t; T1: COMMIT; T2: UPDATE t SET a = 2; T2: COMMIT',
      graph('T1 ww x T2, T2 rw x T1', 'lost-update'),
    ],
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = a; T3: SELECT * FROM t; T1: UPDATE t SET a = 0; T1: COMMIT',
      graph('T1 rw x T2, T2 wr x T3, T3 rw x T1', 'G2-item'),
    ],
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1; T3: UPDATE t SET a = 2; T1: UPDATE t SET a = 0; T1: COMMIT',
      graph('T1 rw x T2, T2 ww x T3, T3 ww x T1', 'G-single'),
    ],
  ],
  'read-write skew': [
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 0; T1: UPDATE t SET a = 0 WHERE id = 1; T1: COMMIT',
      graph('T1 rw x T2, T2 ww y T1', 'read-write-skew'),
    ],
    [
      'T2: BEGIN; T2: SELECT * FROM t WHERE a = 2; T1: UPDATE t SET a = a + 1; T2: DELETE FROM t WHERE a = 2; T2: COMMIT',
      graph('T2 rw x T1, T1 ww y T2', 'read-write-skew'),
    ],
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 0; T3: UPDATE t SET b = 0; T1: UPDATE t SET a = 0 WHERE id = 1; T1: COMMIT',
      graph('T1 rw x T2, T2 ww y T3, T3 ww z T1', 'G-single'),
    ],
  ],
  'write skew': [
    [
      'T1: BEGIN; T2: BEGIN; T1: SELECT * FROM t; T2: SELECT * FROM t; T1: UPDATE t SET a = 0 WHERE id = 0; T2: UPDATE t SET a = 0; T1: COMMIT; T2: COMMIT',
      graph('T1 rw y T2, T2 rw x T1', 'write-skew'),
    ],
    [
      'T1: BEGIN; T2: BEGIN; T1: UPDATE t SET a = 0 WHERE id = 0; T2: UPDATE t SET a = 0 WHERE id = 1; T1: SELECT * FROM t; T2: SELECT * FROM t; T1: COMMIT; T2: COMMIT',
      graph('T1 rw y T2, T2 rw x T1', 'write-skew'),
    ],
  ],
  'read skew': [
    [
      'T1: BEGIN; T1: SELECT * FROM t WHERE id = 0; T2: UPDATE t SET a = 1; T1: SELECT * FROM t WHERE id = 1; T1: COMMIT',
      graph('T1 rw x T2, T2 wr y T1', 'read-skew'),
    ],
  ],
  'no conflict between delete and update': [
    ['T2: BEGIN; T2: SELECT * FROM t; T1: DELETE FROM t; T2: UPDATE t SET a = 0', changed(4, 2, 3)],
    ['T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: DELETE FROM t', changed(4, 2, 3)],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: BEGIN; T2: SELECT * FROM t; T1: COMMIT; T2: DELETE FROM t',
      changed(6, 4, 2, 5),
    ],
    ['T1: BEGIN; T1: DELETE FROM t; T2: UPDATE t SET a = 0', held(3, 2)],
    ['T1: BEGIN; T1: UPDATE t SET a = a; T2: DELETE FROM t; T1: COMMIT', lost],
    ['T2: BEGIN; T2: DELETE FROM t; T1: UPDATE t SET a = a; T2: COMMIT', lost],
    [
      'T1: BEGIN; T2: BEGIN; T1: DELETE FROM t; T2: INSERT INTO t VALUES (5, 0, 0); T1: COMMIT; T2: UPDATE t SET a = 0; T2: COMMIT',
      lost,
    ],
    [
      'T1: BEGIN; T1: UPDATE t SET a = a; T2: DELETE FROM t; T1: COMMIT; T3: SELECT * FROM t',
      { kind: 'missing-row', lines: [5, 2] },
    ],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: DELETE FROM t; T1: COMMIT; T1: UPDATE t SET b = 1',
      { kind: 'write-missed-row', lines: [5, 2] },
    ],
    [
      'T2: BEGIN; T2: DELETE FROM t; T1: UPDATE t SET a = a; T1: SELECT * FROM t; T2: COMMIT',
      { kind: 'incompatible-order', oracle: 'dependency-graph', lines: [2, 3] },
    ],
    [
      'T2: BEGIN; T2: SELECT * FROM t; T2: UPDATE t SET a = 0; T1: DELETE FROM t; T2: COMMIT',
      { ...graph('T2 rw x T1, T1 wr x T2', 'G-single', 'duckdb:snapshot'), clause: 'forbids G-single' },
    ],
    [
      'T1: BEGIN; T1: INSERT INTO t VALUES (0, 1, 1) ON CONFLICT DO UPDATE SET a = 1; T2: DELETE FROM t; T1: COMMIT',
      lost,
      keyed,
    ],
  ],
  'no conflict between updates': [
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2', held(3, 2)],
    ['T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2', changed(4, 2, 3)],
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2; T1: COMMIT', lost],
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1; T1: UPDATE t SET a = 2; T1: COMMIT',
      { ...graph('T1 rw x T2, T2 ww x T1', 'lost-update', 'duckdb:snapshot'), clause: 'forbids lost-update' },
    ],
  ],
  'no conflict between updates of two columns': [
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET b = 2', held(3, 2)],
    ['T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: UPDATE t SET b = NULL', changed(4, 2, 3)],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET b = 2; T1: COMMIT; T1: SELECT * FROM t',
      { kind: 'wrong-version', lines: [5, 2] },
    ],
  ],
  'no conflict between an update and one that moves the row': [
    ['T1: BEGIN; T1: UPDATE t SET id = 7; T2: UPDATE t SET b = 2', held(3, 2), keyed],
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET id = 7; T1: COMMIT', lost, keyed],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET id = 7; T1: COMMIT; T1: SELECT * FROM t',
      { kind: 'stale-read', lines: [5, 2] },
      keyed,
    ],
  ],
  'no conflict of an update to NULL': [
    ['T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 7; T2: UPDATE t SET a = NULL', changed(4, 2, 3)],
    ['T1: BEGIN; T1: UPDATE t SET a = 7; T2: UPDATE t SET a = NULL; T1: COMMIT', lost],
  ],
  'no conflict of an update that returns rows': [
    ['T1: BEGIN; T1: UPDATE t SET a = 1 RETURNING a; T2: UPDATE t SET a = 2', held(3, 2)],
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2 RETURNING a; T1: COMMIT', lost],
  ],
  'no-op update': [
    [
      'T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 1; T2: SELECT * FROM t',
      { kind: 'own-write-missed', lines: [5, 4, 2], contract: 'mariadb:repeatable-read' },
    ],
    [
      'T1: BEGIN; T2: BEGIN; T2: INSERT INTO t VALUES (5, 1, 1); T1: SELECT * FROM t; T2: COMMIT; T1: UPDATE t SET a = 1; T1: SELECT COUNT(*) FROM t',
      { kind: 'own-write-missed', lines: [7, 6, 4], contract: 'mariadb:repeatable-read' },
    ],
    [
      'T2: BEGIN; T2: SELECT * FROM t; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 1; T2: SELECT * FROM t; T2: COMMIT',
      {
        ...{ kind: 'internal', oracle: 'dependency-graph', clause: 'forbids own-write-missed' },
        lines: [1, 2, 4, 5],
        versions: [{ operation: 4, object: 't', seen: { as: 'values', text: ';0' }, allowed: [] }],
      },
    ],
  ],
  'stale rows after delete': [
    [
      'T2: BEGIN; T2: SELECT * FROM t; T1: DELETE FROM t; T2: DELETE FROM t; T2: SELECT * FROM t',
      { kind: 'own-delete-missed', lines: [5, 4, 2], clause: 'ownDeletesHide true' },
    ],
  ],
  'predicate mismatch': [
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: INSERT INTO t VALUES (9, 9, 9); T1: UPDATE t SET a = 1 WHERE id <= (SELECT MIN(a) FROM t)',
      { kind: 'condition-mismatch', lines: [4, 2], clause: 'subqueriesSee snapshot' },
    ],
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: DELETE FROM t; T1: DELETE FROM t WHERE id <= (SELECT MIN(a) FROM t)',
      { kind: 'condition-mismatch', lines: [4, 2], clause: 'subqueriesSee snapshot' },
    ],
  ],
  'own write missed by nobody’s help': [
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T1: SELECT * FROM t',
      { kind: 'own-write-missed', lines: [3, 2], contract: 'mariadb:repeatable-read' },
    ],
  ],
  'non-repeatable read': [
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1; T1: SELECT * FROM t',
      { kind: 'post-snapshot-read', lines: [4, 3, 2] },
    ],
  ],
  phantom: [
    [
      'T1: BEGIN; T1: SELECT * FROM t; T2: INSERT INTO t VALUES (5, 5, 5); T1: SELECT * FROM t',
      { kind: 'post-snapshot-read', lines: [4, 3, 2] },
    ],
  ],
  'dirty read': [
    ['T1: BEGIN; T1: UPDATE t SET a = 1; T2: SELECT * FROM t', { kind: 'dirty-read', lines: [3, 2] }],
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: SELECT * FROM t; T1: COMMIT',
      { kind: 'dirty-read', lines: [3, 2] },
    ],
  ],
  'rollback that stays': [
    [
      'T1: BEGIN; T1: UPDATE t SET a = 1; T1: ROLLBACK; T2: SELECT * FROM t',
      { kind: 'dirty-read', lines: [4, 2] },
    ],
  ],
};

const forms = Object.entries(bugs).flatMap(([bug, list]) =>
  list.map(([lines, about, before]) => {
    const text = script(lines, before);
    return { bug, text, about, behaviour: behaviourOf(text, about) };
  }),
);

/** The same in other words: tables, columns, sessions, values, and the order in which sessions are numbered. */
function disguised(
  text: string,
  about: About,
  names: readonly string[],
  shift: number,
  turn: number,
): Behaviour {
  const [table, id, a, b, ...sessions] = names as [string, string, string, string, ...string[]];
  const words: Record<string, string> = { t: table, id, a, b };
  const session = (name: string) => sessions[Number(name.slice(1)) - 1]!;
  const used = sessions.filter((_, i) => text.includes(`\nT${i + 1}:`));
  const order = [...used.slice(turn % used.length), ...used.slice(0, turn % used.length)];
  const renamed = text
    .replaceAll(/\bT\d\b/g, session)
    .replaceAll(/\b(t|id|a|b)\b/g, (word) => words[word]!)
    .replaceAll(/(?<![\w-])\d+\b/g, (digits) => String(Number(digits) * 3 + shift));
  return behaviourOf(`-- sessions: ${order.join(', ')}\n${renamed}`, {
    ...about,
    ...(about.cycle === undefined
      ? {}
      : {
          cycle: about.cycle
            .replaceAll(/\bT\d\b/g, session)
            .replaceAll(/\b[xyz]\b/g, (row) => `${table}/${row}`),
        }),
  });
}

const names = fc.uniqueArray(fc.constantFrom('orders', 'Kk', 'w1', 'zz_9', 'alpha', 'Beta', 'u', 'q7'), {
  minLength: 7,
  maxLength: 7,
});

describe('the cause of a finding', () => {
  it.each(Object.keys(bugs))('is one for every form of: %s', (bug) => {
    const own = forms.filter((form) => form.bug === bug).map(({ behaviour }) => behaviour);
    expect(new Set(own.map(signatureOf)).size).toBe(1);
    expect(new Set(own.map(nameOf)).size).toBe(1);
    expect(new Set(own.map(variantOf)).size).toBe(own.length);
  });

  it('is another for every bug', () => {
    const bySignature = new Map<string, Set<string>>();
    for (const { bug, behaviour } of forms) {
      const signature = signatureOf(behaviour);
      bySignature.set(signature, new Set([...(bySignature.get(signature) ?? []), bug]));
    }
    expect([...bySignature.values()].filter(({ size }) => size > 1)).toEqual([]);
    expect(bySignature.size).toBe(Object.keys(bugs).length);
  });

  it('stays the same under any names, values and session numbers', () => {
    fc.assert(
      fc.property(fc.nat(), names, fc.nat(9), fc.nat(), (pick, words, shift, turn) => {
        const { text, about, behaviour } = forms[pick % forms.length]!;
        const other = disguised(text, about, words, shift, turn);
        expect(signatureOf(other)).toBe(signatureOf(behaviour));
        expect(variantOf(other)).toBe(variantOf(behaviour));
      }),
      { numRuns: 150 },
    );
  });

  it('of a cycle does not depend on the interleaving', () => {
    const cycles = forms.filter(({ about }) => about.contract === 'adya:PL-2.99');
    fc.assert(
      fc.property(fc.nat(), fc.infiniteStream(fc.nat()), (pick, draws) => {
        const { behaviour } = cycles[pick % cycles.length]!;
        const left = behaviour.case.sessions.map((_, session) =>
          behaviour.schedule.batches.flat().filter(([s]) => s === session),
        );
        const batches: [number, number][][] = [];
        while (left.some((queue) => queue.length > 0)) {
          const queues = left.filter((queue) => queue.length > 0);
          const next = queues[(draws.next().value as number) % queues.length]!.shift()!;
          batches.push([[next[0], next[1]]]);
        }
        expect(signatureOf({ ...behaviour, schedule: { batches } })).toBe(signatureOf(behaviour));
      }),
    );
  });

  it('tells the lock from the check after it where writers wait for each other', () => {
    const lines =
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: BEGIN; T2: SELECT * FROM t; T1: COMMIT; T2: UPDATE t SET a = 2';
    const contract = 'postgres:repeatable-read';
    const after = behaviourOf(script(lines), { ...changed(6, 4, 2), contract });
    const during = behaviourOf(script('T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2'), {
      ...held(3, 2),
      contract,
    });
    expect(signatureOf(after)).not.toBe(signatureOf(during));
  });

  it('blames no conflict on transactions that ran one after the other, or met in no row', () => {
    const about: About = { kind: 'stale-read', lines: [5, 2] };
    const apart =
      'T1: BEGIN; T1: UPDATE t SET a = 1 WHERE id = 0; T2: UPDATE t SET a = 2 WHERE id = 1; T1: COMMIT; T3: SELECT * FROM t';
    const serial =
      'T1: BEGIN; T1: UPDATE t SET a = 1; T1: COMMIT; T2: UPDATE t SET a = 2; T3: SELECT * FROM t';
    const undone =
      'T1: BEGIN; T1: UPDATE t SET a = 1; T2: UPDATE t SET a = 2; T1: ROLLBACK; T3: SELECT * FROM t';
    for (const lines of [apart, serial, undone])
      expect(nameOf(behaviourOf(script(lines), about)), lines).toBe('stale-read');
  });

  it('takes everything for the cause when the server itself failed', () => {
    const crash = (lines: string) =>
      behaviourOf(script(lines), { kind: 'server-crash', oracle: 'server', lines: [1] });
    expect(signatureOf(crash('T1: UPDATE t SET a = 1'))).not.toBe(signatureOf(crash('T1: DELETE FROM t')));
    expect(signatureOf(crash('T1: UPDATE t SET a = 1'))).toBe(variantOf(crash('T1: UPDATE t SET a = 1')));
  });
});

/** The shortest case that shows a fault on DuckDB, and the kind of its finding. */
const faults: Record<string, readonly [kind: string, lines: string]> = {
  'late-snapshot': [
    'post-snapshot-read',
    'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1 WHERE id = 0; T1: SELECT * FROM t; T1: COMMIT',
  ],
  'stale-snapshot': ['stale-read', 'T2: UPDATE t SET a = 1; T1: BEGIN; T1: SELECT * FROM t; T1: COMMIT'],
  'dirty-read': [
    'dirty-read',
    'T2: BEGIN; T2: UPDATE t SET a = 1; T1: BEGIN; T1: SELECT * FROM t; T1: COMMIT; T2: COMMIT',
  ],
  'missed-own-write': [
    'own-write-missed',
    'T1: BEGIN; T1: SELECT * FROM t; T1: UPDATE t SET a = 1; T1: SELECT * FROM t; T1: COMMIT',
  ],
  'missed-own-noop-write': [
    'update-of-changed-row',
    'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1; T1: UPDATE t SET a = 1; T1: COMMIT',
  ],
  'lost-insert': ['missing-row', 'T2: INSERT INTO t VALUES (5, 5, 5); T1: SELECT * FROM t'],
  'commit-on-rollback': [
    'dirty-read',
    'T2: BEGIN; T2: UPDATE t SET a = 1; T2: ROLLBACK; T1: SELECT * FROM t',
  ],
  'partial-commit': [
    'stale-read',
    'T2: BEGIN; T2: UPDATE t SET a = 1 WHERE id = 0; T2: UPDATE t SET a = 1 WHERE id = 1; T2: COMMIT; T1: SELECT * FROM t',
  ],
  'unreported-write-conflict': [
    'update-of-changed-row',
    'T1: BEGIN; T1: SELECT * FROM t; T2: UPDATE t SET a = 1; T1: UPDATE t SET a = 2; T1: COMMIT',
  ],
  'visible-committed-delete': ['extra-row', 'T2: DELETE FROM t WHERE id = 0; T1: SELECT * FROM t'],
  'phantom-in-snapshot': [
    'post-snapshot-read',
    'T1: BEGIN; T1: SELECT * FROM t; T2: INSERT INTO t VALUES (5, 5, 5); T1: SELECT * FROM t; T1: COMMIT',
  ],
};

/** Both let a write of a changed row pass; only the values tell that one of them does so for no-ops alone. */
const alike: ReadonlySet<string> = new Set(['missed-own-noop-write', 'unreported-write-conflict']);

describe('faults', () => {
  it('have causes of their own on one engine, but for those that behave alike', async () => {
    const found: [string, Behaviour][] = [];
    for (const [fault, [kind, lines]] of Object.entries(faults)) {
      const { case: program, schedule = serialOrder(program) } = parseScript(script(lines), { file: fault });
      const target = await openTarget(`duckdb:?fault=${fault}`);
      const scratch = await target.createScratch();
      const history = await runScheduled(scratch, { case: program, schedule }, { target });
      await scratch.drop();
      await target.close();
      const { findings } = verifyMechanism(history, findContract('duckdb:snapshot')!);
      const finding = findings.find((each) => each.kind === kind);
      expect(finding, `${fault} shows ${findings.map((each) => each.kind)}`).toBeDefined();
      found.push([fault, { case: program, schedule, finding: finding!, history }]);
    }
    const same = found.flatMap(([a, one], i) =>
      found
        .slice(i + 1)
        .filter(([, two]) => signatureOf(one) === signatureOf(two))
        .map(([b]) => [a, b]),
    );
    expect(same).toEqual([[...alike]]);
  });
});
