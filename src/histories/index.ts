export {
  conflictErrors,
  endedWaits,
  goneErrors,
  refusalErrors,
  timeoutErrors,
} from './error-classes.js';
export type { Imported } from './formats/format.js';
export {
  type AnyHistory,
  type Converted,
  type ConvertOptions,
  convert,
  type FormatName,
  formatNames,
  formatOfName,
  formatSamples,
  historiesIn,
  historyFormats,
  kvHeader,
  kvOperations,
  parseFormatName,
  type ReadAnyOptions,
  readAnyHistory,
  recognizeFormat,
  UnknownFormatError,
  type WritableFormat,
  writableFormats,
  writeKvHistory,
} from './formats/index.js';
export type {
  Access,
  ErrorClass,
  History,
  HistoryHeader,
  Operation,
  OperationError,
  OperationKind,
  TargetStamp,
} from './history.js';
export { sessionNumber } from './history.js';
export { readWholeHistory, writeWholeHistory } from './history-file.js';
export { type HistoryReader, type HistoryReadOptions, readHistory } from './history-reader.js';
export {
  type HistoryWriter,
  type HistoryWriterOptions,
  openHistoryWriter,
  type WritableFile,
} from './history-writer.js';
export {
  answerText,
  type InterleavingEntry,
  type InterleavingStyle,
  interleave,
  renderInterleaving,
  resultText,
} from './interleaving.js';
export { KvBuilder, type KvBuilderOptions, type KvSink } from './kv-builder.js';
export {
  type Definitions,
  firstNamedValue,
  type KvHistory,
  type KvName,
  type KvStatus,
  kvAborted,
  kvAppend,
  kvCommitted,
  kvInitial,
  kvOther,
  kvRead,
  kvReadList,
  kvUnknown,
  kvUnseen,
  kvWrite,
  listOf,
  type OtherChain,
  printKvOp,
  printName,
  statusOf,
  txName,
  valueName,
} from './kv-history.js';
export { kv } from './kv-shorthand.js';
export { type OperationProblem, operationProblem } from './operation-line.js';
export { PlainMap, type PlainOperation, type PlainValue, plainKey } from './plain-operations.js';
export { transactionNames } from './transaction-names.js';
