export { type Clock, monotonicClock } from './clock.js';
export { type DatabaseLane, DatabaseLanes, type DatabaseLanesOptions } from './database-lanes.js';
export { runFree } from './free.js';
export { observerName, placeSessions } from './nodes.js';
export type { OperationSink } from './recorder.js';
export { historyHeader, type RunOptions } from './run.js';
export { runScheduled } from './scheduled.js';
export { type SessionLimits, type SessionPlace, SessionPool } from './session-pool.js';
