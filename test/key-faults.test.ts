/**
 * Faults of keys, failures, waits, indexes and certifiers on real engines: each changes its case in the way described, nothing while
 * armed but not triggered, and is found with the clause it breaks. The faults of isolation alone are in `faults.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript } from '../src/cases/index.js';
import type { Level } from '../src/contracts/index.js';
import type { History } from '../src/histories/index.js';
import { runAndJudge } from '../src/judge/index.js';
import {
  type FaultName,
  faultNames,
  openTarget,
  parseFault,
  type Target,
  withFault,
} from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { faultCases } from './fault-cases.js';

interface Case {
  readonly fault: FaultName;
  readonly trigger?: string;
  readonly level: Level;
  readonly script: string;
  /** The rows of the last read of T2, or of `after`. */
  readonly healthy: readonly (readonly unknown[])[];
  readonly faulty: readonly (readonly unknown[])[];
  /** Who finds it, and as what. */
  readonly found: readonly [oracle: 'mechanism' | 'dependency-graph', kind: string];
}

const rows = 'CREATE TABLE f (id INT PRIMARY KEY, v INT); INSERT INTO f VALUES (1, 10), (2, 20);';

const cases: readonly Case[] = [
  {
    fault: 'duplicate-key-accepted',
    level: 'repeatable read',
    script: `${rows}
      T1: BEGIN
      T1: INSERT INTO f VALUES (3, 30)
      T1: COMMIT
      T2: INSERT INTO f VALUES (3, 31)
      after: SELECT * FROM f WHERE id = 3`,
    healthy: [[3, 30]],
    faulty: [
      [3, 30],
      [3, 31],
    ],
    found: ['mechanism', 'double-insert'],
  },
  {
    fault: 'key-of-uncommitted-delete',
    level: 'repeatable read',
    script: `${rows}
      T1: BEGIN
      T1: DELETE FROM f WHERE id = 1
      T2: INSERT INTO f VALUES (1, 11)
      T1: ROLLBACK
      after: SELECT * FROM f WHERE id = 1`,
    healthy: [[1, 10]],
    faulty: [
      [1, 10],
      [1, 11],
    ],
    found: ['mechanism', 'duplicate-key'],
  },
  {
    fault: 'automatic-key-reused',
    level: 'repeatable read',
    script: `CREATE TABLE f (v INT, id AUTOMATIC PRIMARY KEY); INSERT INTO f (v) VALUES (10);
      T1: INSERT INTO f (v) VALUES (11)
      after: SELECT id, v FROM f ORDER BY v`,
    healthy: [
      [1, 10],
      [2, 11],
    ],
    faulty: [
      [1, 10],
      [1, 11],
    ],
    found: ['mechanism', 'duplicate-key'],
  },
  {
    fault: 'failure-ends-transaction',
    level: 'repeatable read',
    script: `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 11 WHERE id = 1
      T1: INSERT INTO f VALUES (2, 0)
      T1: UPDATE f SET v = 21 WHERE id = 2
      T1: SELECT * FROM f
      T1: ROLLBACK
      T1: SELECT * FROM f`,
    healthy: [
      [1, 10],
      [2, 20],
    ],
    faulty: [
      [1, 10],
      [2, 20],
    ],
    found: ['mechanism', 'own-write-missed'],
  },
  {
    fault: 'stale-reevaluation',
    level: 'read committed',
    script: `${rows}
      T1: BEGIN
      T1: UPDATE f SET v = 50 WHERE id = 1
      T2: UPDATE f SET v = v + 1 WHERE id = 1
      T1: COMMIT
      after: SELECT * FROM f`,
    healthy: [
      [1, 51],
      [2, 20],
    ],
    faulty: [
      [1, 11],
      [2, 20],
    ],
    found: ['dependency-graph', 'lost-write'],
  },
  {
    fault: 'index-past-snapshot',
    level: 'repeatable read',
    script: `${rows}
      T2: BEGIN
      T2: SELECT v FROM f WHERE id = 2
      T1: UPDATE f SET v = 11 WHERE id = 1
      T2: SELECT id, v FROM f WHERE id = 1
      T2: COMMIT`,
    healthy: [[1, 10]],
    faulty: [[1, 11]],
    found: ['mechanism', 'post-snapshot-read'],
  },
];

