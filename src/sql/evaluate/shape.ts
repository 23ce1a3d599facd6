/** What a table looks like to a write: its columns with types, defaults and generated values, and its keys. */
import type { ColumnDefinition, CreateTableStatement, Expression } from '../ast.js';
import type { Dialect } from '../dialect.js';
import type { ColumnInfo } from './scope.js';

export interface ShapeColumn extends ColumnInfo {
  readonly notNull: boolean;
  readonly default?: Expression;
  readonly generated?: Expression;
  /** The engine invents a value when none is given. */
  readonly automatic: boolean;
}

export interface TableShape {
  readonly schema?: string;
  readonly name: string;
  readonly columns: readonly ShapeColumn[];
  readonly keys: readonly { readonly columns: readonly string[]; readonly primary: boolean }[];
  readonly checks: readonly Expression[];
  /** A query gives the table columns beside those that are written here. */
  readonly derived?: true;
}

/** The shape a CREATE TABLE gives. Keys over expressions are left out. */
export function tableShape(create: CreateTableStatement, dialect: Dialect): TableShape {
  const keys: { columns: string[]; primary: boolean }[] = [];
  const checks: Expression[] = [];
  for (const { name, constraints } of create.columns) {
    for (const constraint of constraints) {
      if (constraint.type === 'primary-key') keys.push({ columns: [name], primary: true });
      else if (constraint.type === 'unique') keys.push({ columns: [name], primary: false });
      else if (constraint.type === 'check') checks.push(constraint.condition);
    }
  }
  for (const constraint of create.constraints) {
    if (constraint.type === 'check') checks.push(constraint.condition);
    if (constraint.type !== 'primary-key' && constraint.type !== 'unique') continue;
    const columns = constraint.columns.flatMap(({ expression, length }) =>
      expression.type === 'column' && length === undefined ? [expression.name] : [],
    );
    if (columns.length === constraint.columns.length)
      keys.push({ columns, primary: constraint.type === 'primary-key' });
  }
  const primary = keys.find((key) => key.primary)?.columns ?? [];
  return {
    ...(create.schema === undefined ? {} : { schema: create.schema }),
    name: create.name,
    columns: create.columns.map((column) => shapeColumn(column, primary, dialect)),
    keys,
    checks,
    ...(create.as !== undefined && { derived: true }),
  };
}

function isNextOfSequence(value: Expression): boolean {
  return value.type === 'call' && /^nextval$/i.test(value.name);
}

function shapeColumn(column: ColumnDefinition, primary: readonly string[], dialect: Dialect): ShapeColumn {
  const { name, columnType, constraints } = column;
  const defaulted = constraints.find((constraint) => constraint.type === 'default-value');
  const generated = constraints.find((constraint) => constraint.type === 'generated');
  const isKey = primary.includes(name);
  // A column with a collation of its own compares by rules we do not know: it counts as of unknown type.
  const collated = constraints.some(
    (constraint) => constraint.type === 'other' && /^COLLATE/i.test(constraint.sql),
  );
  const rowId = dialect === 'sqlite' && isKey && primary.length === 1 && columnType === 'INTEGER';
  const automatic =
    rowId ||
    // HSQLDB has the second as a type, and as a word behind one.
    /SERIAL|^IDENTITY$/.test(columnType ?? '') ||
    constraints.some(
      (each) =>
        each.type === 'auto-increment' ||
        each.type === 'identity' ||
        (each.type === 'other' && /^IDENTITY\b/i.test(each.sql)),
    ) ||
    (defaulted?.type === 'default-value' && isNextOfSequence(defaulted.value));
  return {
    name,
    ...(columnType === undefined || collated ? {} : { type: columnType }),
    notNull: constraints.some(({ type }) => type === 'not-null') || (isKey && dialect !== 'sqlite'),
    ...(defaulted?.type === 'default-value' ? { default: defaulted.value } : {}),
    ...(generated?.type === 'generated' ? { generated: generated.value } : {}),
    automatic,
  };
}
