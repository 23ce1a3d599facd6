import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ScheduledCase, serialOrder } from '../cases/index.js';
import { parseScript } from '../cases/script.js';
import type { Finding, Observation } from '../check/index.js';
import { verifyMechanism } from '../check/mechanism/index.js';
import { findContract } from '../contracts/index.js';
import { runScheduled } from '../execute/index.js';
import type { History } from '../histories/index.js';
import { probeCases } from '../probe/index.js';
import { openTarget, type Scratch, type Target } from '../targets/index.js';
import type { Behaviour } from './behaviour.js';
import { describeBehaviour, signatureOf, variantOf } from './signature.js';

/** Bugs of the embedded engine and of a broken one, each with the run that shows it. */
async function collect(url: string, cases: readonly ScheduledCase[]): Promise<Behaviour[]> {
  const target: Target = await openTarget(url);
  const scratch: Scratch = await target.createScratch();
  try {
    const found: Behaviour[] = [];
    for (const { case: program, schedule = serialOrder(program) } of cases) {
      const history = await runScheduled(scratch, { case: program, schedule }, { target });
      const { findings } = verifyMechanism(history, findContract('duckdb:snapshot')!);
      found.push(...findings.map((finding) => ({ case: program, schedule, finding, history })));
    }
    return found;
  } finally {
    await scratch.drop();
    await target.close();
  }
}

let bugs: Behaviour[] = [];
beforeAll(async () => {
  bugs = [
    ...(await collect('duckdb:', probeCases)),
    ...(await collect('duckdb:?fault=missed-own-write', probeCases)),
    ...(await collect('duckdb:?fault=late-snapshot', probeCases)),
    ...probeCases.map(asCycle),
  ];
  expect(bugs.length).toBeGreaterThan(20);
});

/** A behaviour with a cycle of dependencies, as the graph oracle would report it: the case's own sessions in a ring. */
function asCycle(scheduled: (typeof probeCases)[number]): Behaviour {
  const { case: program, schedule } = scheduled;
  const number = new Map<string, number>();
  const operations = schedule.batches
    .flat()
    .map(([session, position], index): History['operations'][number] => {
      const transaction = number.get(String(session)) ?? number.size;
      number.set(String(session), transaction);
      const sql = program.sessions[session]!.statements[position]!;
      return {
        index,
        session,
        transaction,
        kind: 'other',
        statement: [session, position],
        sql,
        start: index,
        end: index,
        outcome: 'ok',
      };
    });
  const ids = [...number.values()];
  const finding: Finding = {
    kind: scheduled.anomaly,
    oracle: 'dependency-graph',
    certainty: 'proved',
    rulesOut: [],
    clause: 'forbids G2',
    transactions: ids.map((id) => ({ id, name: `T${id}`, session: String(id), status: 'committed' })),
    operations: [],
    cycle: ids.map((from, i) => ({
      from,
      to: ids[(i + 1) % ids.length]!,
      kind: 'rw',
      object: `test/${i}`,
      because: [],
    })),
    explanation: [],
  };
  return { case: program, schedule, finding, history: { header: { sessions: [] }, operations } };
}

const words = fc.constantFrom('alpha', 'beta', 'Gamma', 'orders_2', 'x', 'Zz9');

