export type { CheckAnswer } from './check-job.js';
export { enginesHere } from './engines-here.js';
export { fleetTables, roleScript } from './fleet-tables.js';
export {
  type CellSubject,
  type CheckJob,
  type HuntJob,
  type Job,
  type MatrixJob,
  parseJob,
  printJob,
  type ReduceJob,
} from './job.js';
export { keepRunning, type LocalServer, startLocalServer } from './local-server.js';
export { type CellAnswer, cellsOf } from './matrix-job.js';
export {
  type BatchLine,
  type BatchResults,
  batchLine,
  batchResults,
  type FleetStatus,
  fleetStatus,
  isOver,
  type JobStates,
  type LogLine,
  logLines,
} from './overview.js';
export { type JobOutcome, type Lease, type NewBatch, type NewJob, Queue } from './queue.js';
export type { ReducedAnswer } from './reduce-job.js';
export { type JobProblem, JobRunner, type JobRunnerOptions, type JobText } from './run-job.js';
export { ProcessSlot, serveSlot } from './slot-process.js';
export { checkJob, type HuntRequest, huntJobs, type MatrixRequest, matrixJobs, reduceJob } from './submit.js';
export { needOf, type TargetPolicy } from './target-policy.js';
export { type Slot, type WorkerOptions, type WorkerTally, work } from './worker.js';
