export {
  type Anomaly,
  type AnomalyDescription,
  anomalies,
  describeAnomaly,
} from './anomaly.js';
export { type Contract, type ContractSource, type Mechanism, type Pivot, pivots } from './contract.js';
export {
  type BaseKind,
  baseKind,
  baseKinds,
  type CycleAnomaly,
  cycleAnomalies,
  describeKind,
  type FindingKind,
  type FindingKindDescription,
  type FindingKindRow,
  type FindingShape,
  findingKinds,
  type GraphAnomaly,
  graphAnomalies,
  type KnownOracle,
  type OrderedCycle,
  parseFindingKind,
  type ReadAnomaly,
} from './finding-kinds.js';
export { describeClaim, describeLabel, type FindingLabel, findingLabels, labelOf } from './label.js';
export { type Level, levels, parseLevel, shortLevel } from './level.js';
export { contractsMarkdown } from './markdown.js';
export { contractForTables, noContractFor, type TablesContract } from './storage-engine.js';
export {
  clusterSetting,
  contractFor,
  contracts,
  contractsOf,
  engineSetting,
  fieldOfClause,
  findContract,
  reportedContract,
  reportsOf,
  usualEngine,
} from './table.js';