/** The same behaviour in other words: other names, other values, sessions in another order. */
function disguise(
  bug: Behaviour,
  names: readonly string[],
  shift: number,
  order: readonly number[],
): Behaviour {
  const rename = (text: string) =>
    text
      .replaceAll(/\btest\b/g, names[0]!)
      .replaceAll(/\bvalue\b/g, `${names[1]}_v`)
      .replaceAll(/\bid\b/g, `${names[2]}_i`)
      .replaceAll(/\b\d+\b/g, (digits) => String(Number(digits) * 7 + shift));
  const hide = (seen: Observation): Observation =>
    seen.as === 'values' ? { ...seen, text: rename(seen.text) } : seen;
  const place = new Map(order.map((old, now) => [old, now]));
  const moved = (ref: readonly [number, number]): [number, number] => [place.get(ref[0])!, ref[1]];
  const transactions = (id: number) => 1000 - id;
  const { finding, history } = bug;
  return {
    case: {
      ...bug.case,
      name: 'another',
      setup: bug.case.setup.map(rename),
      sessions: order.map((old, now) => ({
        name: `${names[0]}${now}`,
        statements: bug.case.sessions[old]!.statements.map(rename),
      })),
    },
    schedule: { batches: bug.schedule.batches.map((batch) => batch.map(moved)) },
    history: {
      header: { ...history.header, sessions: order.map((_, now) => `S${now}`) },
      operations: history.operations.map(({ statement, ...operation }) => ({
        ...operation,
        transaction: transactions(operation.transaction),
        session: place.get(operation.session)!,
        sql: rename(operation.sql ?? ''),
        ...(statement === undefined ? {} : { statement: moved(statement) }),
      })),
    },
    finding: {
      ...finding,
      transactions: finding.transactions.map((tx) => ({
        ...tx,
        id: transactions(tx.id),
        name: 'X',
        session: 'Y',
      })),
      operations: finding.operations.map((op) => ({
        ...op,
        transaction: transactions(op.transaction),
        text: rename(op.text),
      })),
      ...(finding.versions === undefined
        ? {}
        : {
            versions: finding.versions.map((version) => ({
              ...version,
              object: rename(version.object),
              seen: hide(version.seen),
              allowed: version.allowed.map(hide),
            })),
          }),
      ...(finding.cycle === undefined
        ? {}
        : {
            cycle: [...finding.cycle.slice(1), finding.cycle[0]!].map((edge) => ({
              ...edge,
              from: transactions(edge.from),
              to: transactions(edge.to),
              object: rename(edge.object ?? ''),
            })),
          }),
    },
  };
}

it('groups what is no bug of isolation apart, by its statements alone', () => {
  const [first] = bugs;
  const seen = { ...first!, notIsolation: true as const };
  const otherwise = { ...seen, finding: { ...first!.finding, kind: 'missing-row' as const, clause: 'x' } };
  expect(signatureOf(seen)).not.toBe(signatureOf(first!));
  expect(signatureOf(otherwise)).toBe(signatureOf(seen));
  expect(describeBehaviour(seen)).toMatch(/^not isolation\n/);
});

