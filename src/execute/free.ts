/**
 * The free executor: every session runs its statements as fast as the database answers, with no order between
 * sessions. This is where raw histories come from: intervals overlap as they do in production.
 */
import type { Case } from '../cases/index.js';
import type { History } from '../histories/index.js';
import type { Scratch } from '../targets/index.js';
import type { Lane } from './lane.js';
import { type RunOptions, runCase } from './run.js';

/** Runs a case freely and returns what happened. Database errors are in the history, never thrown. */
export function runFree(scratch: Scratch, program: Case, options: RunOptions): Promise<History> {
  return runCase(scratch, program, options, async ({ lanes, stopped }) => {
    const failures: unknown[] = [];
    const runLane = async (lane: Lane) => {
      for (;;) {
        if (stopped() || failures.length > 0) return;
        const statement = lane.next();
        if (statement === undefined) return;
        await lane.send(statement);
      }
    };
    // One lane that cannot write its history stops the others at their next statement, so that every session
    // has come to rest when the error is thrown.
    await Promise.all(lanes.map((lane) => runLane(lane).catch((error) => failures.push(error))));
    if (failures.length > 0) throw failures[0];
  });
}
