export type { SentStatement } from './assigned-columns.js';
export {
  type Catalog,
  type CatalogOptions,
  type CatalogSource,
  catalogOf,
  catalogOfProgram,
  createText,
  openCatalog,
  withCatalog,
} from './catalog.js';
export { type Shape as ConstantShape, shapeOf as constantShapeOf } from './constant-shape.js';
export { keepsRowsOfFailed } from './failed-writes.js';
export {
  bagOf,
  type Image,
  imageKey,
  isHit,
  isVague,
  mergeImages,
  overlay,
  rowText,
  sameCell,
  unknownCell,
} from './image.js';
export { evaluateSetup, observedRows } from './initial-rows.js';
export { always, type Interval, intervalOf, never } from './interval.js';
export { type ColumnConstants, columnConstants, conditionOf, namedKeys } from './named-rows.js';
export type {
  ChangePlan,
  IdlePlan,
  InsertPlan,
  OpaquePlan,
  Plan,
  QueryPlan,
  RowLock,
  RowsOf,
  Satisfies,
  ScanPlan,
  UpsertEffect,
  UpsertPlan,
} from './plan-types.js';
export { isExclusive, planUnder } from './plan-types.js';
export { type Planner, plannerOf } from './planner.js';
export { reachesAnyTable } from './reaches-any-table.js';
export { type RowValues, recordedCells, splitObject, valuesOf } from './recorded.js';
export { cellKey, joinKey, rowKey } from './row-key.js';
export { type Lock, type LockMeeting, type LockMode, lockMeeting, RowLocks } from './row-locks.js';
export { type SavepointStatement, Savepoints, savepointOf } from './savepoints.js';
export {
  columnsUsed,
  type DeclaredForeignKey,
  type DeclaredIndex,
  type Definition,
  definitionOf,
  definitionsIn,
  firstColumn,
  resolvesConflicts,
  wholeColumns,
} from './schema.js';
export { changesSession } from './session-settings.js';
export { sharesRows, tablesSharingRows } from './shared-rows.js';
export { fixesSnapshot, type Likelihood } from './snapshot-rule.js';
export { type IdentityBasis, IdentityEnded, identityText, type Table, type UniqueKeys } from './table.js';
export { TableMap } from './table-map.js';
export { mayMeet, type Touch, touchOf } from './touched.js';
export { touchesNoRows } from './touches-no-rows.js';
export { hasSnapshot, opensAnother, type Tx, transactionsOfHistory } from './transactions.js';

export { undoneOperations } from './undone.js';
export { changesKey, type KeyColumns, keyText, recordKeys, sharesKey, uniqueKeysOf } from './unique-keys.js';
export { unknownEffect } from './upsert-effect.js';
export { type CommitSpans, lastStarted, VersionChain, type VisibilityRules } from './version-chain.js';
export { WriteLog } from './write-log.js';
