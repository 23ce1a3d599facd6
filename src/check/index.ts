export { parseAnomalySwitches } from './anomaly-switches.js';
export { type CheckableHistory, check } from './check.js';
export { type Demand, parseDemand } from './demand.js';
export { findingsToDot } from './dot.js';
export {
  describeTransactions,
  type Explained,
  type ExplanationStyle,
  explain,
  explainCycle,
  explainOrdered,
  explainSteps,
} from './explain.js';
export {
  type Phrase,
  type Piece,
  phrase,
  referencesOf,
  type Step,
  type StepReason,
  say,
  stepReasons,
} from './explanation.js';
export type {
  Certainty,
  CycleAnomaly,
  CycleEdge,
  EdgeName,
  Finding,
  FindingKind,
  FindingOperation,
  FindingTransaction,
  GraphAnomaly,
  OracleName,
  ReadAnomaly,
  VersionSeen,
} from './finding.js';
export { cyclicComponents } from './graph/components.js';
export type { FamilyCycle } from './graph/cycle-search.js';
export { findCycles } from './graph/cycles.js';
export type { Family, OrderUsed } from './graph/families.js';
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
} from './graph/graph.js';
export { addOrder, baseName, cycleRulesOut, nameCycle, type ShapeEdge } from './graph/name-cycle.js';
export { addRealTimeOrder, addSessionOrder } from './graph/real-time.js';
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
export { type Certificate, parseCertificate } from './kv/certificate/certificate.js';
export { type Verification, verifyCertificate } from './kv/certificate/verify.js';
export {
  type CheckOptions as KvCheckOptions,
  type CheckResult as KvCheckResult,
  checkKv,
  type LevelStatus,
} from './kv/check-kv.js';
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
export { type Observation, showObservation } from './observation.js';
export type {
  CheckOptions,
  CheckResult,
  JudgeContext,
  JudgedHistory,
  Oracle,
  OracleNeeds,
  PreparedRun,
  RecordedHistory,
  RunSetting,
} from './oracle.js';
export { judgedHistory, verdictOf } from './oracle.js';
export {
  constantOracles,
  findOracle,
  focusOf,
  identityOf,
  oracleNamed,
  oracles,
  oraclesFor,
  registerOracle,
} from './registry.js';
export { serverFinding, wentAway } from './server/server-finding.js';
export { type FindingInRun, sharperFinding } from './sharper-finding.js';
export { findingToSvg } from './svg.js';
export {
  recognizeWorkload,
  type Workload,
  type WorkloadName,
  type WorkloadOptions,
  workloadNames,
  workloadOf,
  workloads,
} from './workloads/index.js';
