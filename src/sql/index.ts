export { classifyStatement, type StatementClass, type StatementKind } from './classify.js';
export { type Dialect, quoteIdentifier, quoteText } from './dialect.js';
export { type Token, type TokenKind, tokenize } from './lexer.js';
export { normalizeSql, type SplitStatement, splitStatements } from './split.js';
export {
  bytesValue,
  doubleValue,
  integerValue,
  isValue,
  type Row,
  sameValue,
  showValue,
  type Value,
  valueKey,
} from './value.js';
