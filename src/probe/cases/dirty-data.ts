/** Uncommitted data overwritten or read: what every level above READ UNCOMMITTED must exclude. */
import { type ProbeCase, probeCase } from '../probe-case.js';
import { showRows } from '../seen.js';

const G0 = probeCase({
  id: 'G0',
  anomaly: 'G0',
  title: 'Dirty write',
  argument: 'T1 and T2 each write both rows; in any serial order one of them wins both rows.',
  origin: 'Adya G0, Berenson P0',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = 11 WHERE id = 1
    T2: UPDATE test SET value = 12 WHERE id = 1
    T2: UPDATE test SET value = 22 WHERE id = 2
    T2: COMMIT
    T1: UPDATE test SET value = 21 WHERE id = 2
    T1: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const final = seen.rows('after');
    const mixed =
      (final.get(1) === 11 && final.get(2) === 22) || (final.get(1) === 12 && final.get(2) === 21);
    return {
      happened: mixed,
      why: mixed
        ? `both committed and the rows are ${showRows(final)}: one of T1, one of T2`
        : `both committed and the rows are ${showRows(final)}`,
    };
  },
});

const G1a = probeCase({
  id: 'G1a',
  anomaly: 'G1a',
  title: 'Aborted read',
  argument: 'T1 rolls back, so the value 101 never existed; a committed T2 must not have seen it.',
  origin: 'Adya G1a, Berenson P1, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = 101 WHERE id = 1
    T2: SELECT id, value FROM test
    T1: ROLLBACK
    T2: SELECT id, value FROM test
    T2: COMMIT
  `,
  evidence: (seen) => {
    const first = seen.rows('T2', 1).get(1);
    const second = seen.rows('T2', 2).get(1);
    const happened = first === 101 || second === 101;
    return { happened, why: `T1 rolled back its 101; T2 read row 1 as ${first}, then ${second}` };
  },
});

const G1b = probeCase({
  id: 'G1b',
  anomaly: 'G1b',
  title: 'Intermediate read',
  argument: 'T1 overwrites its own 101 with 11 before it commits; nobody else may see 101.',
  origin: 'Adya G1b, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = 101 WHERE id = 1
    T2: SELECT id, value FROM test
    T1: UPDATE test SET value = 11 WHERE id = 1
    T1: COMMIT
    T2: SELECT id, value FROM test
    T2: COMMIT
  `,
  evidence: (seen) => {
    const first = seen.rows('T2', 1).get(1);
    const second = seen.rows('T2', 2).get(1);
    const happened = first === 101 || second === 101;
    return { happened, why: `T1 committed 11 after an intermediate 101; T2 read ${first}, then ${second}` };
  },
});

const G1c = probeCase({
  id: 'G1c',
  anomaly: 'G1c',
  title: 'Circular information flow',
  argument: 'If T1 sees T2’s write it comes after T2, and the other way round; both cannot be.',
  origin: 'Adya G1c, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = 11 WHERE id = 1
    T2: UPDATE test SET value = 22 WHERE id = 2
    T1: SELECT id, value FROM test WHERE id = 2
    T2: SELECT id, value FROM test WHERE id = 1
    T1: COMMIT
    T2: COMMIT
  `,
  evidence: (seen) => {
    const row2 = seen.rows('T1').get(2);
    const row1 = seen.rows('T2').get(1);
    return {
      happened: row2 === 22 && row1 === 11,
      why: `T1 wrote row 1 = 11 and read row 2 as ${row2}; T2 wrote row 2 = 22 and read row 1 as ${row1}`,
    };
  },
});

const OTV = probeCase({
  id: 'OTV',
  anomaly: 'OTV',
  title: 'Observed transaction vanishes',
  argument: 'Once T3 has seen a transaction, later reads of T3 must not show rows from before it.',
  origin: 'Bailis et al. OTV, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T3: BEGIN
    T1: UPDATE test SET value = 11 WHERE id = 1
    T1: UPDATE test SET value = 19 WHERE id = 2
    T2: UPDATE test SET value = 12 WHERE id = 1
    T1: COMMIT
    T3: SELECT id, value FROM test WHERE id = 1
    T3: SELECT id, value FROM test WHERE id = 2
    T2: UPDATE test SET value = 18 WHERE id = 2
    T2: COMMIT
    T3: SELECT id, value FROM test WHERE id = 2
    T3: SELECT id, value FROM test WHERE id = 1
    T3: COMMIT
  `,
  evidence: (seen) => {
    const writer = new Map([
      [10, 0],
      [20, 0],
      [11, 1],
      [19, 1],
      [12, 2],
      [18, 2],
    ]);
    const values = [1, 2, 3, 4].map((nth) => [...seen.rows('T3', nth).values()][0] ?? Number.NaN);
    const writers = values.map((value) => writer.get(value) ?? -1);
    const happened = writers.some((w, i) => w >= 0 && w < Math.max(0, ...writers.slice(0, i)));
    const [a, b, c, d] = values;
    return {
      happened,
      why: `T1 wrote 11 and 19, then T2 wrote 12 and 18; T3 read row 1 as ${a}, row 2 as ${b} and ${c}, row 1 as ${d}`,
    };
  },
});

export const dirtyDataCases: readonly ProbeCase[] = [G0, G1a, G1b, G1c, OTV];
