/**
 * What a statement does to rows, told from its text, as far as order inference needs it: which rows it reads, writes
 * and locks, what it leaves in them, and where in its result a row's name and cells stand.
 *
 * Everything else is opaque: it counts as touching every row of the tables it names, or everything if it names none.
 *
 * Histories repeat few shapes with many constants. A statement of the simplest shapes (constants only; one row, by its
 * name) is read once per shape; its other instances only fill in their constants.
 */
import {
  applyInsert,
  compilePredicate,
  compileUpdate,
  compileWhere,
  type Dialect,
  type Evaluated,
  type Expression,
  isUndecidable,
  parseStatement,
  type Row,
  type SelectStatement,
  type Statement,
  sameName,
  statementFeatures,
  type TableReference,
  type Truth,
  type Value,
} from '../sql/index.js';
import { cellName, type Table, tableKey } from './schema.js';
import { type Shape, shapeOf } from './statement-shape.js';

export type RowTest = (cells: readonly Evaluated[]) => Truth;
export type RowLock = 'none' | 'share' | 'update';

interface OnRows {
  readonly table: Table;
  /** The only rows it can concern, where the text names them. */
  readonly keys: readonly string[] | undefined;
  /** undefined: every row. */
  readonly where: RowTest | undefined;
}

export interface ScanPlan extends OnRows {
  readonly type: 'scan';
  readonly lock: RowLock;
  /** For each column of the result the table's column it shows, or −1; undefined: the columns are the table's, by name. */
  readonly shows: readonly number[] | undefined;
  /** Every row that satisfies the condition is in the result. */
  readonly complete: boolean;
  /** The condition, where it may test columns that the result does not show. */
  readonly hidden?: RowTest | undefined;
}

export interface UpdatePlan extends OnRows {
  readonly type: 'update';
  readonly apply: (cells: readonly Evaluated[]) => readonly Evaluated[] | undefined;
}

export interface DeletePlan extends OnRows {
  readonly type: 'delete';
}

export interface InsertPlan {
  readonly type: 'insert';
  readonly table: Table;
  readonly rows: readonly (readonly Evaluated[])[];
}

export interface OpaquePlan {
  readonly type: 'opaque';
  readonly reads: readonly Table[];
  readonly writes: readonly Table[];
  /** It may touch any table. */
  readonly everything: boolean;
  readonly lock: RowLock;
}

export type Plan = ScanPlan | UpdatePlan | DeletePlan | InsertPlan | OpaquePlan;

/** Distinct texts kept; beyond them plans are made anew. */
const cacheLimit = 50_000;

export class Planner {
  readonly #byText = new Map<string, Plan>();
  readonly #byShape = new Map<string, ((constants: readonly Value[]) => Plan) | null>();

  constructor(
    private readonly tables: Map<string, Table>,
    private readonly dialect: Dialect,
  ) {}

