/** The fast inference against a literal reading of IsoRel's Algorithm 1, on random histories. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Row } from '../../sql/index.js';
import { edgeNames, predicateRw } from '../graph/graph.js';
import { inferDependencies, instrumentCase } from './index.js';
import { random } from './random-case.case.js';
import { answered, type Step } from './scripted-answers.case.js';

interface QueryResult {
  readonly tx: number;
  readonly deletes: boolean;
  readonly rows: ReadonlyMap<string, readonly number[]>;
}

/** Algorithm 1, line by line. Transactions are numbers; 0 is the set-up, whose dependencies do not count. */
function algorithmOne(results: readonly QueryResult[]): Set<string> {
  const found = new Set<string>();
  const add = (kind: string, from: number, to: number, row: string) => {
    if (from !== 0 && to !== 0) found.add(`${kind} ${from} ${to} ${row}`);
  };
  for (const qr of results) {
    for (const [rowId, wList] of qr.rows) {
      const lastWriteTx = wList.at(-1)!;
      if (qr.deletes) {
        if (qr.tx !== lastWriteTx) add('ww', lastWriteTx, qr.tx, rowId);
      } else if (qr.tx !== lastWriteTx) add('wr', lastWriteTx, qr.tx, rowId);
      wList.forEach((writeTx, i) => {
        const preWriteTx = wList[i - 1];
        if (preWriteTx !== undefined && preWriteTx !== writeTx) add('ww', preWriteTx, writeTx, rowId);
      });
    }
  }
  for (const qri of results) {
    for (const qrj of results) {
      if (qri.deletes || qri === qrj) continue;
      for (const [rowId, wListi] of qri.rows) {
        const wListj = qrj.rows.get(rowId);
        // Definition 2.3 asks that another transaction wrote what was read; the algorithm forgets to.
        if (wListj === undefined || wListi.at(-1) === qri.tx) continue;
        if (!wListi.every((tx, i) => tx === wListj[i])) continue;
        if (wListi.length === wListj.length) {
          if (qrj.deletes && qri.tx !== qrj.tx) add('rw', qri.tx, qrj.tx, rowId);
        } else {
          const writeTx = wListj[wListi.length]!;
          if (qri.tx !== writeTx) add('rw', qri.tx, writeTx, rowId);
        }
      }
    }
  }
  return found;
}