describe('signatureOf', () => {
  it('stays the same under other names, values, session numbers and transaction numbers', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        words,
        words,
        words,
        fc.nat(50),
        fc.infiniteStream(fc.nat()),
        (pick, a, b, c, shift, keys) => {
          const bug = bugs[pick % bugs.length]!;
          const ranks = bug.case.sessions.map(() => keys.next().value as number);
          const order = ranks.map((_, i) => i).sort((x, y) => ranks[x]! - ranks[y]! || x - y);
          const other = disguise(bug, [a, b, c], shift, order);
          expect(describeBehaviour(other)).toBe(describeBehaviour(bug));
          expect(signatureOf(other)).toBe(signatureOf(bug));
          expect(variantOf(other)).toBe(variantOf(bug));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('stays the same when reads, BEGINs and statements on different tables change places', () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(fc.nat(), { maxLength: 8 }), (pick, swaps) => {
        const bug = bugs[pick % bugs.length]!;
        const batches = [...bug.schedule.batches];
        const sqlAt = ([session, position]: readonly [number, number]) =>
          bug.case.sessions[session]!.statements[position]!;
        for (const swap of swaps) {
          const i = swap % Math.max(1, batches.length - 1);
          const [one, two] = [batches[i]?.[0], batches[i + 1]?.[0]];
          if (one === undefined || two === undefined || one[0] === two[0]) continue;
          const [a, b] = [sqlAt(one), sqlAt(two)];
          const bothRead = /^SELECT/.test(a) && /^SELECT/.test(b);
          const begins = /^BEGIN/.test(a) || /^BEGIN/.test(b);
          if (bothRead || begins) batches.splice(i, 2, batches[i + 1]!, batches[i]!);
        }
        expect(signatureOf({ ...bug, schedule: { batches } })).toBe(signatureOf(bug));
        expect(variantOf({ ...bug, schedule: { batches } })).toBe(variantOf(bug));
      }),
      { numRuns: 150 },
    );
  });

  it('does not care whether a single statement commits by itself or by COMMIT', () => {
    const behaviour = (script: string): Behaviour => {
      const { case: program, schedule = serialOrder(program) } = parseScript(script, { file: 'x' });
      const finding: Finding = { ...bugs[0]!.finding, operations: [], versions: [], transactions: [] };
      return { case: program, schedule, finding, history: { header: { sessions: [] }, operations: [] } };
    };
    const alone = behaviour(
      'T2: BEGIN;\nT2: SELECT * FROM t;\nT1: DELETE FROM t;\nT2: UPDATE t SET v = 1;\nT2: COMMIT;',
    );
    const wrapped = behaviour(
      'T1: BEGIN;\nT2: BEGIN;\nT2: SELECT * FROM t;\nT1: DELETE FROM t;\nT1: COMMIT;\nT2: UPDATE t SET v = 1;\nT2: COMMIT;',
    );
    const late = behaviour(
      'T1: BEGIN;\nT2: BEGIN;\nT2: SELECT * FROM t;\nT1: DELETE FROM t;\nT2: UPDATE t SET v = 1;\nT1: COMMIT;\nT2: COMMIT;',
    );
    const open = behaviour(
      'T1: BEGIN;\nT2: BEGIN;\nT2: SELECT * FROM t;\nT1: DELETE FROM t;\nT2: UPDATE t SET v = 1;\nT2: COMMIT;',
    );
    const rolledBack = behaviour(
      'T1: BEGIN;\nT2: BEGIN;\nT2: SELECT * FROM t;\nT1: DELETE FROM t;\nT2: UPDATE t SET v = 1;\nT2: COMMIT;\nT1: ROLLBACK;',
    );
    expect(describeBehaviour(open)).toBe(describeBehaviour(rolledBack));
    expect(describeBehaviour(wrapped)).toBe(describeBehaviour(alone));
    expect(variantOf(late)).not.toBe(variantOf(alone));
    expect(signatureOf(late)).toBe(signatureOf(alone));
  });

  it('tells the anomalies of the probe apart, even by their shape alone', () => {
    const shape = (bug: Behaviour) =>
      describeBehaviour({ ...bug, finding: { ...bug.finding, kind: 'G2', clause: 'any' } });
    const byAnomaly = probeCases.map((each) => ({
      id: each.id,
      anomaly: each.anomaly,
      shape: shape(asCycle(each)),
    }));
    const clashes = byAnomaly.flatMap((a, i) =>
      byAnomaly
        .slice(i + 1)
        .filter((b) => a.anomaly !== b.anomaly && a.shape === b.shape)
        .map((b) => `${a.id} = ${b.id}`),
    );
    expect(clashes).toEqual([]);
  });

  it('tells what was seen apart: own write missed, conflict not reported, later version', () => {
    const byKind = new Map(
      bugs.filter(({ finding }) => finding.versions).map((bug) => [bug.finding.kind, bug]),
    );
    const kinds = ['update-of-changed-row', 'own-write-missed', 'post-snapshot-read'] as const;
    const told = kinds.map((kind) => byKind.get(kind)!);
    expect(new Set(told.map(signatureOf)).size).toBe(3);
    expect(new Set([...byKind.values()].map(variantOf)).size).toBe(byKind.size);
  });

  it('reads as a story', () => {
    const lost = bugs.find(
      (bug) => bug.case.name === 'lost-update-deleted-row' && bug.finding.kind === 'update-of-changed-row',
    )!;
    expect(describeBehaviour(lost)).toMatchInlineSnapshot(`
      "missed conflict: delete with update
      as firstUpdaterWins true: update-of-changed-row
      saw written without an error, expected a serialization error
      A: select t1; delete t1; commit
      B: select t1; update t1!; commit
      C: select t1
      order: A3<B2 B1<A2 B3<C1"
    `);
  });

  it('takes a large unreduced case in little time', () => {
    const statements = (s: number) =>
      Array.from({ length: 250 }, (_, i) => `UPDATE t SET v = ${i} WHERE id = ${(i * (s + 3)) % 17}`);
    const program = {
      name: 'big',
      setup: [],
      sessions: [0, 1, 2, 3].map((s) => ({ name: `T${s}`, statements: statements(s) })),
    };
    const started = performance.now();
    signatureOf({ ...bugs[0]!, case: program, schedule: serialOrder(program) });
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
