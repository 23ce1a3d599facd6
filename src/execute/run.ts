/** What both executors share: opening the lanes of a run, watching over them, closing the run. */
import type { Case } from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import type { History, HistoryHeader } from '../histories/index.js';
import type { Scratch, Target } from '../targets/index.js';
import { type Clock, monotonicClock } from './clock.js';
import { Lane } from './lane.js';
import { observerName } from './nodes.js';
import { type PreparedSession, prepareCase } from './prepare.js';
import { type OperationSink, Recorder } from './recorder.js';
import { SessionPool } from './session-pool.js';

export interface RunOptions {
  readonly target: Target;
  /** Used by sessions for which the case names no level; default: the target's default level. */
  readonly level?: Level;
  readonly clock?: Clock;
  /** Default 10 s. Not used when `sessions` is given: a pool has its own. */
  readonly statementTimeoutMs?: number;
  /** Default 5 s. */
  readonly lockTimeoutMs?: number;
  /** Connections to reuse; without it the run opens its own and closes them. */
  readonly sessions?: SessionPool;
  /** Gets every operation as it is recorded; the history returned then holds none. */
  readonly sink?: OperationSink;
  /** Stops the run early: nothing more is sent, what is in flight is cancelled, the history so far is kept. */
  readonly signal?: AbortSignal;
  /**
   * Queries that an extra session, `observer`, runs before the first statement and after the last one: the
   * state before and after, as ordinary operations of the history.
   */
  readonly observe?: readonly string[];
  /** Fields for the history's header. */
  readonly header?: Partial<Pick<HistoryHeader, 'seed' | 'replay'>>;
}

/** A run in progress. */
export interface Run {
  readonly lanes: readonly Lane[];
  readonly recorder: Recorder;
  readonly stopped: () => boolean;
}

/** How long the nodes of a cluster may take until they show the same. */
const lookBackLimitMs = 10_000;
/** How long a statement may stay unanswered past the database's own time-outs before we cancel, then give up. */
const graceMs = 2_000;

/** Resets the scratch, opens the lanes, lets `drive` run them, ends open transactions and returns the history. */
export async function runCase(
  scratch: Scratch,
  program: Case,
  options: RunOptions,
  drive: (run: Run) => Promise<void>,
): Promise<History> {
  const { target, signal } = options;
  const observe = options.observe ?? [];
  const prepared = preparedSessions(program, options);
  const pool =
    options.sessions ??
    new SessionPool(scratch, {
      statementTimeoutMs: options.statementTimeoutMs ?? 10_000,
      lockTimeoutMs: options.lockTimeoutMs ?? 5_000,
    });
  try {
    await scratch.reset(program.setup);
    const sessions = await pool.take(prepared);
    const clock = options.clock ?? monotonicClock();
    const recorder = new Recorder(target.dialect, options.sink);
    const lanes = sessions.map(
      (session, i) => new Lane({ number: i, prepared: prepared[i]!, session, recorder, clock }),
    );
    const observer = observe.length === 0 ? undefined : lanes.at(-1);
    const driven = observer === undefined ? lanes : lanes.slice(0, -1);
    const look = async () => {
      for (const sql of observe) if (observer?.lost === false) await observer.send({ sql, kind: 'select' });
    };
    const unwatch = watch(lanes, clock, pool.limits, signal);
    try {
      await look();
      await drive({ lanes: driven, recorder, stopped: () => signal?.aborted === true });
      await Promise.all(lanes.map((lane) => lane.endOpenTransaction()));
      // Who looks back must see what every node has committed.
      if (observer !== undefined) await scratch.catchUp?.(lookBackLimitMs);
      await look();
    } finally {
      unwatch();
      await Promise.all(lanes.map((lane) => giveBack(lane, pool)));
    }
    return { header: historyHeader(program, options), operations: recorder.operations };
  } finally {
    if (pool !== options.sessions) await pool.close();
  }
}

/** Into the pool, if the next run can have its session as if it were new. */
async function giveBack(lane: Lane, pool: SessionPool): Promise<void> {
  const { session } = lane;
  const usable = !lane.lost && lane.transaction < 0 && lane.sentAt === undefined;
  if (usable && (!lane.altered || (await session.renew?.()) === true))
    await pool.give(lane.prepared, session);
  else await session.close();
}

/** The sessions of the case, and the observer if there is one. */
function preparedSessions(
  program: Case,
  options: Pick<RunOptions, 'target' | 'level' | 'observe'>,
): PreparedSession[] {
  const prepared = prepareCase(program, options.target, options.level);
  if (options.observe === undefined || options.observe.length === 0) return prepared;
  const { nodes, defaultLevel } = options.target;
  const node = nodes?.[0]?.name;
  return [
    ...prepared,
    { name: observerName, level: defaultLevel, statements: [], ...(node !== undefined && { node }) },
  ];
}

/** The header a run of this case gets; also needed before the run, to open a history file. */
export function historyHeader(
  program: Case,
  options: Pick<RunOptions, 'target' | 'level' | 'observe' | 'header'>,
): HistoryHeader {
  const { target } = options;
  const sessions = preparedSessions(program, options);
  const level = program.level ?? options.level ?? target.defaultLevel;
  const others = sessions.flatMap((session, i) =>
    session.level === level ? [] : [[String(i), session.level] as const],
  );
  return {
    sessions: sessions.map((session) => session.name),
    ...(target.nodes && { nodes: sessions.map(({ node }) => node ?? target.nodes![0]!.name) }),
    target: target.stamp,
    level,
    ...(others.length === 0 ? undefined : { sessionLevels: Object.fromEntries(others) }),
    dialect: target.dialect,
    setup: program.setup,
    case: program.name,
    ...options.header,
  };
}

/**
 * The watchdog: a database that ignores its own time-outs, or a connection that died without a word, must not
 * hang a run. Past statement and lock time-outs the statement is cancelled, and if that does not help its
 * session is given up.
 */
function watch(
  lanes: readonly Lane[],
  clock: Clock,
  limits: SessionPool['limits'],
  signal: AbortSignal | undefined,
): () => void {
  const cancelled = new WeakMap<Lane, number>();
  const patienceMs = limits.statementTimeoutMs + limits.lockTimeoutMs + graceMs;
  const look = () => {
    for (const lane of lanes) {
      if (lane.sentAt === undefined) continue;
      const waitedMs = (clock() - lane.sentAt) / 1e6;
      const limitMs = signal?.aborted === true ? 0 : patienceMs;
      if (waitedMs < limitMs) continue;
      if (cancelled.get(lane) !== lane.sentAt) {
        cancelled.set(lane, lane.sentAt);
        void lane.session.cancel().catch(() => undefined);
      } else if (waitedMs > limitMs + graceMs) lane.giveUp();
    }
  };
  const timer = setInterval(look, 250);
  signal?.addEventListener('abort', look);
  return () => {
    clearInterval(timer);
    signal?.removeEventListener('abort', look);
  };
}
