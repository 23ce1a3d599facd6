/** A bug and reports to ask experts about, for tests: one report is of the same bug, and says so by `phrase`. */
import { story } from '../check/mechanism/story.case.js';
import type { Candidate, KnownAnswer, KnownBug, Repository } from '../known/index.js';
import { encode } from '../known/index.js';
import type { Bug } from '../report/index.js';

export const phrase = 'sets the value that is there already';

export const askedBug: Pick<Bug, 'case' | 'history' | 'contract' | 'target' | 'level'> = {
  level: 'repeatable read',
  contract: 'mariadb:repeatable-read',
  target: { name: 'mariadb', version: '10.11.1' },
  case: {
    name: 'no-op',
    setup: ['CREATE TABLE t (id INT PRIMARY KEY, v INT)', 'INSERT INTO t VALUES (1, 10), (2, 20)'],
    sessions: [
      {
        name: 'T1',
        statements: [
          'BEGIN',
          'SELECT id, v FROM t',
          'UPDATE t SET v = 11 WHERE id = 1',
          'SELECT id, v FROM t',
          'COMMIT',
        ],
      },
      { name: 'T2', statements: ['UPDATE t SET v = 11 WHERE id = 1'] },
    ],
  },
  history: story(
    `
    T1: BEGIN
    T1: SELECT id, v FROM t -> 1,10 | 2,20
    T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T1: SELECT id, v FROM t -> 1,10 | 2,20
    T1: COMMIT
    `,
    { dialect: 'mysql' },
  ),
};

export function report(i: number, about: string): KnownBug {
  const features = { levels: [], mode: 'unspecified', has: [] } as const;
  return {
    ...{
      id: `mysql-9${i}`,
      name: `MySQL #9${i}`,
      engine: 'mysql',
      url: `https://bugs.mysql.com/bug.php?id=9${i}`,
    },
    ...{ status: 'open', symptom: 'wrong-read', about, affected: [], fixed: [], features },
    ...{ vector: encode('mysql', features), from: 'own' },
  };
}

/** `known`: whether the report of the bug is among them. */
export function askAbout(
  count: number,
  { known = true, ran = 0 }: { known?: boolean; ran?: number } = {},
): { answer: KnownAnswer; repository: Repository } {
  const bugs = Array.from({ length: count }, (_, i) =>
    report(
      i,
      known && i === count - 1
        ? `A transaction ${phrase} (see MySQL #9${i})`
        : `Something else happens, number ${i}`,
    ),
  );
  const candidates = bugs.map(
    ({ id, name }, i): Candidate => ({
      ...{ id, name, why: '', likeness: 1 - i / 100, match: i < ran ? 'different' : 'no-case' },
    }),
  );
  return {
    answer: { verdict: 'undecided', reports: [], why: 'compared', candidates, vector: new Map() },
    repository: { bugs, problems: [], weights: new Map() },
  };
}
