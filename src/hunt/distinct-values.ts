/**
 * Another constant for every value that a write of a case stores, so that no write leaves a value as it was or equals another write:
 * what it wrote can then be told from what others wrote.
 *
 * 1. Assigned constants (UPDATE, ON CONFLICT and ON DUPLICATE KEY, MERGE) and inserted ones (VALUES, MERGE) are replaced, numbers by numbers
 *    that stand nowhere in the case, texts by texts.
 * 2. Inserted values keep what other statements may go by: columns of keys and references, and every column that a condition of the
 *    case names.
 *
 * Set-up stays as it is. Statements that cannot be parsed do, too. A case whose meaning changes by this shows nothing, and nothing is lost.
 */
import type { Case } from '../cases/index.js';
import { columnsUsed, type Definition, definitionsIn } from '../rows/index.js';
import {
  type Assignment,
  type Dialect,
  type Expression,
  type InsertStatement,
  type MergeStatement,
  parseStatement,
  printStatement,
  type QueryBody,
  type SelectCore,
  type Statement,
  sameName,
  sqlType,
  tokenize,
  visitNodes,
} from '../sql/index.js';

/** The case with a value of its own for every write of its sessions. */
export function withDistinctValues(program: Case, dialect: Dialect): Case {
  const values = new DistinctValues(program, dialect);
  return {
    ...program,
    sessions: program.sessions.map((session) => ({
      ...session,
      statements: session.statements.map((sql) => values.replaceIn(sql)),
    })),
  };
}

/** Small enough for any type of whole numbers. */
const firstNumber = 71;

class DistinctValues {
  readonly #taken: ReadonlySet<string>;
  readonly #definitions: readonly Definition[];
  readonly #conditionColumns: readonly string[];
  #next = firstNumber;

  constructor(
    { setup, sessions }: Case,
    private readonly dialect: Dialect,
  ) {
    const texts = [...setup, ...sessions.flatMap(({ statements }) => statements)];
    this.#taken = new Set(texts.flatMap((sql) => tokenize(sql, dialect).map(({ text }) => text)));
    const statements = texts.map((sql) => parseStatement(sql, dialect));
    this.#definitions = definitionsIn(statements, dialect);
    this.#conditionColumns = statements.flatMap(conditionsOf).flatMap(columnsOf);
  }

  replaceIn(sql: string): string {
    const before = this.#next;
    const replaced = this.#replaced(parseStatement(sql, this.dialect));
    return this.#next === before ? sql : printStatement(replaced, this.dialect);
  }

  #replaced(statement: Statement): Statement {
    switch (statement.type) {
      case 'update':
        return statement.table.type === 'table'
          ? { ...statement, set: this.#assigned(statement.set, statement.table.name) }
          : statement;
      case 'insert':
        return this.#inInsert(statement);
      case 'merge':
        return this.#inMerge(statement);
      default:
        return statement;
    }
  }

  #inInsert(statement: InsertStatement): InsertStatement {
    const { table, columns, source, conflict } = statement;
    const set = conflict?.set && this.#assigned(conflict.set, table.name);
    return {
      ...statement,
      ...(source.type === 'values' && {
        source: { ...source, rows: source.rows.map((row) => this.#inserted(row, table.name, columns)) },
      }),
      ...(conflict !== undefined && set !== undefined && { conflict: { ...conflict, set } }),
    };
  }

  #inMerge(statement: MergeStatement): MergeStatement {
    const { name } = statement.table;
    const whens = statement.whens.map((when) => {
      const { action } = when;
      if (action.type === 'update')
        return { ...when, action: { ...action, set: this.#assigned(action.set, name) } };
      if (action.type !== 'insert' || action.values === undefined) return when;
      return { ...when, action: { ...action, values: this.#inserted(action.values, name, action.columns) } };
    });
    return { ...statement, whens };
  }

  #assigned(set: readonly Assignment[], table: string): readonly Assignment[] {
    return set.map((each) => {
      const [column, ...others] = each.columns;
      return others.length > 0 ? each : { ...each, value: this.#other(each.value, table, column!) };
    });
  }

  #inserted(row: readonly Expression[], table: string, columns?: readonly string[]): readonly Expression[] {
    const names = columns ?? this.#definition(table)?.shape.columns.map(({ name }) => name);
    return row.map((value, at) => {
      const column = names?.[at];
      return column === undefined || this.#isGoneBy(column) ? value : this.#other(value, table, column);
    });
  }

  /** Whether some statement may choose rows by a column of this name. */
  #isGoneBy(column: string): boolean {
    const names = this.#definitions.flatMap(({ indexes, foreignKeys }) => [
      ...indexes.filter(({ unique }) => unique).flatMap(columnsUsed),
      ...foreignKeys.flatMap((key) => [...key.columns, ...(key.references.columns ?? [])]),
    ]);
    return [...names, ...this.#conditionColumns].some((name) => sameName(name, column, this.dialect));
  }

  #definition(table: string): Definition | undefined {
    return this.#definitions.find(({ create }) => sameName(create.name, table, this.dialect));
  }

  /** Another constant in place of one; anything else as it is. */
  #other(value: Expression, table: string, column: string): Expression {
    const constant = value.type === 'unary' && value.op === '-' ? value.operand : value;
    if (constant.type !== 'literal') return value;
    if (typeof constant.value === 'bigint' || Number.isInteger(constant.value))
      return { type: 'literal', value: this.#fresh() };
    if (typeof constant.value !== 'string' || !this.#isText(table, column)) return value;
    return { type: 'literal', value: `v${this.#fresh()}` };
  }

  #isText(table: string, column: string): boolean {
    const found = this.#definition(table)?.shape.columns.find(({ name }) =>
      sameName(name, column, this.dialect),
    );
    return found !== undefined && sqlType(found.type, this.dialect).family === 'text';
  }

  #fresh(): number {
    while (this.#taken.has(String(this.#next))) this.#next++;
    return this.#next++;
  }
}

/** What a statement chooses rows by. */
function conditionsOf(statement: Statement): readonly Expression[] {
  const conditions: (Expression | undefined)[] = [];
  visitNodes(statement, {
    query: ({ body }) => {
      for (const { where, having } of coresOf(body)) conditions.push(where, having);
    },
    from: (item) => {
      if (item.type === 'join') conditions.push(item.on);
    },
  });
  if (statement.type === 'update' || statement.type === 'delete') conditions.push(statement.where);
  if (statement.type === 'merge') conditions.push(statement.on, ...statement.whens.map(({ and }) => and));
  if (statement.type === 'insert' && statement.conflict?.type === 'on-conflict')
    conditions.push(
      statement.conflict.where,
      ...(statement.conflict.columns ?? []).map((each) => each.expression),
    );
  return conditions.filter((each) => each !== undefined);
}

/** The SELECTs of a query, without those in parentheses: they are queries themselves. */
function coresOf(body: QueryBody): readonly SelectCore[] {
  if (body.type === 'core') return [body];
  return body.type === 'set-operation' ? [...coresOf(body.left), ...coresOf(body.right)] : [];
}

function columnsOf(condition: Expression): readonly string[] {
  const names: string[] = [];
  visitNodes(condition, {
    expression: (node) => {
      if (node.type === 'column') names.push(node.name);
    },
  });
  return names;
}
