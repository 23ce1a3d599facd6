import { describe, expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import type { Operation } from '../histories/index.js';
import { classifyStatement } from '../sql/index.js';
import { type Tx, transactionsOfHistory } from './transactions.js';

/** `session transaction start–end SQL`, with how it went after `!`: `!error`, `!unknown`, `!commit`, `!rollback`. */
function operations(...lines: readonly string[]): Operation[] {
  return lines.map((line, index) => {
    const [, session, transaction, start, end, sql, mark] =
      /^(\d+) (\d+) (\d+)–(\d+) (.*?)(?: !(\w+))?$/.exec(line)!;
    const { kind } = classifyStatement(sql!, 'postgres');
    const ends = mark === 'commit' || mark === 'rollback' ? mark : undefined;
    return {
      index,
      session: Number(session),
      transaction: Number(transaction),
      kind,
      sql: sql!,
      start: Number(start),
      end: mark === 'unknown' ? null : Number(end),
      outcome: mark === 'error' ? 'error' : mark === 'unknown' ? 'unknown' : 'ok',
      ...(ends !== undefined && { ends }),
    };
  });
}

function only(contract: string, ...lines: readonly string[]): Tx {
  const header = { sessions: ['A', 'B'], dialect: 'postgres' as const };
  const txs = transactionsOfHistory(header, operations(...lines), findContract(contract)!);
  return txs.get(0)!;
}

const rr = 'postgres:repeatable-read';
const rc = 'postgres:read-committed';

describe('how transactions end', () => {
  it('commits in the span of its COMMIT, and holds locks until that is sent', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', '0 0 3–4 UPDATE t SET v = 1', '0 0 5–9 COMMIT !commit');
    expect(tx).toMatchObject({
      fate: 'committed',
      commit: { start: 5, end: 9 },
      holdsLocksUntil: 5,
      explicit: true,
    });
  });

  it('never commits after ROLLBACK', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', '0 0 3–4 UPDATE t SET v = 1', '0 0 5–6 ROLLBACK !rollback');
    expect(tx).toMatchObject({
      fate: 'aborted',
      commit: { start: Number.POSITIVE_INFINITY },
      end: { start: 5, end: 6 },
    });
  });

  it('may commit at any time after a COMMIT without an answer, or never', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', '0 0 3–4 UPDATE t SET v = 1', '0 0 5–6 COMMIT !unknown');
    expect(tx).toMatchObject({ fate: 'unknown', commit: { start: 5, end: Number.POSITIVE_INFINITY } });
  });

  it('may have lost its locks with an error, long before it ends', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', '0 0 3–4 UPDATE t SET v = 1 !error', '0 0 8–9 ROLLBACK !rollback');
    expect(tx.holdsLocksUntil).toBe(3);
  });

  it('may have freed locks with ROLLBACK TO', () => {
    const tx = only(
      rr,
      '0 0 1–2 BEGIN',
      '0 0 2–3 SAVEPOINT s',
      '0 0 4–5 ROLLBACK TO s',
      '0 0 8–9 COMMIT !commit',
    );
    expect(tx.holdsLocksUntil).toBe(4);
  });

  it('an autocommitted statement is a transaction of its own', () => {
    expect(only(rr, '0 0 1–2 UPDATE t SET v = 1 !commit')).toMatchObject({
      explicit: false,
      fate: 'committed',
      commit: { start: 1, end: 2 },
    });
  });

  it('one that nothing ended may have been rolled back at any time since its last answer', () => {
    expect(only(rr, '0 0 1–2 BEGIN', '0 0 3–4 UPDATE t SET v = 1')).toMatchObject({
      fate: 'aborted',
      end: { start: 3, end: Number.POSITIVE_INFINITY },
    });
  });
});

