/** Searches that fit no single state, in reads and in the WHERE of writes. */
import { type ProbeCase, probeCase, testTable } from '../probe-case.js';
import { showRows } from '../seen.js';

const PMP = probeCase({
  id: 'PMP',
  anomaly: 'PMP',
  title: 'Predicate-many-preceders',
  argument: 'T1 found no row 3, so it comes before T2; then it finds T2’s row, so it comes after.',
  origin: 'Adya PMP, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE value = 30
    T2: INSERT INTO test (id, value) VALUES (3, 30)
    T2: COMMIT
    T1: SELECT id, value FROM test WHERE value % 3 = 0
    T1: COMMIT
  `,
  evidence: (seen) => {
    const first = seen.rows('T1', 1);
    const second = seen.rows('T1', 2);
    return {
      happened: !first.has(3) && second.has(3),
      why: `T1 searched twice and found ${showRows(first)}, then ${showRows(second)}`,
    };
  },
});

const pmpWrite = probeCase({
  id: 'PMP-write',
  anomaly: 'PMP-write',
  title: 'Predicate-many-preceders, one write',
  argument:
    'T1 moves value 20 from row 2 to row 1. Before or after T1, T2 deletes one row of value 20 and sees none left.',
  origin: 'Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = value + 10
    T2: DELETE FROM test WHERE value = 20
    T1: COMMIT
    T2: SELECT id, value FROM test WHERE value = 20
    T2: COMMIT
  `,
  evidence: (seen) => {
    const left = seen.rows('T2');
    return {
      happened: left.size > 0,
      why: `after deleting every row of value 20, T2 sees ${showRows(left)}`,
    };
  },
});

const pmpWriteAfterRead = probeCase({
  id: 'PMP-write-after-read',
  anomaly: 'PMP-write',
  title: 'Predicate-many-preceders, read then write',
  argument: 'T2 sees value 20 in row 2, so it comes before T1; then its DELETE of value 20 hits row 1.',
  origin: 'Hermitage, TxCheck',
  script: `
    T1: BEGIN
    T2: BEGIN
    T2: SELECT id, value FROM test WHERE value = 20
    T1: UPDATE test SET value = value + 10
    T1: COMMIT
    T2: DELETE FROM test WHERE value = 20
    T2: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const found = seen.rows('T2');
    const final = seen.rows('after');
    return {
      happened: found.has(2) && !found.has(1) && !final.has(1) && final.has(2),
      why: `T2 found ${showRows(found)} with value 20 and deleted those of value 20; the rows left are ${showRows(final)}`,
    };
  },
});

const staleAfterDelete = probeCase({
  id: 'PMP-write-stale-after-delete',
  anomaly: 'PMP-write',
  title: 'Rows still seen after deleting all',
  argument: 'After T2’s DELETE of every row there is no serial order in which T2 still sees one.',
  origin: 'MySQL #105670 family',
  script: `
    T1: BEGIN
    T2: BEGIN
    T2: SELECT id, value FROM test
    T1: DELETE FROM test
    T1: COMMIT
    T2: DELETE FROM test
    T2: SELECT id, value FROM test
    T2: COMMIT
  `,
  evidence: (seen) => {
    const left = seen.rows('T2', 2);
    return { happened: left.size > 0, why: `after deleting every row, T2 sees ${showRows(left)}` };
  },
});

const mismatch = probeCase({
  id: 'PMP-write-subquery',
  anomaly: 'PMP-write',
  title: 'A search and an update with one condition disagree',
  argument:
    'T1’s search finds item 1 by the least value 10, so it comes before T2; its UPDATE with the same condition passes item 1 by, so it comes after.',
  origin: 'TxCheck, Figure 1',
  setup: [
    ...testTable,
    'CREATE TABLE item (id INT PRIMARY KEY, value INT)',
    'INSERT INTO item (id, value) VALUES (1, 5), (2, 100)',
  ],
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM item WHERE value <= (SELECT MIN(value) FROM test)
    T2: INSERT INTO test (id, value) VALUES (3, 1)
    T2: COMMIT
    T1: UPDATE item SET value = 7 WHERE value <= (SELECT MIN(value) FROM test)
    T1: COMMIT
    after: SELECT id, value FROM item
  `,
  evidence: (seen) => {
    const [found, final] = [seen.rows('T1'), seen.rows('after')];
    return {
      happened: found.has(1) && final.get(1) === 5,
      why: `T1 found ${showRows(found)} and updated what the same condition selects; the items are ${showRows(final)}`,
    };
  },
});

const phantom = probeCase({
  id: 'G2',
  anomaly: 'G2',
  title: 'Phantom (write skew through a search)',
  argument:
    'Each of T1 and T2 inserts a row the other’s search would have found; the second had to see the first.',
  origin: 'Adya G2, Berenson P3, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE value % 3 = 0
    T2: SELECT id, value FROM test WHERE value % 3 = 0
    T1: INSERT INTO test (id, value) VALUES (3, 30)
    T2: INSERT INTO test (id, value) VALUES (4, 42)
    T1: COMMIT
    T2: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const [one, two, final] = [seen.rows('T1'), seen.rows('T2'), seen.rows('after')];
    return {
      happened: one.size === 0 && two.size === 0 && final.has(3) && final.has(4),
      why: `T1 found ${showRows(one)}, T2 found ${showRows(two)}; both inserted, and the rows are ${showRows(final)}`,
    };
  },
});

export const predicateReadCases: readonly ProbeCase[] = [
  PMP,
  pmpWrite,
  pmpWriteAfterRead,
  staleAfterDelete,
  mismatch,
];
export const phantomCases: readonly ProbeCase[] = [phantom];
