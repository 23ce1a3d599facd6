/** Several rows seen or changed as of different moments. */
import { type ProbeCase, probeCase } from '../probe-case.js';
import { showRows } from '../seen.js';

const readSkew = probeCase({
  id: 'read-skew',
  anomaly: 'read-skew',
  title: 'Read skew (G-single)',
  argument: 'T2 writes both rows; T1 must see both before or both after.',
  origin: 'Berenson A5A, Adya G-single, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE id = 1
    T2: UPDATE test SET value = 12 WHERE id = 1
    T2: UPDATE test SET value = 18 WHERE id = 2
    T2: COMMIT
    T1: SELECT id, value FROM test WHERE id = 2
    T1: COMMIT
  `,
  evidence: (seen) => {
    const [row1, row2] = [seen.rows('T1', 1).get(1), seen.rows('T1', 2).get(2)];
    return {
      happened: row1 === 10 && row2 === 18,
      why: `T2 changed (10, 20) to (12, 18); T1 saw ${row1} and ${row2}`,
    };
  },
});

const gSinglePredicate = probeCase({
  id: 'G-single-predicate',
  anomaly: 'G-single',
  title: 'G-single through searches',
  argument: 'T1 saw row 1 as 10, so it comes before T2; a search that finds it as 12 comes after.',
  origin: 'Adya G-single, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE value % 5 = 0
    T2: UPDATE test SET value = 12 WHERE value = 10
    T2: COMMIT
    T1: SELECT id, value FROM test WHERE value % 3 = 0
    T1: COMMIT
  `,
  evidence: (seen) => {
    const [first, second] = [seen.rows('T1', 1), seen.rows('T1', 2)];
    return {
      happened: first.get(1) === 10 && second.get(1) === 12,
      why: `T2 changed 10 to 12; T1 found ${showRows(first)}, then ${showRows(second)}`,
    };
  },
});

const gSingleWrite = probeCase({
  id: 'G-single-write-predicate',
  anomaly: 'G-single',
  title: 'G-single through a write’s search',
  argument:
    'T1 read row 1 from before T2, where row 2 has value 20; a DELETE of value 20 that spares row 2 looked after T2.',
  origin: 'Adya G-single, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE id = 1
    T2: UPDATE test SET value = 12 WHERE id = 1
    T2: UPDATE test SET value = 18 WHERE id = 2
    T2: COMMIT
    T1: DELETE FROM test WHERE value = 20
    T1: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const row1 = seen.rows('T1').get(1);
    const final = seen.rows('after');
    return {
      happened: row1 === 10 && final.has(2),
      why: `T1 read row 1 as ${row1} and deleted rows of value 20; the rows left are ${showRows(final)}`,
    };
  },
});

const readWriteSkew = probeCase({
  id: 'read-write-skew',
  anomaly: 'read-write-skew',
  title: 'Read-write skew',
  argument: 'T1 read row 1 from before T2, yet its write of row 2 stands after T2’s.',
  origin: 'IsoRel, Adya G-single',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE id = 1
    T2: UPDATE test SET value = 12 WHERE id = 1
    T2: UPDATE test SET value = 22 WHERE id = 2
    T2: COMMIT
    T1: UPDATE test SET value = 21 WHERE id = 2
    T1: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const row1 = seen.rows('T1').get(1);
    const final = seen.rows('after');
    return {
      happened: row1 === 10 && final.get(1) === 12 && final.get(2) === 21,
      why: `T1 read row 1 as ${row1}, T2 wrote 12 and 22, T1 wrote row 2 = 21; the rows are ${showRows(final)}`,
    };
  },
});

const longFork = probeCase({
  id: 'G-nonadjacent',
  anomaly: 'G-nonadjacent',
  title: 'Long fork',
  argument: 'T3 saw T1 but not T2, T4 saw T2 but not T1: no order of T1 and T2 fits both.',
  origin: 'Elle G-nonadjacent, long fork',
  script: `
    T1: BEGIN
    T2: BEGIN
    T3: BEGIN
    T4: BEGIN
    T4: SELECT id, value FROM test WHERE id = 1
    T1: UPDATE test SET value = 11 WHERE id = 1
    T1: COMMIT
    T3: SELECT id, value FROM test WHERE id = 1
    T3: SELECT id, value FROM test WHERE id = 2
    T2: UPDATE test SET value = 22 WHERE id = 2
    T2: COMMIT
    T4: SELECT id, value FROM test WHERE id = 2
    T3: COMMIT
    T4: COMMIT
  `,
  evidence: (seen) => {
    const three = [seen.rows('T3', 1).get(1), seen.rows('T3', 2).get(2)];
    const four = [seen.rows('T4', 1).get(1), seen.rows('T4', 2).get(2)];
    return {
      happened: three[0] === 11 && three[1] === 20 && four[0] === 10 && four[1] === 22,
      why: `T1 wrote row 1 = 11, T2 row 2 = 22; T3 saw (${three.join(', ')}), T4 saw (${four.join(', ')})`,
    };
  },
});

const writeSkew = probeCase({
  id: 'write-skew',
  anomaly: 'write-skew',
  title: 'Write skew (G2-item)',
  argument:
    'Each read both rows before the other’s write; the second in any serial order would have seen the first.',
  origin: 'Berenson A5B, Adya G2-item, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE id IN (1, 2)
    T2: SELECT id, value FROM test WHERE id IN (1, 2)
    T1: UPDATE test SET value = 11 WHERE id = 1
    T2: UPDATE test SET value = 21 WHERE id = 2
    T1: COMMIT
    T2: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const [one, two, final] = [seen.rows('T1'), seen.rows('T2'), seen.rows('after')];
    const fresh = [one, two].every((rows) => rows.get(1) === 10 && rows.get(2) === 20);
    return {
      happened: fresh && final.get(1) === 11 && final.get(2) === 21,
      why: `T1 read ${showRows(one)}, T2 read ${showRows(two)}; each changed one row: ${showRows(final)}`,
    };
  },
});

const readOnlyAnomaly = probeCase({
  id: 'G2-item-read-only',
  anomaly: 'G2-item',
  title: 'Read-only transaction anomaly',
  argument: 'T1 read before T2, T3 saw T2 but not T1’s write: T1, T2, T3 cannot be put in a row.',
  origin: 'Fekete, O’Neil, O’Neil 2004; Hermitage (G2, two edges)',
  script: `
    T1: BEGIN
    T1: SELECT id, value FROM test
    T2: BEGIN
    T2: UPDATE test SET value = value + 5 WHERE id = 2
    T2: COMMIT
    T3: BEGIN
    T3: SELECT id, value FROM test
    T3: COMMIT
    T1: UPDATE test SET value = 0 WHERE id = 1
    T1: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const [one, three, final] = [seen.rows('T1'), seen.rows('T3'), seen.rows('after')];
    return {
      happened: one.get(2) === 20 && three.get(1) === 10 && three.get(2) === 25 && final.get(1) === 0,
      why: `T1 read ${showRows(one)}, T2 added 5 to row 2, T3 read ${showRows(three)}, T1 set row 1 to 0: ${showRows(final)}`,
    };
  },
});

export const skewCases: readonly ProbeCase[] = [
  readSkew,
  gSinglePredicate,
  gSingleWrite,
  readWriteSkew,
  longFork,
  writeSkew,
  readOnlyAnomaly,
];