describe('when snapshots are taken', () => {
  const read = '0 0 3–4 SELECT * FROM t';
  it('PostgreSQL RR: with the first statement on data', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', read, '0 0 5–6 SELECT * FROM t', '0 0 7–8 COMMIT !commit');
    expect(tx.snapshot).toEqual({ start: 3, end: 4 });
    expect(tx.snapshotBy?.index).toBe(1);
  });

  it('PostgreSQL RC: there is none, every statement has its own', () => {
    expect(only(rc, '0 0 1–2 BEGIN', read, '0 0 7–8 COMMIT !commit').snapshot).toBeUndefined();
  });

  it('is as wide as from a statement that may take it to one that certainly does', () => {
    const tx = only(
      rr,
      '0 0 1–2 BEGIN',
      '0 0 3–4 SET x = 1',
      '0 0 5–6 SELECT * FROM t',
      '0 0 7–8 COMMIT !commit',
    );
    expect(tx.snapshot).toEqual({ start: 3, end: 6 });
  });

  it('a failed statement may have taken it, and is not certain to have', () => {
    const tx = only(rr, '0 0 1–2 BEGIN', '0 0 3–4 SELECT 1 / 0 !error', '0 0 5–6 ROLLBACK !rollback');
    expect(tx.snapshot).toEqual({ start: 3, end: 6 });
  });

  it('InnoDB: also with a START TRANSACTION that commits the transaction before', () => {
    const header = { sessions: ['A'], dialect: 'mysql' as const };
    const list = operations(
      '0 0 1–2 BEGIN',
      '0 0 3–4 START TRANSACTION WITH CONSISTENT SNAPSHOT !commit',
      '0 1 8–9 SELECT * FROM t',
      '0 1 10–11 COMMIT !commit',
    );
    const txs = transactionsOfHistory(header, list, findContract('mariadb:repeatable-read')!);
    expect(txs.get(1)!.snapshot).toEqual({ start: 3, end: 4 });
  });

  it('DuckDB: with BEGIN or the first statement after it, whichever its contract says', () => {
    const { mechanism } = findContract('duckdb:snapshot')!;
    const tx = only('duckdb:snapshot', '0 0 1–2 BEGIN', read, '0 0 7–8 COMMIT !commit');
    expect(tx.snapshot).toEqual(mechanism!.pivot === 'begin' ? { start: 1, end: 2 } : { start: 3, end: 4 });
  });
});

describe('what a session was promised', () => {
  it('is the contract of the level that BEGIN names', () => {
    const tx = only(
      rc,
      '0 0 1–2 BEGIN ISOLATION LEVEL REPEATABLE READ',
      '0 0 3–4 SELECT * FROM t',
      '0 0 5–6 COMMIT !commit',
    );
    expect(tx.contract?.id).toBe(rr);
  });

  it('is for a chained transaction that of the one before it', () => {
    const header = { sessions: ['A'], dialect: 'postgres' as const };
    const list = operations(
      '0 0 1–2 BEGIN ISOLATION LEVEL REPEATABLE READ',
      '0 0 3–4 COMMIT AND CHAIN !commit',
      '0 1 5–6 ROLLBACK AND CHAIN !rollback',
      '0 2 7–8 COMMIT !commit',
      '0 3 9–10 UPDATE t SET v = 1 !commit',
    );
    const txs = transactionsOfHistory(header, list, findContract(rc)!);
    expect([...txs.values()].map(({ contract }) => contract?.id)).toEqual([rr, rr, rr, rc]);
  });

  it('is unknown after a statement of the session that changes isolation', () => {
    const tx = only(rc, '0 0 1–2 SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE');
    expect(tx.unjudged).toContain('a statement of its session changes isolation');
  });

  it('other sessions keep theirs', () => {
    const header = { sessions: ['A', 'B'], dialect: 'postgres' as const };
    const list = operations(
      '0 0 1–2 SET default_transaction_isolation = 1',
      '1 1 3–4 SELECT * FROM t !commit',
    );
    const txs = transactionsOfHistory(header, list, findContract(rr)!);
    expect(txs.get(1)).toMatchObject({ unjudged: undefined, contract: { id: rr } });
  });
});
