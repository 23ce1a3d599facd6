/**
 * The contracts beside Hermitage (https://github.com/ept/hermitage), which tried the same anomalies on real servers and published what
 * each level prevents. Two people asked two sources; where they differ, the row says why.
 */
import { describe, expect, it } from 'vitest';
import type { Anomaly } from '../anomaly.js';
import { findContract } from '../table.js';

/** Hermitage's columns, and what we call them. */
const columns: readonly (readonly [hermitage: string, anomaly: Anomaly])[] = [
  ['G0', 'G0'],
  ['G1a', 'G1a'],
  ['G1b', 'G1b'],
  ['G1c', 'G1c'],
  ['OTV', 'OTV'],
  ['PMP', 'PMP'],
  ['P4', 'lost-update'],
  ['G-single', 'G-single'],
  ['G2-item', 'G2-item'],
  ['G2', 'G2'],
];

const prevented = (id: string) => {
  const contract = findContract(id);
  if (contract === undefined) throw new Error(`no contract ${id}`);
  return columns.flatMap(([name, anomaly]) => (contract.forbids.includes(anomaly) ? [name] : [])).join(' ');
};

const committed = 'G0 G1a G1b G1c OTV';
const snapshot = `${committed} PMP P4 G-single`;
const all = `${snapshot} G2-item G2`;

describe('what Hermitage saw prevented', () => {
  it.each<[id: string, prevented: string]>([
    ['postgres:read-uncommitted', committed],
    ['postgres:read-committed', committed],
    ['postgres:repeatable-read', snapshot],
    ['postgres:serializable', all],
    ['mysql:read-uncommitted', 'G0'],
    ['mysql:read-committed', committed],
    ['mysql:serializable', all],
    ['oracle:read-committed', committed],
    ['sqlserver:read-uncommitted', 'G0'],
    ['sqlserver:read-committed', committed],
    ['sqlserver:read-committed+read_committed_snapshot', committed],
    ['sqlserver:snapshot', snapshot],
    ['sqlserver:serializable', all],
  ])('is what %s promises', (id, expected) => {
    expect(prevented(id)).toBe(expected);
  });

  it('for MySQL at REPEATABLE READ is more than promised only for read-only transactions', () => {
    // Hermitage marks PMP and G-single "R/O". Reads of one snapshot rule out PMP and skews of plain reads; writes see current rows.
    expect(prevented('mysql:repeatable-read')).toBe(`${committed} PMP`);
    expect(findContract('mysql:repeatable-read')!.forbids).toContain('read-skew');
  });

  it('for SQL Server at REPEATABLE READ leaves phantoms, and so cycles with one predicate', () => {
    // Hermitage marks G-single "some": the cycles over rows, which are our read-skew.
    expect(prevented('sqlserver:repeatable-read')).toBe(`${committed} P4 G2-item`);
    expect(findContract('sqlserver:repeatable-read')!.forbids).toContain('read-skew');
  });

  it('for Oracle’s SERIALIZABLE is snapshot isolation', () => {
    expect(prevented('oracle:serializable')).toBe(snapshot);
  });
});

describe('levels that are one and the same', () => {
  it.each<[a: string, b: string]>([
    ['postgres:read-uncommitted', 'postgres:read-committed'],
    ['mysql:read-committed', 'mariadb:read-committed'],
    ['mysql:repeatable-read', 'mariadb:repeatable-read'],
    ['mysql:serializable', 'mariadb:serializable'],
    ['h2:snapshot', 'h2:serializable'],
    ['hsqldb:repeatable-read+mvcc', 'hsqldb:serializable+mvcc'],
    ['adya:PL-SI', 'duckdb:snapshot'],
    ['adya:PL-3', 'ansi:serializable'],
  ])('%s and %s forbid the same', (a, b) => {
    const forbidden = (id: string) => findContract(id)!.forbids.filter((each) => each !== 'own-write-missed');
    expect([...forbidden(a)].sort()).toEqual([...forbidden(b)].sort());
  });
});

describe('when a snapshot is taken', () => {
  it.each<[id: string, pivot: string]>([
    ['postgres:repeatable-read', 'first-statement'],
    ['postgres:read-committed', 'statement'],
    ['mysql:repeatable-read', 'first-read'],
    ['mariadb:repeatable-read', 'first-read'],
    ['mariadb:repeatable-read+rocksdb', 'first-statement'],
    ['mysql:read-uncommitted', 'uncommitted'],
    // SERIALIZABLE of InnoDB locks what it reads, and so reads what is there.
    ['mysql:serializable', 'statement'],
    ['tidb:repeatable-read', 'begin'],
    ['oracle:serializable', 'begin'],
    ['duckdb:snapshot', 'first-statement'],
    ['sqlite:serializable+wal', 'first-statement'],
    ['turso:snapshot+mvcc', 'begin'],
  ])('%s: %s', (id, pivot) => {
    expect(findContract(id)!.mechanism!.pivot).toBe(pivot);
  });
});

describe('what a second writer of a row meets', () => {
  it.each<[id: string, conflict: string, laterFails: boolean]>([
    ['postgres:read-committed', 'waits', false],
    ['postgres:repeatable-read', 'waits', true],
    ['mysql:repeatable-read', 'waits', false],
    ['mariadb:repeatable-read+innodb_snapshot_isolation', 'waits', true],
    ['duckdb:snapshot', 'fails', true],
    ['oracle:serializable', 'waits', true],
    ['tidb:snapshot+optimistic', 'none', true],
  ])('%s: it %s', (id, conflict, laterFails) => {
    const { writeConflict, firstUpdaterWins } = findContract(id)!.mechanism!;
    expect({ writeConflict, firstUpdaterWins }).toEqual({
      writeConflict: conflict,
      firstUpdaterWins: laterFails,
    });
  });
});
