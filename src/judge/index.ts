export {
  type ContractChoice,
  contractAt,
  usualChoice,
  vendorContract,
  vendorContractAt,
} from './contract-choice.js';
export { Database, type Observe, type Observed } from './database.js';
export { type Asked, type Look, type LookPlace, lookAtCase, mostFreeRuns } from './look-at-case.js';
export { type RunCaseOptions, run } from './run.js';
export { type RunPlace, type RunRequest, runAndJudge, runAndJudgeBy } from './run-and-judge.js';
