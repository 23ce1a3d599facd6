/** Updates that were committed and are gone. */
import { type ProbeCase, plainTable, probeCase } from '../probe-case.js';
import { showRows } from '../seen.js';

const lostUpdate = probeCase({
  id: 'lost-update',
  anomaly: 'lost-update',
  title: 'Lost update',
  argument:
    'Both read 10 and write a row computed from it; the second in any serial order would have read the first’s value.',
  origin: 'Berenson P4, Hermitage',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test WHERE id = 1
    T2: SELECT id, value FROM test WHERE id = 1
    T1: UPDATE test SET value = 11 WHERE id = 1
    T2: UPDATE test SET value = 12 WHERE id = 1
    T1: COMMIT
    T2: COMMIT
    after: SELECT id, value FROM test WHERE id = 1
  `,
  evidence: (seen) => {
    const [one, two, final] = [seen.rows('T1').get(1), seen.rows('T2').get(1), seen.rows('after').get(1)];
    return {
      happened: one === 10 && two === 10 && (final === 11 || final === 12),
      why: `T1 read ${one} and wrote 11, T2 read ${two} and wrote 12, both committed; the row is ${final}`,
    };
  },
});

const byExpression = probeCase({
  id: 'lost-update-expression',
  anomaly: 'lost-update-expression',
  title: 'Lost update by expression',
  argument: 'Adding 5 and adding 7 to 10 gives 22 in either order.',
  origin: 'Berenson P4 inside one statement',
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: UPDATE test SET value = value + 5 WHERE id = 1
    T2: UPDATE test SET value = value + 7 WHERE id = 1
    T1: COMMIT
    T2: COMMIT
    after: SELECT id, value FROM test WHERE id = 1
  `,
  evidence: (seen) => {
    const final = seen.rows('after').get(1);
    return { happened: final !== 22, why: `10 + 5 + 7 came to ${final}` };
  },
});

const updateOfDeleted = probeCase({
  id: 'lost-update-deleted-row',
  anomaly: 'lost-update',
  title: 'Update of a row that is gone',
  argument:
    'Both read row 1 as 10, T1 deletes it, T2 updates it; the second in any serial order reads no row, or 55.',
  origin: 'Berenson P4 with a DELETE as first write, DuckDB #17223',
  setup: plainTable,
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test
    T2: SELECT id, value FROM test
    T1: DELETE FROM test WHERE id = 1
    T1: COMMIT
    T2: UPDATE test SET value = 55 WHERE id = 1
    T2: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const [one, two] = [seen.rows('T1').get(1), seen.rows('T2').get(1)];
    const [deleted, updated] = [seen.count('T1'), seen.count('T2')];
    const final = showRows(seen.rows('after'));
    return {
      happened: one === 10 && two === 10 && deleted > 0 && updated > 0,
      why: `T1 read ${one} and deleted ${deleted} row, T2 read ${two} and updated ${updated} row, both committed; the rows are ${final}`,
    };
  },
});

const deleteOfUpdated = probeCase({
  id: 'lost-update-by-delete',
  anomaly: 'lost-update',
  title: 'Update lost to a delete',
  argument:
    'Both read row 1 as 10, T1 updates it, T2 deletes it; the second in any serial order reads 55, or no row.',
  origin: 'Berenson P4 with a DELETE as second write',
  setup: plainTable,
  script: `
    T1: BEGIN
    T2: BEGIN
    T1: SELECT id, value FROM test
    T2: SELECT id, value FROM test
    T1: UPDATE test SET value = 55 WHERE id = 1
    T1: COMMIT
    T2: DELETE FROM test WHERE id = 1
    T2: COMMIT
    after: SELECT id, value FROM test
  `,
  evidence: (seen) => {
    const [one, two] = [seen.rows('T1').get(1), seen.rows('T2').get(1)];
    const [updated, deleted] = [seen.count('T1'), seen.count('T2')];
    const final = showRows(seen.rows('after'));
    return {
      happened: one === 10 && two === 10 && updated > 0 && deleted > 0,
      why: `T1 read ${one} and updated ${updated} row, T2 read ${two} and deleted ${deleted} row, both committed; the rows are ${final}`,
    };
  },
});

export const lostUpdateCases: readonly ProbeCase[] = [
  lostUpdate,
  byExpression,
  updateOfDeleted,
  deleteOfUpdated,
];
