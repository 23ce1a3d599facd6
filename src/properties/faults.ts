/** Carries out faults. What is done to sessions themselves (closing, opening again) is the runner's. */
import { errorText } from '../errors.js';
import type { Scratch, Session, Target } from '../targets/index.js';
import type { FaultKind } from './fault-kinds.js';

export type FaultDone =
  | { readonly kind: 'done' }
  /** This target cannot be given such a fault, or refused it for a reason that is no bug. */
  | { readonly kind: 'not-possible' }
  /** The database did not come back. */
  | { readonly kind: 'failed'; readonly why: string };

const done: FaultDone = { kind: 'done' };
const notPossible: FaultDone = { kind: 'not-possible' };

/** How an engine is asked to move what it has written, by dialect. */
const maintenance: Readonly<Record<'checkpoint' | 'vacuum', Readonly<Record<string, string>>>> = {
  checkpoint: { sqlite: 'PRAGMA wal_checkpoint(TRUNCATE)', duckdb: 'CHECKPOINT', postgres: 'CHECKPOINT' },
  vacuum: { sqlite: 'VACUUM', duckdb: 'VACUUM', postgres: 'VACUUM' },
};

export async function performFault(
  fault: FaultKind,
  place: { readonly target: Target; readonly scratch: Scratch },
  session: () => Promise<Session>,
): Promise<FaultDone> {
  switch (fault) {
    case 'reconnect':
    case 'reconnect-all':
    case 'cancel':
    case 'write-error':
      return done;
    case 'checkpoint':
    case 'vacuum': {
      const sql = maintenance[fault][place.target.dialect];
      if (sql === undefined) return notPossible;
      const { error } = await (await session()).execute(sql);
      if (error === undefined) return done;
      return error.class === 'crash' || error.class === 'connection-lost'
        ? { kind: 'failed', why: error.message }
        : notPossible;
    }
    case 'reopen':
      return attempt(place.scratch.reopen?.bind(place.scratch));
    case 'kill':
      return attempt(place.target.kill?.bind(place.target));
    default:
      return fault satisfies never;
  }
}

async function attempt(work: (() => Promise<void>) | undefined): Promise<FaultDone> {
  if (work === undefined) return notPossible;
  try {
    await work();
    return done;
  } catch (thrown) {
    return { kind: 'failed', why: errorText(thrown) };
  }
}
