/**
 * Statements as data: one small tree for four dialects.
 *
 * The tree says what a statement means, not how it was typed. Where dialects spell one meaning differently there is
 * one node (`::` and CAST, `<=>` and IS NOT DISTINCT FROM, REPLACE and INSERT OR REPLACE, `!=` and `<>`), and the
 * printer picks the spelling. Where one spelling has different meanings the parser has already decided (`||` is OR in
 * MySQL, concatenation elsewhere). All nodes are plain readonly JSON: they can be stored, compared and mutated freely.
 *
 * Absent optional fields are left out, never `undefined`, so that two equal trees have equal JSON.
 *
 * What the grammar does not cover is kept as text: a whole statement as `OpaqueStatement`, a piece as `RawExpression`.
 */
import type { StatementKind } from './classify.js';
import type { Value } from './value.js';

// ── Expressions ────────────────────────────────────────────────────────────────────────────────────────────────

export type Expression =
  | LiteralExpression
  | FloatExpression
  | ColumnExpression
  | ParameterExpression
  | RawExpression
  | DefaultExpression
  | UnaryExpression
  | BinaryExpression
  | BetweenExpression
  | InListExpression
  | InQueryExpression
  | LikeExpression
  | IsExpression
  | CaseExpression
  | CastExpression
  | CallExpression
  | ExistsExpression
  | SubqueryExpression
  | QuantifiedExpression
  | RowExpression
  | CollateExpression
  | IntervalExpression;

/** A constant. Numbers here are integers; fractions are `{ decimal }`; floats with an exponent are `FloatExpression`. */
export interface LiteralExpression {
  readonly type: 'literal';
  readonly value: Value;
}

/** A number written with an exponent, as typed: its type differs by dialect (numeric in PostgreSQL, double elsewhere). */
export interface FloatExpression {
  readonly type: 'float';
  readonly text: string;
}

export interface ColumnExpression {
  readonly type: 'column';
  readonly schema?: string;
  readonly table?: string;
  readonly name: string;
}

/** A placeholder (`?`, `$1`, `:name`) or a session variable (`@x`, `@@x`): a value the text does not tell. */
export interface ParameterExpression {
  readonly type: 'parameter';
  readonly text: string;
}

/** Text that only the database understands. */
export interface RawExpression {
  readonly type: 'raw';
  readonly sql: string;
}

/** The word DEFAULT in VALUES or SET. */
export interface DefaultExpression {
  readonly type: 'default';
}

export type UnaryOperator = 'NOT' | '-' | '+' | '~';

export interface UnaryExpression {
  readonly type: 'unary';
  readonly op: UnaryOperator;
  readonly operand: Expression;
}

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type BinaryOperator =
  | 'AND'
  | 'OR'
  | 'XOR'
  | ComparisonOperator
  | 'IS DISTINCT FROM'
  | 'IS NOT DISTINCT FROM'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'DIV'
  | 'POWER'
  | '||'
  | '&'
  | '|'
  | '#'
  | '<<'
  | '>>'
  | '->'
  | '->>'
  | '@>'
  | '~'
  | '~*'
  | '!~'
  | '!~*';

/** `DIV` is integer division, `POWER` exponentiation, `#` bitwise exclusive or (MySQL spells it `^`). */
export interface BinaryExpression {
  readonly type: 'binary';
  readonly op: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
}

export interface BetweenExpression {
  readonly type: 'between';
  readonly operand: Expression;
  readonly low: Expression;
  readonly high: Expression;
  readonly negated: boolean;
}

export interface InListExpression {
  readonly type: 'in-list';
  readonly operand: Expression;
  readonly list: readonly Expression[];
  readonly negated: boolean;
}

export interface InQueryExpression {
  readonly type: 'in-query';
  readonly operand: Expression;
  readonly query: SelectStatement;
  readonly negated: boolean;
}

export type LikeOperator = 'LIKE' | 'ILIKE' | 'GLOB' | 'REGEXP' | 'SIMILAR TO';

export interface LikeExpression {
  readonly type: 'like';
  readonly op: LikeOperator;
  readonly operand: Expression;
  readonly pattern: Expression;
  readonly escape?: Expression;
  readonly negated: boolean;
}

export interface IsExpression {
  readonly type: 'is';
  readonly operand: Expression;
  readonly test: 'NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN';
  readonly negated: boolean;
}

export interface CaseBranch {
  readonly when: Expression;
  readonly result: Expression;
}

export interface CaseExpression {
  readonly type: 'case';
  readonly operand?: Expression;
  readonly branches: readonly CaseBranch[];
  readonly otherwise?: Expression;
}

