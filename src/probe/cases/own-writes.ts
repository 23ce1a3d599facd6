/** A transaction and its own writes. */
import { type ProbeCase, probeCase } from '../probe-case.js';
import { showRows } from '../seen.js';

/**
 * The UPDATE chooses every row in every state the table ever has, so its count is not needed: whatever T2 reads
 * afterwards must show 99. MySQL before 8 shows the bug only with a WHERE.
 */
const noOpUpdate = probeCase({
  id: 'own-write-no-op',
  anomaly: 'own-write-missed',
  title: 'Own no-op update not seen',
  argument: 'T2 set every row to 99 and must read 99, also if T1 had stored that value before.',
  origin: 'MySQL #113228, MDEV-26642',
  script: `
    T1: BEGIN
    T2: BEGIN
    T2: SELECT id, value FROM test
    T1: UPDATE test SET value = 99 WHERE value > 0
    T1: COMMIT
    T2: UPDATE test SET value = 99 WHERE value > 0
    T2: SELECT id, value FROM test
    T2: COMMIT
  `,
  evidence: (seen) => {
    const rows = seen.rows('T2', 2);
    return {
      happened: [...rows.values()].some((value) => value !== 99),
      why: `T2 set every row to 99 and then read ${showRows(rows)}`,
    };
  },
});

const plainUpdate = probeCase({
  id: 'own-write',
  anomaly: 'own-write-missed',
  title: 'Own update not seen',
  argument: 'T1 set row 1 to 11 and inserted row 3; both must show in its next read.',
  origin: 'Adya, well-formed histories',
  script: `
    T1: BEGIN
    T1: SELECT id, value FROM test
    T1: UPDATE test SET value = 11 WHERE id = 1
    T1: INSERT INTO test (id, value) VALUES (3, 30)
    T1: SELECT id, value FROM test
    T1: COMMIT
  `,
  evidence: (seen) => {
    const rows = seen.rows('T1', 2);
    return {
      happened: rows.get(1) !== 11 || rows.get(3) !== 30,
      why: `T1 wrote (1, 11) and (3, 30) and then read ${showRows(rows)}`,
    };
  },
});

export const ownWriteCases: readonly ProbeCase[] = [plainUpdate, noOpUpdate];
