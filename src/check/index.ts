export { type CheckOptions, type CheckResult, checkKv, type LevelStatus } from './check-kv.js';
export { cyclicComponents } from './components.js';
export type { FamilyCycle } from './cycle-search.js';
export { findCycles } from './cycles.js';
export { findingsToDot } from './dot.js';
export { describeTransactions, explainCycle } from './explain.js';
export { fallsUnder } from './falls-under.js';
export type { Family, OrderUsed } from './families.js';
export type {
  Certainty,
  CycleAnomaly,
  CycleEdge,
  EdgeName,
  Finding,
  FindingOperation,
  FindingTransaction,
  GraphAnomaly,
  OracleName,
  ReadAnomaly,
  VersionSeen,
} from './finding.js';
export {
  allMask,
  buildGraph,
  copyEdges,
  EdgeList,
  edgeNames,
  type Graph,
  kindMask,
  predicateRw,
  realTime,
  rw,
  sessionOrder,
  wr,
  ww,
} from './graph.js';
export { findingIdentity, focusFinding } from './identity.js';
export {
  checkInstrumented,
  type Dependencies,
  type Instrumented,
  type InstrumentedCheck,
  type InstrumentedCheckOptions,
  type InstrumentOptions,
  inferDependencies,
  instrumentCase,
  type StrippedHistory,
  stripResults,
} from './instrument/index.js';
export {
  baseOf,
  type CheckLevel,
  checkLevels,
  implies,
  levelUnder,
  orderOf,
  parseCheckLevel,
  ruledOut,
  strongestOf,
} from './levels.js';
export {
  type Checked,
  type ContractComparison,
  type MechanismResult,
  type SkippedReason,
  type VerifyOptions,
  verifyMechanism,
} from './mechanism/index.js';
export { cycleRulesOut, nameCycle } from './name-cycle.js';
export { addRealTimeOrder, addSessionOrder } from './real-time.js';
export { type FindingInRun, sharperFinding } from './sharper-finding.js';
export { findingToSvg } from './svg.js';