export interface CastExpression {
  readonly type: 'cast';
  readonly operand: Expression;
  /** Upper-case words, as `columnType` of the column definitions. */
  readonly to: string;
  /** DuckDB's TRY_CAST. */
  readonly attempt?: true;
}

/** A function call. `name` is lower-case when it was not quoted. */
export interface CallExpression {
  readonly type: 'call';
  readonly schema?: string;
  readonly name: string;
  readonly args: readonly Expression[];
  /** `COUNT(*)`. */
  readonly star?: true;
  readonly distinct?: true;
  /** Written without parentheses: CURRENT_TIMESTAMP. */
  readonly bare?: true;
  readonly orderBy?: readonly OrderItem[];
  readonly filter?: Expression;
  readonly over?: WindowSpec;
}

export interface WindowSpec {
  /** The named window this one is, or extends. */
  readonly base?: string;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly OrderItem[];
  /** `ROWS BETWEEN …`, as text. */
  readonly frame?: string;
}

export interface ExistsExpression {
  readonly type: 'exists';
  readonly query: SelectStatement;
}

export interface SubqueryExpression {
  readonly type: 'subquery';
  readonly query: SelectStatement;
}

export interface QuantifiedExpression {
  readonly type: 'quantified';
  readonly op: ComparisonOperator;
  readonly quantifier: 'ANY' | 'ALL';
  readonly operand: Expression;
  readonly query: SelectStatement;
}

export interface RowExpression {
  readonly type: 'row';
  readonly items: readonly Expression[];
}

export interface CollateExpression {
  readonly type: 'collate';
  readonly operand: Expression;
  readonly collation: string;
}

/** `INTERVAL '1 day'` or MySQL's `INTERVAL 1 DAY`. */
export interface IntervalExpression {
  readonly type: 'interval';
  readonly amount: Expression;
  readonly unit?: string;
}

// ── Queries ────────────────────────────────────────────────────────────────────────────────────────────────────

/** A whole query: a statement of its own, a subquery, or an operand in parentheses. */
export interface SelectStatement {
  readonly type: 'select';
  readonly with?: WithClause;
  readonly body: QueryBody;
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expression;
  readonly offset?: Expression;
  readonly locks: readonly LockClause[];
}

/** `select` is an operand in parentheses that has its own ORDER BY, LIMIT, WITH or lock. */
export type QueryBody = SelectCore | ValuesBody | SetOperation | SelectStatement;

export interface SelectCore {
  readonly type: 'core';
  /** Optimizer hint comment, with its delimiters. */
  readonly hint?: string;
  /** MySQL's words between SELECT and the list (`SQL_NO_CACHE`, `STRAIGHT_JOIN`). */
  readonly modifiers?: string;
  readonly distinct: boolean;
  /** PostgreSQL's and DuckDB's DISTINCT ON. */
  readonly distinctOn?: readonly Expression[];
  readonly items: readonly SelectItem[];
  /** Comma-separated; each a tree of joins. */
  readonly from: readonly FromItem[];
  readonly where?: Expression;
  readonly groupBy: readonly Expression[];
  readonly having?: Expression;
  readonly windows?: readonly NamedWindow[];
}

export interface NamedWindow {
  readonly name: string;
  readonly window: WindowSpec;
}

export interface ValuesBody {
  readonly type: 'values';
  readonly rows: readonly (readonly Expression[])[];
}

export interface SetOperation {
  readonly type: 'set-operation';
  readonly op: 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly all: boolean;
  readonly left: QueryBody;
  readonly right: QueryBody;
}

export interface WithClause {
  readonly recursive: boolean;
  readonly ctes: readonly CommonTable[];
}

export interface CommonTable {
  readonly name: string;
  readonly columns?: readonly string[];
  readonly materialized?: boolean;
  readonly statement: SelectStatement | InsertStatement | UpdateStatement | DeleteStatement;
}

export type SelectItem =
  | { readonly type: 'star'; readonly schema?: string; readonly table?: string }
  | { readonly type: 'item'; readonly expression: Expression; readonly alias?: string };

export interface OrderItem {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nulls?: 'first' | 'last';
}

export type FromItem = TableReference | DerivedTable | TableFunction | Join;

export interface TableReference {
  readonly type: 'table';
  readonly schema?: string;
  readonly name: string;
  readonly alias?: string;
  readonly columns?: readonly string[];
  /** PostgreSQL's ONLY. */
  readonly only?: true;
  /** MySQL's index hints and PARTITION lists, SQLite's INDEXED BY, as text. */
  readonly hint?: string;
}

