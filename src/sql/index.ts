export { findForbidden } from './allow-list.js';
export type {
  Assignment,
  BeginStatement,
  BetweenExpression,
  BinaryExpression,
  BinaryOperator,
  CallExpression,
  CaseBranch,
  CaseExpression,
  CastExpression,
  CollateExpression,
  ColumnConstraint,
  ColumnDefinition,
  ColumnExpression,
  CommonTable,
  ComparisonOperator,
  ConflictClause,
  CreateIndexStatement,
  CreateTableStatement,
  DefaultExpression,
  DeleteStatement,
  DerivedTable,
  DropStatement,
  EndStatement,
  ExistsExpression,
  Expression,
  FloatExpression,
  ForeignReference,
  FromItem,
  IndexedExpression,
  InListExpression,
  InQueryExpression,
  InsertSource,
  InsertStatement,
  IntervalExpression,
  IsExpression,
  Join,
  JoinKind,
  LikeExpression,
  LikeOperator,
  LiteralExpression,
  LockClause,
  MergeAction,
  MergeStatement,
  MergeWhen,
  NamedWindow,
  OpaqueStatement,
  OrderItem,
  ParameterExpression,
  QualifiedName,
  QuantifiedExpression,
  QueryBody,
  RawExpression,
  RowExpression,
  SavepointStatement,
  SelectCore,
  SelectItem,
  SelectStatement,
  SetOperation,
  Statement,
  SubqueryExpression,
  TableConstraint,
  TableFunction,
  TableReference,
  UnaryExpression,
  UnaryOperator,
  UpdateStatement,
  ValuesBody,
  WindowSpec,
  WithClause,
} from './ast.js';
export { chainsOn, classifyStatement, type StatementClass, type StatementKind } from './classify.js';
export { conjunctsOf } from './conjuncts.js';
export { type Dialect, quoteIdentifier, quoteText } from './dialect.js';
export type { TextOrder } from './evaluate/compare.js';
export {
  compileExpression,
  compilePredicate,
  evaluateSelect,
  type SelectResult,
} from './evaluate/evaluate.js';
export {
  type Arithmetic,
  arithmeticOf,
  type ColumnInfo,
  type EvaluateOptions,
  type TableRows,
} from './evaluate/scope.js';
export { type ShapeColumn, type TableShape, tableShape } from './evaluate/shape.js';
export { type Family, type SqlType, sqlType } from './evaluate/types.js';
export {
  type Evaluated,
  type EvaluatedRow,
  isUndecidable,
  type Truth,
  type Undecidable,
  undecidable,
} from './evaluate/undecidable.js';
export {
  applyInsert,
  compileUpdate,
  compileWhere,
} from './evaluate/write.js';
export { isAggregateCall, type StatementFeatures, statementFeatures, type TableUse } from './features.js';
export { type Token, type TokenKind, tokenize, tokensFrom } from './lexer.js';
export { columnOf, foldName, nameKey, sameName, unquoteName, writtenNameKey } from './names.js';
export { type ShapedStatement, ShapeParser, shapeParserOf } from './parse/by-shape.js';
export { parseExpressionText, parseStatement } from './parse/parse.js';

export { printLiteral } from './print/literal.js';
export { printExpression, printStatement } from './print/print.js';
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
export { mapExpressions, type Visitor, visitNodes } from './walk.js';
export { printName } from './words.js';
