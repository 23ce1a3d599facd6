export { parseAnomalySwitches } from './anomaly-switches.js';
export { check } from './check.js';
export { type Demand, parseDemand } from './demand.js';
export { findingsToDot } from './dot.js';
export {
  describeTransactions,
  type Explained,
  type ExplanationStyle,
  edgeLabel,
  explain,
  explainCycle,
  explainOrdered,
  explainSteps,
} from './explain.js';
export {
  type Fate,
  ofData,
  ofOperation,
  ofTransaction,
  type Phrase,
  type Piece,
  phrase,
  referencesOf,
  type Span,
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
export { findingAbout } from './finding-about.js';
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
export { dependencyIdentity, findingIdentity, focusDependencies } from './identity.js';
export {
  checkInstrumented,
  type Dependencies,
  type EngineWords,
  engineWords,
  type Instrumented,
  type InstrumentedCheck,
  type InstrumentedCheckOptions,
  type InstrumentOptions,
  inferDependencies,
  instrumentCase,
  type StrippedHistory,
  stripResults,
} from './instrument/index.js';
export type {
  Frame,
  InstrumentedTable,
  ObservedQuery,
  PlannedSearch,
  StatementPlan,
  TableRead,
  WritePlan,
} from './instrument/instrumented.js';
export type { TraceForm } from './instrument/trace-query.js';
export { type Certificate, parseCertificate } from './kv/certificate/certificate.js';
export { type Verification, verifyCertificate } from './kv/certificate/verify.js';
export { checkKv } from './kv/check-kv.js';
export type {
  CheckOptions as KvCheckOptions,
  CheckResult as KvCheckResult,
  LevelStatus,
} from './kv/kv-result.js';
export {
  type BaseLevel,
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
  type AccessState,
  type AccessStep,
  type AccessVersion,
  type Checked,
  type ContractComparison,
  type ExpectedAccess,
  expectedAccess,
  expectedUnderPivots,
  type MechanismResult,
  type MechanismTrace,
  type RowAccess,
  type SkippedReason,
  type TraceMoment,
  type TraceRead,
  type TraceRow,
  type TraceTransaction,
  type TraceVersion,
  traceMechanism,
  type VerifyOptions,
  verifyMechanism,
} from './mechanism/index.js';
export { nothingRan, nothingRanReason, unlessNothingRan } from './nothing-ran.js';
export {
  type Observation,
  type RowCount,
  showObservation,
  speaksOfAnswer,
  unknownValues,
} from './observation.js';
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
export type { CheckableHistory } from './recorded.js';
export {
  constantOracles,
  findOracle,
  focusOf,
  identityOf,
  isServerFailure,
  oracleNamed,
  oracles,
  oraclesFor,
  registerOracle,
  usualOracle,
} from './registry.js';
export { type MemoryUse, serverFinding, wentAway } from './server/server-finding.js';
export { type FindingInRun, sharperFinding } from './sharper-finding.js';
export {
  recognizeWorkload,
  type Workload,
  type WorkloadName,
  type WorkloadOptions,
  workloadNames,
  workloadOf,
  workloads,
} from './workloads/index.js';