export interface DerivedTable {
  readonly type: 'derived';
  readonly query: SelectStatement;
  readonly lateral?: true;
  readonly alias?: string;
  readonly columns?: readonly string[];
}

export interface TableFunction {
  readonly type: 'function';
  readonly call: CallExpression;
  readonly lateral?: true;
  readonly alias?: string;
  readonly columns?: readonly string[];
}

export type JoinKind = 'inner' | 'left' | 'right' | 'full' | 'cross';

export interface Join {
  readonly type: 'join';
  readonly kind: JoinKind;
  readonly natural?: true;
  readonly left: FromItem;
  readonly right: FromItem;
  readonly on?: Expression;
  readonly using?: readonly string[];
}

export interface LockClause {
  /** `share mode` is MySQL's LOCK IN SHARE MODE. */
  readonly strength: 'update' | 'no key update' | 'share' | 'key share' | 'share mode';
  readonly of: readonly string[];
  /** `NOWAIT`, `SKIP LOCKED`, MariaDB's `WAIT 5`. */
  readonly wait?: string;
}

// ── Writes ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface InsertStatement {
  readonly type: 'insert';
  readonly with?: WithClause;
  readonly hint?: string;
  /** REPLACE and INSERT OR REPLACE; INSERT IGNORE and INSERT OR IGNORE; SQLite's other OR clauses. */
  readonly mode?: 'replace' | 'ignore' | 'abort' | 'fail' | 'rollback';
  readonly table: TableReference;
  readonly columns?: readonly string[];
  readonly source: InsertSource;
  readonly conflict?: ConflictClause;
  readonly returning?: readonly SelectItem[];
}

export type InsertSource =
  | { readonly type: 'values'; readonly rows: readonly (readonly Expression[])[] }
  | { readonly type: 'query'; readonly query: SelectStatement }
  | { readonly type: 'defaults' };

export type ConflictClause =
  | {
      readonly type: 'on-conflict';
      readonly columns?: readonly IndexedExpression[];
      readonly columnsWhere?: Expression;
      readonly constraint?: string;
      /** Absent: DO NOTHING. */
      readonly set?: readonly Assignment[];
      readonly where?: Expression;
    }
  | { readonly type: 'on-duplicate-key'; readonly set: readonly Assignment[] };

/** `a = 1`, MySQL's `t.a = 1`, or `(a, b) = (1, 2)`. */
export interface Assignment {
  readonly table?: string;
  readonly columns: readonly string[];
  /** Whether the columns stand in parentheses. */
  readonly tuple?: true;
  readonly value: Expression;
}

export interface UpdateStatement {
  readonly type: 'update';
  readonly with?: WithClause;
  readonly hint?: string;
  readonly mode?: InsertStatement['mode'];
  /** One table; joins and lists are MySQL's multiple-table form. */
  readonly table: FromItem;
  readonly moreTables?: readonly FromItem[];
  readonly set: readonly Assignment[];
  readonly from: readonly FromItem[];
  readonly where?: Expression;
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expression;
  readonly returning?: readonly SelectItem[];
}

export interface DeleteStatement {
  readonly type: 'delete';
  readonly with?: WithClause;
  readonly hint?: string;
  readonly mode?: 'ignore';
  readonly table: FromItem;
  /** MySQL's `DELETE t1, t2 FROM …`: whose rows are deleted. */
  readonly targets?: readonly string[];
  readonly using: readonly FromItem[];
  readonly where?: Expression;
  readonly orderBy: readonly OrderItem[];
  readonly limit?: Expression;
  readonly returning?: readonly SelectItem[];
}

export interface MergeStatement {
  readonly type: 'merge';
  readonly with?: WithClause;
  readonly table: TableReference;
  readonly using: FromItem;
  readonly on: Expression;
  readonly whens: readonly MergeWhen[];
  readonly returning?: readonly SelectItem[];
}

export interface MergeWhen {
  readonly match: 'matched' | 'not matched' | 'not matched by source';
  readonly and?: Expression;
  readonly action: MergeAction;
}

export type MergeAction =
  | { readonly type: 'nothing' }
  | { readonly type: 'delete' }
  | { readonly type: 'update'; readonly set: readonly Assignment[] }
  | {
      readonly type: 'insert';
      readonly columns?: readonly string[];
      readonly values?: readonly Expression[];
    };

// ── Definitions ────────────────────────────────────────────────────────────────────────────────────────────────