  plan(sql: string): Plan {
    const known = this.#byText.get(sql);
    if (known !== undefined) return known;
    const shape = shapeOf(sql, this.dialect);
    const filled = shape === undefined ? undefined : this.#byShape.get(shape.key)?.(shape.constants);
    if (filled !== undefined) return filled;
    const statement = parseStatement(sql, this.dialect);
    const plan = this.#planOf(statement);
    if (shape !== undefined && !this.#byShape.has(shape.key)) {
      this.#byShape.set(shape.key, this.#filler(statement, plan, shape));
    }
    if (this.#byText.size < cacheLimit) this.#byText.set(sql, plan);
    return plan;
  }

  #planOf(statement: Statement): Plan {
    const { dialect } = this;
    if (statement.type === 'select') return this.#scan(statement) ?? this.#opaque(statement);
    if (statement.type === 'update' || statement.type === 'delete') {
      const table = this.#single(statement.table);
      const others =
        statement.type === 'update' ? [...statement.from, ...(statement.moreTables ?? [])] : statement.using;
      if (
        table?.shape === undefined ||
        others.length > 0 ||
        statement.with !== undefined ||
        statement.limit !== undefined ||
        statementFeatures(statement).subquery
      ) {
        return this.#opaque(statement);
      }
      const keys = keysOf(statement.where, table, dialect);
      const where =
        statement.where === undefined
          ? undefined
          : (compileWhere(statement, table.shape, { dialect }) as RowTest);
      if (statement.type === 'delete') return { type: 'delete', table, keys, where };
      const renames = statement.set.some(({ columns }) =>
        columns.some((name) =>
          table.identity.some((at) => sameName(table.shape!.columns[at]!.name, name, dialect)),
        ),
      );
      if (renames) return this.#opaque(statement);
      const update = compileUpdate(statement, table.shape, { dialect });
      const apply: UpdatePlan['apply'] = (cells) => {
        const row = update(cells as Row);
        return isUndecidable(row) ? undefined : row;
      };
      return { type: 'update', table, keys, where, apply };
    }
    if (statement.type === 'insert') {
      const table = this.#single(statement.table);
      const plain =
        statement.mode === undefined &&
        statement.conflict === undefined &&
        statement.source.type === 'values' &&
        table?.shape !== undefined &&
        table.identity.length > 0;
      const rows = plain ? applyInsert(statement, table.shape, { dialect }) : undefined;
      if (plain && rows !== undefined && !isUndecidable(rows)) return { type: 'insert', table, rows };
    }
    return this.#opaque(statement);
  }

  #scan(select: SelectStatement): ScanPlan | undefined {
    const { body } = select;
    const features = statementFeatures(select);
    if (body.type !== 'core' || select.with !== undefined || features.aggregate || features.groupBy)
      return undefined;
    if (features.distinct || features.window || features.subquery || features.join || features.setOperation)
      return undefined;
    const from = body.from.length === 1 ? body.from[0] : undefined;
    const table = from === undefined ? undefined : this.#single(from);
    if (from?.type !== 'table' || table?.shape === undefined) return undefined;
    const { shape } = table;
    const columns = shape.columns.map((column) => ({ ...column, table: from.alias ?? from.name }));
    const where =
      body.where === undefined
        ? undefined
        : (compilePredicate(body.where, columns, { dialect: this.dialect }) as RowTest);
    const shows = body.items.flatMap((item) => {
      if (item.type === 'star') return shape.columns.map((_, at) => at);
      const { expression } = item;
      if (expression.type !== 'column') return [-1];
      return [shape.columns.findIndex(({ name }) => sameName(name, expression.name, this.dialect))];
    });
    return {
      type: 'scan',
      table,
      keys: keysOf(body.where, table, this.dialect),
      where,
      lock: features.locking,
      shows,
      ...(shape.columns.every((_, at) => shows.includes(at)) ? undefined : { hidden: where }),
      complete:
        select.limit === undefined && select.offset === undefined && !select.locks.some(({ wait }) => wait),
    };
  }

  #single(from: { readonly type: string }): Table | undefined {
    return from.type === 'table' ? this.tables.get(tableKey((from as TableReference).name)) : undefined;
  }

  #opaque(statement: Statement): OpaquePlan {
    const features = statementFeatures(statement);
    const reads = features.reads.map(({ name }) => this.tables.get(tableKey(name)));
    const writes = features.writes.map(({ name }) => this.tables.get(tableKey(name)));
    const named = [...reads, ...writes];
    const isQuery = statement.type === 'select';
    return {
      type: 'opaque',
      reads: reads.filter((table) => table !== undefined),
      writes: writes.filter((table) => table !== undefined),
      // A view, or a name from somewhere else, may stand for any table.
      everything: (!isQuery && writes.length === 0) || named.includes(undefined),
      lock: features.locking,
    };
  }

  /** How further statements of a simple shape are read: constants only, in the order of the text. */
  #filler(statement: Statement, plan: Plan, shape: Shape): ((constants: readonly Value[]) => Plan) | null {
    if (plan.type === 'opaque' || plan.table.identity.length !== 1) return null;
    const { table } = plan;
    const one = (value: Value) => [cellName(value) ?? ''];
    const count = shape.constants.length;
    if (statement.type === 'insert' && plan.type === 'insert') {
      const literal = plan.rows.every((row) =>
        row.every((cell) => typeof cell === 'number' || typeof cell === 'string'),
      );
      const inOrder = JSON.stringify(plan.rows.flat()) === JSON.stringify(shape.constants);
      if (!literal || !inOrder || statement.columns !== undefined) return null;
      const width = table.columns.length;
      return (constants) => ({
        type: 'insert',
        table,
        rows: plan.rows.map((_, i) => constants.slice(i * width, (i + 1) * width)),
      });
    }
    if (plan.type === 'scan' && statement.type === 'select' && statement.body.type === 'core') {
      if (count !== 1 || !isKeyTest(statement.body.where, table, shape.constants[0]!, this.dialect))
        return null;
      const { lock, shows, complete } = plan;
      return ([key]) => ({ type: 'scan', table, keys: one(key!), where: undefined, lock, shows, complete });
    }
    if (plan.type === 'delete' && statement.type === 'delete') {
      if (count !== 1 || !isKeyTest(statement.where, table, shape.constants[0]!, this.dialect)) return null;
      return ([key]) => ({ type: 'delete', table, keys: one(key!), where: undefined });
    }
    if (plan.type === 'update' && statement.type === 'update') {
      const { set, where } = statement;
      if (count !== set.length + 1 || !isKeyTest(where, table, shape.constants[count - 1]!, this.dialect))
        return null;
      const positions = set.map(({ columns, value }, i) => {
        const at = table.columns.indexOf(columns[0]!.toLowerCase());
        const constant = shape.constants[i];
        const plain = value.type === 'literal' && value.value === constant && columns.length === 1;
        const integer = typeof constant === 'number' && /INT/.test(table.shape?.columns[at]?.type ?? '');
        return plain && integer ? at : -1;
      });
      if (positions.includes(-1)) return null;
      return (constants) => ({
        type: 'update',
        table,
        keys: one(constants[count - 1]!),
        where: undefined,
        apply: (cells) => {
          const changed = [...cells];
          for (let i = 0; i < positions.length; i++) changed[positions[i]!] = constants[i]!;
          return changed;
        },
      });
    }
    return null;
  }
}

