import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseScript } from '../cases/index.js';
import { findContract } from '../contracts/index.js';
import { runScheduled } from '../execute/index.js';
import { openTarget, type Target } from '../targets/index.js';
import { describePostgres } from '../targets/postgres/postgres-lab.case.js';
import { runPage } from './bug-page.js';

const script = `-- dialect: postgres
CREATE TABLE t (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 10), (2, 20);
T1: BEGIN;
T1: UPDATE t SET v = 11 WHERE id = 1;
T2: BEGIN;
T2: UPDATE t SET v = 12 WHERE id = 1;
T1: COMMIT;
T2: COMMIT;
`;

describePostgres('what a debugger shows of a run with waits', () => {
  let target: Target;
  beforeAll(async () => {
    target = await openTarget('postgres:');
  });
  afterAll(() => target?.close());

  it('says for whom and for which row a statement waits, until it is answered', async () => {
    const scheduled = parseScript(script, { file: 'case.sql' });
    const { schedule } = scheduled;
    const history = await runScheduled(
      await target.createScratch(),
      { case: scheduled.case, schedule: schedule! },
      { target, level: 'read committed' },
    );
    const { steps, entries, trace } = runPage(history, {
      witnesses: new Set(),
      finding: undefined,
      contract: findContract('postgres:read-committed'),
      scheduled: { case: scheduled.case, schedule: schedule! },
    });
    expect(trace).toHaveProperty('moments');
    expect(steps).toHaveLength(entries.length + 1);
    const sent = entries.findIndex(({ part }) => part === 'sent');
    const answered = entries.findIndex(({ part }) => part === 'answered');
    expect(entries[sent]).toMatchObject({ transaction: 'T2', sql: 'UPDATE t SET v = 12 WHERE id = 1' });
    expect(answered).toBeGreaterThan(sent);
    expect(steps[sent]!.waits).toEqual([]);
    expect(steps[sent + 1]!.waits).toEqual([{ transaction: 'T2', for: [{ object: 't/1', owner: 'T1' }] }]);
    expect(steps[answered + 1]!.waits).toEqual([]);
    // Each state is that after the last answer.
    const moments = 'moments' in trace ? trace.moments : [];
    expect(moments[steps[answered + 1]!.moment]!.after).toBe(entries[answered]!.operation);
  });
});
