/**
 * Which features a statement uses, told from its tree: the counterpart of drawing them. It serves learning from
 * errors, and it lets tests count what was generated without trusting the generator.
 */
import type {
  ColumnDefinition,
  CreateTableStatement,
  Dialect,
  Expression,
  SelectStatement,
  Statement,
} from '../sql/index.js';
import type { Feature } from './features.js';
import { kindOfType } from './values.js';

/** The features of a statement, each once. */
export function featuresOf(statement: Statement, dialect: Dialect): Feature[] {
  const found = new Set<Feature>();
  ownFeatures(statement, dialect, found);
  const where = 'where' in statement ? statement.where : undefined;
  if (where !== undefined) for (const each of whereFeatures(where)) found.add(each);
  // The source of a MERGE is part of it: to blame subqueries for a refused MERGE would cost them and keep it.
  const searched = statement.type === 'merge' ? statement.whens : statement;
  visit(searched, (node) => nodeFeatures(node, found));
  return [...found];
}

function ownFeatures(statement: Statement, dialect: Dialect, found: Set<Feature>): void {
  switch (statement.type) {
    case 'select':
      found.add('statement.select');
      break;
    case 'insert':
      if (statement.mode === 'replace') found.add('statement.replace');
      else if (statement.conflict !== undefined) found.add('statement.upsert');
      else found.add(statement.source.type === 'query' ? 'statement.insert-select' : 'statement.insert');
      if (statement.source.type === 'values' && statement.source.rows.length > 1)
        found.add('write.multi-row');
      break;
    case 'update':
      found.add('statement.update');
      for (const { value } of statement.set) found.add(setFeature(value));
      break;
    case 'delete':
      found.add('statement.delete');
      break;
    case 'merge':
      found.add('statement.merge');
      break;
    case 'create-table':
      if (statement.as !== undefined) found.add('statement.table');
      for (const feature of tableFeatures(statement, dialect)) found.add(feature);
      break;
    case 'create-index':
      found.add(statement.where !== undefined ? 'index.partial' : indexFeature(statement.columns.length));
      found.add('statement.index');
      break;
    case 'drop':
      found.add(statement.what === 'INDEX' ? 'statement.index' : 'statement.table');
      break;
    case 'begin':
      found.add(beginFeature(statement.modifiers));
      break;
    case 'commit':
    case 'rollback':
      found.add(`end.${statement.type}`);
      break;
    case 'savepoint':
    case 'release':
    case 'rollback-to':
      found.add('statement.savepoint');
      break;
    case 'opaque':
      break;
    default:
      statement satisfies never;
  }
  if ('returning' in statement && statement.returning !== undefined) found.add('write.returning');
  const target = 'table' in statement && statement.table.type === 'table' ? statement.table.name : undefined;
  if (target !== undefined && readsItself(statement, target)) found.add('write.self-subquery');
}

function indexFeature(columns: number): Feature {
  return columns > 1 ? 'index.composite' : 'index.secondary';
}

function beginFeature(modifiers: string | undefined): Feature {
  if (modifiers === undefined || /^(CONCURRENT|READ WRITE)\b/.test(modifiers)) return 'begin.plain';
  if (modifiers.includes('READ ONLY')) return 'begin.read-only';
  return modifiers.includes('SNAPSHOT') ? 'begin.snapshot' : 'begin.immediate';
}

function setFeature(value: Expression): Feature {
  if (value.type === 'case') return 'set.case';
  if (value.type === 'subquery') return 'set.subquery';
  if (value.type === 'column') return 'set.no-op';
  return value.type === 'binary' ? 'set.expression' : 'set.constant';
}

function readsItself(statement: Statement, target: string): boolean {
  if (statement.type !== 'update' && statement.type !== 'delete') return false;
  let found = false;
  visit(statement, (node) => {
    const { body } = node as Partial<SelectStatement>;
    const from = node.type === 'select' && body?.type === 'core' ? body.from : [];
    if (from.some((each) => each.type === 'table' && each.name === target)) found = true;
  });
  return found;
}

function tableFeatures({ columns, constraints, as }: CreateTableStatement, dialect: Dialect): Feature[] {
  const found = columns.flatMap((each) => columnFeatures(each, dialect));
  const keys = constraints.filter(({ type }) => type === 'primary-key');
  if (keys.length > 0) found.push('key.composite');
  else if (as === undefined && !found.includes('key.single')) found.push('key.none');
  if (constraints.some(({ type }) => type === 'foreign-key')) found.push('column.foreign-key');
  return found;
}

