export { type Converted, type ConvertOptions, convert } from './convert.js';
export { type FormatName, formatNames, type Imported } from './format.js';
export { kvHeader, kvOperations } from './own.js';
export {
  type AnyHistory,
  historiesIn,
  parseFormatName,
  type ReadAnyOptions,
  readAnyHistory,
  recognizeFormat,
  UnknownFormatError,
} from './read-any.js';
export { historyFormats } from './registry.js';
export { formatSamples } from './samples.js';
export {
  eventLines,
  formatOfName,
  type WritableFormat,
  writableFormats,
  writeKvHistory,
} from './write-kv.js';
