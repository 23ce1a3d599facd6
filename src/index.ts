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
  type ScriptOptions,
  type StatementRef,
  scheduleProblem,
  serialOrder,
  type TransactionSpan,
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
  type Explained,
  type ExplanationStyle,
  explain,
  explainOrdered,
  explainSteps,
  type Finding,
  type Instrumented,
  type InstrumentedCheck,
  type InstrumentedCheckOptions,
  type InstrumentOptions,
  instrumentCase,
  type JudgeContext,
  type JudgedHistory,
  judgedHistory,
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
  type VerifyOptions,
  verifyMechanism,
} from './check/index.js';
// contracts
export {
  type Anomaly,
  anomalies,
  type Contract,
  type ContractSource,
  contractFor,
  contracts,
  contractsOf,
  findContract,
  type Level,
  type Mechanism,
  type Pivot,
  parseLevel,
  reportedContract,
  reportsOf,
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
  type ConflictOptions,
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
  type TemplateOptions,
} from './generate/index.js';
// histories
export {
  type AnyHistory,
  type Definitions,
  type History,
  type HistoryHeader,
  type HistoryReader,
  type HistoryReadOptions,
  type HistoryWriter,
  type HistoryWriterOptions,
  KvBuilder,
  type KvHistory,
  kv,
  type Operation,
  openHistoryWriter,
  type ReadAnyOptions,
  readAnyHistory as readHistory,
  readHistory as streamHistory,
  readWholeHistory,
  renderInterleaving,
  writeWholeHistory,
} from './histories/index.js';
// hunt
export {
  type FoundTemplates,
  type HuntEvent,
  type HuntOptions,
  type HuntResult,
  hunt,
  type OpenShelf,
  openShelf,
  type Shelf,
  type ShelfOptions,
  type Shelved,
  templatesOfStore,
} from './hunt/index.js';
// ids
export type { OperationId, SessionId, StepId, TransactionId } from './ids.js';
// judge
export {
  type ContractChoice,
  Database,
  type Observe,
  type Observed,
  type RunCaseOptions,
  type RunPlace,
  type RunRequest,
  run,
  runAndJudge,
} from './judge/index.js';
// probe
export {
  type ExplainOptions,
  type MatrixOptions,
  type ProbeOptions,
  type ProbeReport,
  probeCases,
  renderExplain,
  renderMatrix,
  runProbe as probe,
} from './probe/index.js';
// reduce
export {
  type Candidate,
  candidateOf,
  DatabaseOracle,
  type FindingOptions,
  type FindingOracle,
  type FindingOutcome,
  type NotReproduced,
  type ReduceOptions,
  type ReduceOutcome,
  type ReductionOptions,
  type ReductionResult,
  reduce,
  reduceCase,
  reduceFinding,
  renderReduced,
  type TrialOracle,
} from './reduce/index.js';
// report
export {
  type Bug,
  type ExportFile,
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
  type InferOptions,
  type InferredOrder,
  inferSchedule,
  type OrderSearch,
  openInference,
  type Refined,
  type RefineOptions,
  type ReplayMode,
  type ReplayReport,
  type ReproduceOptions,
  type Reproduction,
  refineOrder,
  replay,
  reproduce,
} from './reproduce/index.js';
// sql
export {
  type ColumnInfo,
  classifyStatement,
  compilePredicate,
  type Dialect,
  type EvaluatedRow,
  type EvaluateOptions,
  type Expression,
  evaluateSelect,
  normalizeSql,
  parseExpressionText,
  parseStatement,
  printStatement,
  type Row,
  type SelectResult,
  type SelectStatement,
  type SplitStatement,
  type Statement,
  type StatementClass,
  type StatementKind,
  showValue,
  splitStatements,
  type Truth,
  type Undecidable,
  type Value,
} from './sql/index.js';
// store
export {
  openStore,
  printJunit,
  type RerunOptions,
  type RerunReport,
  type RerunResult,
  rerunBug,
  type Store,
  type StoreOptions,
} from './store/index.js';
export { type FaultSpec, faultNames, parseFault, withFault } from './targets/faults/index.js';
// targets
export {
  type Answer,
  type OpenOptions,
  openTarget,
  type Scratch,
  type Session,
  type Target,
  type TargetDeclaration,
  targetDeclarations,
} from './targets/index.js';
