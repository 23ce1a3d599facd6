/** What the evaluator knows of `@>` is what PostgreSQL answers. */
import { describe, expect, it } from 'vitest';
import { containments } from '../src/sql/evaluate/containment.case.js';
import { openTarget } from '../src/targets/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { enginesRequired } from './isolde.js';

const missing = postgresAvailable();

describe.skipIf(missing !== undefined && !enginesRequired)('PostgreSQL', () => {
  it('answers conditions with @> as the evaluator does', async () => {
    const target = await openTarget('postgres:');
    try {
      const scratch = await target.createScratch();
      const limits = { level: target.defaultLevel, lockTimeoutMs: 5000, statementTimeoutMs: 10_000 };
      const session = await scratch.openSession(limits);
      const { rows } = await session.execute(`SELECT ${containments.map(([sql]) => sql).join(', ')}`);
      expect(rows).toEqual([containments.map(([, answer]) => answer)]);
      await session.close();
      await scratch.drop();
    } finally {
      await target.close();
    }
  });
});