export interface CreateTableStatement {
  readonly type: 'create-table';
  readonly temporary: boolean;
  readonly ifNotExists: boolean;
  readonly schema?: string;
  readonly name: string;
  readonly columns: readonly ColumnDefinition[];
  readonly constraints: readonly TableConstraint[];
  /** What follows the closing parenthesis (`ENGINE=InnoDB`, `WITHOUT ROWID`), as text. */
  readonly options?: string;
  readonly as?: SelectStatement;
}

export interface ColumnDefinition {
  readonly name: string;
  /** Upper-case words (`INT UNSIGNED`, `DECIMAL(10, 2)`); absent where SQLite allows it. */
  readonly columnType?: string;
  readonly constraints: readonly ColumnConstraint[];
}

export type ColumnConstraint = { readonly name?: string } & (
  | { readonly type: 'not-null' | 'null' | 'auto-increment' }
  | { readonly type: 'primary-key' | 'unique'; readonly tail?: string }
  | { readonly type: 'default-value'; readonly value: Expression }
  | { readonly type: 'check'; readonly condition: Expression; readonly tail?: string }
  | { readonly type: 'references'; readonly references: ForeignReference }
  | { readonly type: 'generated'; readonly value: Expression; readonly stored: boolean }
  | { readonly type: 'identity'; readonly always: boolean; readonly options?: string }
  | { readonly type: 'other'; readonly sql: string }
);

export interface ForeignReference {
  readonly schema?: string;
  readonly table: string;
  readonly columns?: readonly string[];
  /** `ON DELETE CASCADE DEFERRABLE …`, as text. */
  readonly actions?: string;
}

export type TableConstraint = { readonly name?: string } & (
  | {
      readonly type: 'primary-key' | 'unique' | 'index';
      /** The name of MySQL's `KEY name (…)`. */
      readonly indexName?: string;
      readonly columns: readonly IndexedExpression[];
      readonly tail?: string;
    }
  | { readonly type: 'check'; readonly condition: Expression; readonly tail?: string }
  | {
      readonly type: 'foreign-key';
      readonly columns: readonly string[];
      readonly references: ForeignReference;
    }
  | { readonly type: 'other'; readonly sql: string }
);

export interface IndexedExpression {
  readonly expression: Expression;
  /** MySQL's prefix length. */
  readonly length?: number;
  /** `DESC`, `NULLS LAST`, operator class: as text. */
  readonly tail?: string;
}

export interface CreateIndexStatement {
  readonly type: 'create-index';
  readonly unique: boolean;
  readonly concurrently?: true;
  readonly ifNotExists: boolean;
  readonly schema?: string;
  readonly name?: string;
  readonly table: TableReference;
  /** `USING btree`. */
  readonly method?: string;
  readonly columns: readonly IndexedExpression[];
  readonly where?: Expression;
  readonly options?: string;
}

export interface DropStatement {
  readonly type: 'drop';
  readonly what: 'TABLE' | 'INDEX' | 'VIEW';
  readonly ifExists: boolean;
  readonly names: readonly QualifiedName[];
  /** `CASCADE`, MySQL's `ON t`. */
  readonly tail?: string;
}

export interface QualifiedName {
  readonly schema?: string;
  readonly name: string;
}

// ── Transactions and the rest ──────────────────────────────────────────────────────────────────────────────────

export interface BeginStatement {
  readonly type: 'begin';
  /** START TRANSACTION rather than BEGIN. */
  readonly start: boolean;
  /** `IMMEDIATE`, `ISOLATION LEVEL SERIALIZABLE, READ ONLY`, `WITH CONSISTENT SNAPSHOT`: upper-case words. */
  readonly modifiers?: string;
}

export interface EndStatement {
  readonly type: 'commit' | 'rollback';
  readonly modifiers?: string;
}

export interface SavepointStatement {
  readonly type: 'savepoint' | 'release' | 'rollback-to';
  readonly name: string;
}

/** A statement we run and replay but do not understand. */
export interface OpaqueStatement {
  readonly type: 'opaque';
  readonly kind: StatementKind;
  readonly sql: string;
  /** Names that stand where table names stand. A statement of which nothing is known may touch any of them. */
  readonly tables: readonly string[];
  /** Why it was not parsed. */
  readonly reason: string;
}

export type Statement =
  | SelectStatement
  | InsertStatement
  | UpdateStatement
  | DeleteStatement
  | MergeStatement
  | CreateTableStatement
  | CreateIndexStatement
  | DropStatement
  | BeginStatement
  | EndStatement
  | SavepointStatement
  | OpaqueStatement;

/** The statements that change rows. */
export type WriteStatement = InsertStatement | UpdateStatement | DeleteStatement | MergeStatement;
