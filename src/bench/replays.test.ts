/** Short forms of `npm run bench replays`: what diverges diverges at a statement of which the inference said so beforehand. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hsqldbAvailable } from '../targets/hsqldb/index.js';
import { mariadbAvailable } from '../targets/mariadb/index.js';
import { mysqlAvailable } from '../targets/mysql/index.js';
import { postgresAvailable } from '../targets/postgres/index.js';
import { withSection } from './page-section.js';
import { ReplayLab, replayEngines } from './replays.js';
import { replaysTable, shareWanted } from './replays-page.js';

/**
 * What the inference may have said of a statement where a replay diverges; `unexplained`: the engine broke its contract there; `left out`: a
 * deadlock's victim, which is not sent again, was about. Not listed: no replay may diverge.
 */
const mayDiverge: Readonly<Record<string, readonly string[]>> = {
  // A COMMIT that failed keeps others out until the client rolls it back, which a replay does at once.
  'SQLite, rollback journal': ['opponent', 'left out'],
  // It updates rows that others have deleted (duckdb #17223), and then shows some of them twice.
  DuckDB: ['unexplained'],
  'PostgreSQL READ COMMITTED': ['turn', 'moment', 'left out'],
  'PostgreSQL REPEATABLE READ': ['turn', 'moment', 'opponent', 'left out'],
  'PostgreSQL SERIALIZABLE': ['order'],
  'MariaDB READ COMMITTED': ['moment', 'left out'],
  'MariaDB REPEATABLE READ': ['order'],
  'MariaDB SERIALIZABLE': ['order'],
  'MySQL READ COMMITTED': ['moment', 'left out'],
  'MySQL REPEATABLE READ': ['order', 'left out'],
  'MySQL SERIALIZABLE': ['order', 'left out'],
};

const seeds = 6;
const mostReplays = 60;

const required = process.env.ISOLDE_REQUIRE_ENGINES === '1';
/** Why there is no such engine; not listed: it comes with the packages. */
const lacking: Readonly<Record<string, string | undefined>> = {
  'postgres:': required ? undefined : postgresAvailable(),
  'mariadb:': required ? undefined : mariadbAvailable(),
  'mysql:': mysqlAvailable(),
  'hsqldb:': hsqldbAvailable(),
};
/** Where most histories come back, of engines that most machines have. The others are measured only. */
const tested = replayEngines.filter(
  ({ url, level }) =>
    /^(sqlite|turso|duckdb|mariadb|postgres|mysql|hsqldb):(?!\?(engine|tx))/.test(url) &&
    level !== 'read uncommitted',
);

describe.each(tested)('replay on $title', (engine) => {
  const missing = lacking[engine.url];
  let lab: ReplayLab;
  beforeAll(async () => {
    if (missing === undefined) lab = await ReplayLab.open(engine);
  }, 60_000);
  afterAll(() => lab?.close());

  it.skipIf(missing !== undefined)(
    `random histories replay by batch to the same results${missing === undefined ? '' : ` (${missing})`}`,
    async () => {
      const allowed = mayDiverge[engine.title];
      let diverged = 0;
      /** How a replay diverges though nothing of that was said beforehand. */
      const tryOnce = async (seed: number): Promise<string | undefined> => {
        const { difference, named } = await lab.replay(seed, await lab.run(seed), mostReplays);
        if (difference === undefined) return undefined;
        if (allowed?.some((what) => named.includes(what)) === true) {
          diverged++;
          return undefined;
        }
        const { session, sql, was, is } = difference;
        return `seed ${seed}: ${session}: ${sql}: was ${was}, is ${is} (named: ${named.join(', ')})`;
      };
      const unexpected: string[] = [];
      for (let seed = 1; seed <= seeds; seed++) {
        const problem = await tryOnce(seed);
        if (problem === undefined) continue;
        // A free run never comes back: one in some hundred may be odd, two of a seed are a fault.
        console.info(`${engine.title}: ${problem}`);
        if (allowed === undefined || (await tryOnce(seed)) !== undefined) unexpected.push(problem);
      }
      expect(unexpected).toEqual([]);
      // With few seeds one or two prove nothing.
      expect(diverged).toBeLessThanOrEqual(2);
    },
    120_000,
  );
});

describe('the table of replays', () => {
  it('has the rows measured now beside those measured before', () => {
    const row = { title: 'SQLite', atOnce: 7, learnt: 2, named: 1, of: 10 };
    const page = 'a\n<!-- replays -->\n<!-- end of replays -->\nb\n';
    const once = withSection(page, 'replays', replaysTable(page, [row, { ...row, title: 'DuckDB' }]));
    const twice = withSection(once, 'replays', replaysTable(once, [{ ...row, atOnce: 8, named: 0 }]));
    expect(twice.split('\n').slice(2)).toEqual([
      '| | at once | after learning | not | of these named | histories |',
      '|---|---|---|---|---|---|',
      '| SQLite | 8 | 2 | 0 | 0 | 10 |',
      '| DuckDB | 7 | 2 | 1 | 1 | 10 |',
      '<!-- end of replays -->',
      'b',
      '',
    ]);
    expect(replayEngines.map(shareWanted).filter((share) => share === 0.99)).toHaveLength(1);
  });
});