/** A database that writes in order and reads any version it likes. Returns what each side of the comparison needs. */
function simulate(seed: number) {
  const next = random(seed);
  const sessions = Array.from({ length: 4 }, (_, s) => {
    const statements = ['BEGIN'];
    for (let n = next(4) + 1; n > 0; n--) {
      const id = next(4) + 1;
      const kinds = [
        `SELECT id FROM t WHERE id = ${id}`,
        'SELECT id FROM t',
        `UPDATE t SET v = 0 WHERE id = ${id}`,
      ];
      kinds.push(`UPDATE t SET v = (SELECT COUNT(*) FROM t AS s) WHERE id = ${id}`);
      kinds.push(kinds[2]!, `DELETE FROM t WHERE id = ${id}`, `INSERT INTO t VALUES (${10 + next(100)}, 1)`);
      statements.push(kinds[next(kinds.length)]!);
    }
    return { name: `T${s + 1}`, statements: [...statements, 'COMMIT'] };
  });
  const setup = ['CREATE TABLE t (id INT, v INT)', 'INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0)'];
  const instrumented = instrumentCase({ case: { name: 'x', setup, sessions } }, 'postgres');
  // Each row's versions as the list before and after each write; deleted rows keep theirs for stale readers.
  const rows = new Map<string, { id: number; lists: string[]; alive: boolean; notes: string }>();
  const noted = instrumented.tables[0]!.notes;
  for (let id = 1; id <= 4; id++) rows.set(`s2.${id}`, { id, lists: [';0'], alive: true, notes: '' });
  const steps: Step[] = [];
  const results: QueryResult[] = [];
  const toTx = (list: string) =>
    list
      .slice(1)
      .split(';')
      .map((token) => Number(token.split('.')[0]));
  let notes = 0;
  const positions = sessions.map(() => 0);
  const plans = instrumented.plans;
  for (;;) {
    const left = sessions.map((_, s) => s).filter((s) => positions[s]! < sessions[s]!.statements.length);
    if (left.length === 0) break;
    const s = left[next(left.length)]!;
    const position = positions[s]!++;
    const sql = sessions[s]!.statements[position]!;
    const who = sessions[s]!.name;
    const id = Number(/id = (\d+)/.exec(sql)?.[1]);
    const matching = [...rows].filter(([, row]) => Number.isNaN(id) || row.id === id);
    const token = plans[s]![position]!.write?.token;
    const answer: Row[] = [];
    const result = new Map<string, number[]>();
    const readAny = (from: typeof matching) => {
      for (const [rid, row] of from) {
        if (next(4) === 0) continue;
        const own = row.lists.findLastIndex((list) => list.includes(`;${s + 1}.`));
        const list = row.lists[Math.max(own, next(row.lists.length))]!;
        answer.push([row.id, rid, list]);
        result.set(rid, toTx(list));
      }
    };
    if (sql.startsWith('SELECT')) {
      readAny(matching);
      results.push({ tx: s + 1, deletes: false, rows: result });
      steps.push({ who, rows: answer });
    } else if (sql.startsWith('UPDATE')) {
      const live = matching.filter(([, row]) => row.alive);
      // What a write read is known if it wrote a row to note it in.
      if (sql.includes('COUNT') && live.length > 0) {
        readAny([...rows]);
        results.push({ tx: s + 1, deletes: false, rows: result });
        const note = `|${token}:${answer.map(([, rid, list]) => `${rid}=${list}!`).join(',')}`;
        for (const [, row] of live) row.notes += note;
        notes++;
      }
      for (const [, row] of live) row.lists.push(`${row.lists.at(-1)!};${token}`);
      steps.push({ who, count: live.length });
    } else if (sql.startsWith('DELETE')) {
      for (const [rid, row] of matching.filter(([, each]) => each.alive)) {
        row.alive = false;
        answer.push([rid, row.lists.at(-1)!, ...(noted ? [row.notes] : [])]);
        result.set(rid, toTx(row.lists.at(-1)!));
      }
      results.push({ tx: s + 1, deletes: true, rows: result });
      steps.push({ who, rows: answer });
    } else if (sql.startsWith('INSERT')) {
      rows.set(`${token}.1`, { id: 99, lists: [`;${token}`], alive: true, notes: '' });
      steps.push({ who, count: 1 });
    } else steps.push({ who });
  }
  const living = [...rows].filter(([, row]) => row.alive);
  const state = living.map(
    ([rid, row]): Row => [row.id, 0, ...(noted ? [row.notes] : []), rid, row.lists.at(-1)!],
  );
  // The closing read is a query of nobody's: it adds to what is known of rows, and depends on nothing.
  const last = new Map(living.map(([rid, row]) => [rid, toTx(row.lists.at(-1)!)]));
  results.push({ tx: 0, deletes: false, rows: last });
  return {
    history: answered(instrumented, { steps, before: [[]], after: [state] }),
    instrumented,
    results,
    notes,
  };
}

it('finds the dependencies of Algorithm 1, and no others through rows', () => {
  let total = 0;
  let noted = 0;
  fc.assert(
    fc.property(fc.nat(1_000_000), (seed) => {
      const { history, instrumented, results, notes } = simulate(seed);
      noted += notes;
      const { list, chains, events } = inferDependencies(history, instrumented);
      const name = (tx: number) => events.transactions.get(tx)!.session + 1;
      const found = list
        .filter(
          ({ kind, deletes, toWrite }) => kind !== predicateRw && (deletes !== true || toWrite !== undefined),
        )
        .map(({ from, to, kind, row }) => `${edgeNames[kind]} ${name(from)} ${name(to)} ${chains[row]!.rid}`);
      const literal = algorithmOne(results);
      total += literal.size;
      expect(new Set(found)).toEqual(literal);
    }),
    { numRuns: 150, seed: 4 },
  );
  // A comparison of empty sets would prove nothing.
  expect(total).toBeGreaterThan(600);
  expect(noted).toBeGreaterThan(60);
});
