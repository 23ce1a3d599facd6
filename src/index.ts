/** The public interface, stage by stage. Everything is a function over plain data; connections, clock and files are passed in. */

// cases
export {
  type Case,
  type CaseSession,
  parseCaseFile,
  parseScript,
  printCaseFile,
  printScript,
  type Schedule,
  type ScheduledCase,
  type StatementRef,
  scheduleProblem,
  serialOrder,
  totalOrder,
  transactionsOf,
} from './cases/index.js';
// check
export {
  type CheckableHistory,
  type CheckLevel,
  type CheckOptions,
  type CheckResult,
  check,
  checkInstrumented,
  checkKv,
  type Demand,
  type ExplanationStyle,
  explain,
  explainOrdered,
  explainSteps,
  type Finding,
  type InstrumentedCheck,
  instrumentCase,
  type JudgeContext,
  type JudgedHistory,
  type KvCheckOptions,
  type KvCheckResult,
  type MechanismResult,
  type Observation,
  type Oracle,
  type OracleNeeds,
  oracles,
  type PreparedRun,
  parseCheckLevel,
  parseDemand,
  type RecordedHistory,
  type RunSetting,
  registerOracle,
  type Step,
  say,
  showObservation,
  verifyMechanism,
} from './check/index.js';
// contracts
export {
  type Anomaly,
  anomalies,
  type Contract,
  contractFor,
  contracts,
  contractsOf,
  findContract,
  type Level,
  type Mechanism,
  type Pivot,
  parseLevel,
} from './contracts/index.js';

// dedupe
export { type Behaviour, describeBehaviour, signatureOf, variantOf } from './dedupe/index.js';
// errors
export { FileError, IsoldeError } from './errors.js';
// execute
export { type RunOptions, runFree, runScheduled, SessionPool } from './execute/index.js';
// generate
export {
  type Capabilities,
  capabilitiesOf,
  conflictSchedules,
  type Generated,
  type GenerateOptions,
  generate,
  generateCase,
  generateFromTemplate,
  learnFromHistory,
  learnFromSetup,
  type Profile,
  parseProfile,
  profiles,
  Random,
  randomSchedule,
} from './generate/index.js';
// histories
export {
  type History,
  type HistoryHeader,
  KvBuilder,
  kv,
  type Operation,
  openHistoryWriter,
  readHistory,
  readWholeHistory,
  renderInterleaving,
  writeWholeHistory,
} from './histories/index.js';
// hunt
export {
  type HuntEvent,
  type HuntOptions,
  type HuntResult,
  hunt,
  openShelf,
  type Shelf,
  templatesOfStore,
} from './hunt/index.js';
// probe
export { type ProbeReport, probeCases, renderExplain, renderMatrix, runProbe } from './probe/index.js';
// reduce
export {
  candidateOf,
  DatabaseOracle,
  type FindingOracle,
  type ReductionResult,
  reduceCase,
  reduceFinding,
  renderReduced,
  type TrialOracle,
} from './reduce/index.js';
// report
export {
  type Bug,
  exportFiles,
  exportForms,
  makeBug,
  type NewBug,
  reportHtml,
  reportMarkdown,
  type VersionTried,
} from './report/index.js';
// Reproduce: the order behind a raw history, and replays in it.
export {
  type Inference,
  type InferredOrder,
  inferSchedule,
  openInference,
  type ReplayMode,
  type ReplayReport,
  type Reproduction,
  refineOrder,
  replay,
  reproduce,
} from './reproduce/index.js';
// sql
export {
  classifyStatement,
  compilePredicate,
  type Dialect,
  evaluateSelect,
  normalizeSql,
  parseExpressionText,
  parseStatement,
  printStatement,
  type Row,
  type StatementKind,
  showValue,
  splitStatements,
  type Value,
} from './sql/index.js';
// store
export {
  openStore,
  printJunit,
  type RerunResult,
  rerunBug,
  type Store,
} from './store/index.js';
export { faultNames, parseFault, withFault } from './targets/faults/index.js';
// targets
export {
  type Answer,
  openTarget,
  type Scratch,
  type Session,
  type Target,
  type TargetDeclaration,
  targetDeclarations,
} from './targets/index.js';
