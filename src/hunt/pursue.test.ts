import { expect, it } from 'vitest';
import { findContract } from '../contracts/index.js';
import { probeCases } from '../probe/index.js';
import { openTarget } from '../targets/index.js';
import { Database } from './database.js';
import { pursue } from './pursue.js';

it('a pursuit stopped in mid-reduction tells of a case, a finding and a run that belong together', async () => {
  const stop = new AbortController();
  const database = await Database.open({
    open: () => openTarget('duckdb:'),
    signal: stop.signal,
    onReopen: () => undefined,
  });
  try {
    const contract = findContract('duckdb:snapshot')!;
    const { case: program, schedule } = probeCases.find(({ id }) => id === 'lost-update-deleted-row')!;
    const trial = { case: program, schedule, mode: 'plain', level: 'snapshot', contract } as const;
    const observed = await database.observe(trial, 0);
    if (observed.kind !== 'ran') throw new Error(`the case did not run: ${observed.kind}`);
    const { history, findings } = observed;
    const finding = findings.find(({ kind }) => kind === 'update-of-changed-row')!;
    let runs = 0;
    const stopping = new Proxy(database, {
      get(real, name) {
        // The first confirms, the second and third are of the reduction.
        if (name === 'observe' && ++runs === 4) stop.abort();
        const member: unknown = Reflect.get(real, name, real);
        return typeof member === 'function' ? member.bind(real) : member;
      },
    });
    const outcome = await pursue(
      { trial, finding, history },
      { database: stopping, lane: 0, confirmRuns: 1, vendor: contract, signal: stop.signal },
    );
    if (outcome.kind !== 'bug') throw new Error(`it ended as ${outcome.kind}`);
    const { result, history: told } = outcome.bug;
    expect(result.minimal).toBe(false);
    const { sessions } = result.result.case;
    for (const { statement, sql, kind } of told.operations) {
      const [session, position] = statement!;
      const run = sessions[session]?.statements[position];
      // Engines begin transactions in words of their own.
      if (kind === 'begin') expect(run).toMatch(/^BEGIN/);
      else expect(run).toBe(sql);
    }
  } finally {
    await database.close();
  }
});