it('leave no fault without a case', () => {
  const own: FaultName[] = [...cases.map(({ fault }) => fault), 'missed-certification'];
  expect([...faultCases.map(({ fault }) => fault), ...own].toSorted()).toEqual([...faultNames].toSorted());
});

const engines = [
  { url: 'postgres:', automatic: 'SERIAL', missing: postgresAvailable() },
  { url: 'mariadb:', automatic: 'INT AUTO_INCREMENT', missing: mariadbAvailable() },
];

for (const { url, automatic, missing } of engines) {
  const skip = missing !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';
  describe.skipIf(skip)(`faults in ${url}${skip ? ` (${missing})` : ''}`, () => {
    let target: Target;
    beforeAll(async () => {
      target = await openTarget(url);
    });
    afterAll(() => target?.close());

    const judge = async (fault: string | undefined, { script, level, found }: Case) => {
      const place = fault === undefined ? target : withFault(target, parseFault(fault));
      const scratch = await place.createScratch();
      const text = script.replace('AUTOMATIC', automatic);
      const scheduled = parseScript(text, { file: 'case.sql', dialect: target.dialect });
      try {
        return await runAndJudge({ ...scheduled, oracle: found[0], level }, { target: place, scratch });
      } finally {
        await scratch.drop();
      }
    };

    it.each(cases)('$fault', async (entry) => {
      const { fault, healthy, faulty, found } = entry;
      const right = await judge(undefined, entry);
      expect(lastRead(right.history)).toEqual(healthy);
      expect(right.findings).toEqual([]);
      const idle = await judge(`${fault}(nth=1000000)`, entry);
      expect(lastRead(idle.history)).toEqual(healthy);
      const wrong = await judge(fault, entry);
      if (fault !== 'failure-ends-transaction') expect(lastRead(wrong.history)).toEqual(faulty);
      expect(wrong.findings.map(({ kind }) => kind)).toContain(found[1]);
    });
  });
}

function lastRead({ operations }: History): unknown {
  const rowsOf = operations.findLast(({ kind, outcome }) => kind === 'select' && outcome === 'ok')?.rows;
  return rowsOf?.map((row) => row.slice(0, 2)).toSorted();
}

describe('a certifier that misses one of a thousand', () => {
  const skip = postgresAvailable() !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';
  it.skipIf(skip)('lets a write skew pass when it is told to miss every one', async () => {
    const target = await openTarget('postgres:');
    const skew = parseScript(
      `${rows}
      T1: BEGIN
      T2: BEGIN
      T1: SELECT * FROM f
      T2: SELECT * FROM f
      T1: UPDATE f SET v = 0 WHERE id = 1
      T2: UPDATE f SET v = 0 WHERE id = 2
      T1: COMMIT
      T2: COMMIT`,
      { file: 'skew.sql', dialect: 'postgres' },
    );
    const commits = async (place: Target) => {
      const scratch = await place.createScratch();
      const request = { ...skew, oracle: 'mechanism', level: 'serializable' } as const;
      const { history } = await runAndJudge(request, { target: place, scratch });
      await scratch.drop();
      return history.operations.filter(({ ends }) => ends === 'commit').length;
    };
    try {
      expect(await commits(target)).toBe(1);
      expect(await commits(withFault(target, parseFault('missed-certification')))).toBe(1);
      expect(await commits(withFault(target, parseFault('missed-certification(every=1)')))).toBe(2);
    } finally {
      await target.close();
    }
  });
});