function columnFeatures({ columnType, constraints }: ColumnDefinition, dialect: Dialect): Feature[] {
  const kind = columnType === undefined ? undefined : kindOfType(columnType, dialect);
  const found: Feature[] = kind === undefined ? [] : [`type.${kind}`];
  for (const { type } of constraints) {
    if (type === 'primary-key') found.push('key.single');
    if (type === 'unique' || type === 'not-null' || type === 'check' || type === 'generated') {
      found.push(`column.${type}`);
    }
    if (type === 'default-value') found.push('column.default');
  }
  return found;
}

/** Calls `each` for every node that has a type, outermost first. */
function visit(node: unknown, each: (node: { readonly type: string }) => void): void {
  if (typeof node !== 'object' || node === null) return;
  if (typeof (node as { type?: unknown }).type === 'string') each(node as { readonly type: string });
  for (const child of Object.values(node)) visit(child, each);
}

/** Features that may stand anywhere inside a statement. */
function nodeFeatures(node: { readonly type: string }, found: Set<Feature>): void {
  const select = node as SelectStatement;
  if (node.type === 'select') {
    if (select.with !== undefined) found.add('select.cte');
    if (select.orderBy.length > 0) found.add('detail.order-by');
    if (select.limit !== undefined) found.add('detail.limit');
    for (const { strength, wait } of select.locks) {
      found.add(strength === 'update' ? 'lock.update' : 'lock.share');
      if (wait !== undefined) found.add(wait === 'NOWAIT' ? 'wait.nowait' : 'wait.skip-locked');
    }
    if (select.body.type === 'core') coreFeatures(select.body, found);
  } else if (node.type === 'set-operation') {
    found.add(`select.${(node as unknown as { op: string }).op.toLowerCase()}` as Feature);
  } else if (node.type === 'derived') found.add('select.derived');
  else if (node.type === 'join') {
    const { kind } = node as unknown as { kind: string };
    if (kind === 'inner' || kind === 'left' || kind === 'cross') found.add(`select.${kind}-join`);
  } else if (node.type === 'core') coreFeatures(node as never, found);
  else if (node.type === 'call') callFeatures(node as never, found);
}

function coreFeatures(body: Extract<SelectStatement['body'], { type: 'core' }>, found: Set<Feature>): void {
  if (body.distinct) found.add('detail.distinct');
  if (body.groupBy.length > 0) found.add('select.group-by');
  if (body.having !== undefined) found.add('select.having');
  if (body.items.some(({ type }) => type === 'star')) found.add('detail.star');
  for (const item of body.items) {
    if (item.type === 'item' && item.expression.type === 'case') found.add('detail.case');
    if (item.type === 'item' && item.expression.type === 'binary') found.add('detail.arithmetic');
  }
  for (const feature of body.where === undefined ? [] : whereFeatures(body.where)) found.add(feature);
}

function callFeatures(
  { name, over }: { readonly name: string; readonly over?: unknown },
  found: Set<Feature>,
): void {
  if (over === undefined) {
    if (['count', 'sum', 'min', 'max'].includes(name)) found.add('select.aggregate');
    return;
  }
  found.add('select.window');
  found.add(`window.${name.replace('_', '-')}` as Feature);
}

/** What a condition is made of. */
export function whereFeatures(condition: Expression): Feature[] {
  switch (condition.type) {
    case 'binary': {
      const { op, left, right } = condition;
      if (op === 'AND' || op === 'OR') {
        return [`where.${op === 'AND' ? 'and' : 'or'}`, ...whereFeatures(left), ...whereFeatures(right)];
      }
      if (left.type === 'case') return ['where.case'];
      if (left.type === 'binary') return ['where.arithmetic'];
      return [right.type === 'subquery' ? 'where.scalar' : 'where.comparison'];
    }
    case 'unary':
      return ['where.not', ...whereFeatures(condition.operand)];
    case 'between':
    case 'in-list':
    case 'in-query':
    case 'like':
      return [`where.${condition.type}`];
    case 'is':
      return ['where.is-null'];
    case 'exists':
      return [correlates(condition.query) ? 'where.correlated' : 'where.exists'];
    default:
      return [];
  }
}

/** Whether a subquery's condition names a column of somebody else's table. */
function correlates({ body }: SelectStatement): boolean {
  if (body.type !== 'core') return false;
  const names = new Set(body.from.map((each) => (each.type === 'table' ? (each.alias ?? each.name) : '')));
  let found = false;
  visit(body.where, (node) => {
    const { table } = node as { readonly table?: unknown };
    if (node.type === 'column' && typeof table === 'string' && !names.has(table)) found = true;
  });
  return found;
}