/** Whether the condition is nothing but `name = constant`, for a name of integer type. */
function isKeyTest(where: Expression | undefined, table: Table, constant: Value, dialect: Dialect): boolean {
  if (where?.type !== 'binary' || typeof constant !== 'number') return false;
  if (!/INT/.test(table.shape?.columns[table.identity[0]!]?.type ?? '')) return false;
  return keysOf(where, table, dialect)?.join() === String(constant);
}

/** The names of the rows a condition can concern: `name = constant` or `name IN (constants)` among its conjuncts. */
function keysOf(
  where: Expression | undefined,
  table: Table,
  dialect: Dialect,
): readonly string[] | undefined {
  if (where === undefined || table.identity.length !== 1) return undefined;
  const column = table.shape!.columns[table.identity[0]!]!.name;
  const isName = (e: Expression) => e.type === 'column' && sameName(e.name, column, dialect);
  if (where.type === 'binary' && where.op === 'AND') {
    return keysOf(where.left, table, dialect) ?? keysOf(where.right, table, dialect);
  }
  if (where.type === 'binary' && where.op === '=') {
    const constant = isName(where.left) ? where.right : isName(where.right) ? where.left : undefined;
    return constant === undefined ? undefined : namesOf([constant]);
  }
  if (where.type === 'in-list' && !where.negated && isName(where.operand)) return namesOf(where.list);
  return undefined;
}

function namesOf(constants: readonly Expression[]): readonly string[] | undefined {
  const names: string[] = [];
  for (const constant of constants) {
    if (constant.type !== 'literal') return undefined;
    const name = cellName(constant.value);
    if (name !== undefined) names.push(name);
  }
  return names;
}
