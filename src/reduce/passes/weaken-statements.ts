/**
 * Makes single statements weaker or shorter through their trees: conjuncts of WHERE, columns of a projection, joins, ORDER
 * BY, LIMIT, FOR UPDATE, assignments, CTEs and subqueries go or give way to something simpler.
 *
 * One reflective walk proposes for every node, outermost first:
 * - a part that may be left out (`where`, `limit`, `returning`, …) left out, or a list emptied;
 * - a list that may be shorter without one of its elements (items, assignments, rows, CTEs, IN lists);
 * - an expression replaced by one of its parts (`a AND b` → `a`; `f(x)` → `x`; a subquery → 1), a join by one of its
 *   sides, a set operation by one of its operands, a projection by `*`.
 *
 * Most proposals are fine SQL, some are not; a trial tells. Where nothing but the rows matters, as in most findings, one
 * trial does most of the work: all statements bare at once (`SELECT * FROM t`, `UPDATE t SET a = 1`), then reads or writes
 * alone, then one statement at a time.
 */
import {
  type Dialect,
  parseStatement,
  printStatement,
  type SelectCore,
  type Statement,
} from '../../sql/index.js';
import { contentKey } from '../candidate.js';
import { type Pass, type Proposal, withSetup, withStatements } from './pass.js';

export const weakenStatements: Pass = {
  name: 'weaken statements',
  proposals(current, { dialect }) {
    const bare = (types: readonly Statement['type'][]): Proposal => {
      const changed = withStatements(current, (sql) => bareStatement(sql, types, dialect));
      return () => (contentKey(changed) === contentKey(current) ? undefined : changed);
    };
    const inSessions = current.case.sessions.flatMap(({ statements }, s) =>
      statements.flatMap((sql, p): Proposal[] =>
        weakerStatements(sql, dialect).map(
          (weaker) => () => withStatements(current, (old, os, op) => (os === s && op === p ? weaker : old)),
        ),
      ),
    );
    // Rows of the set-up's INSERTs have a pass of their own.
    const inSetup = current.case.setup.flatMap((sql, i): Proposal[] =>
      /^\s*insert\b/i.test(sql)
        ? []
        : weakerStatements(sql, dialect).map(
            (weaker) => () => withSetup(current, current.case.setup.with(i, weaker)),
          ),
    );
    const grouped =
      inSessions.length > 1
        ? [bare(['select', 'update', 'delete']), bare(['select']), bare(['update', 'delete'])]
        : [];
    return [...grouped, ...inSessions, ...inSetup];
  },
};

/** A statement without all that can be left out of it at once. */
function bareStatement(sql: string, types: readonly Statement['type'][], dialect: Dialect): string {
  const statement = parseStatement(sql, dialect);
  if (!types.includes(statement.type)) return sql;
  switch (statement.type) {
    case 'select': {
      const { body } = statement;
      if (body.type !== 'core' || body.from.length !== 1 || body.from[0]!.type !== 'table') return sql;
      const core = { ...emptyCore, from: body.from };
      return printStatement({ type: 'select', body: core, orderBy: [], locks: [] }, dialect);
    }
    case 'update':
    case 'delete': {
      const { where: _, ...rest } = statement;
      return printStatement(rest as Statement, dialect);
    }
    default:
      return sql;
  }
}

const emptyCore: SelectCore = {
  ...{ type: 'core', distinct: false, items: [{ type: 'star' }], from: [], groupBy: [] },
};

type Node = Readonly<Record<string, unknown>>;

/** Weaker forms of a statement, none twice, none the statement itself. */
export function weakerStatements(sql: string, dialect: Dialect): string[] {
  const statement = parseStatement(sql, dialect);
  if (statement.type === 'opaque') return [];
  const printed = new Set<string>();
  for (const weaker of weakerNodes(statement as unknown as Node)) {
    printed.add(printStatement(weaker as unknown as Statement, dialect));
  }
  printed.delete(sql);
  return [...printed];
}

const mayGo = new Set([
  ...[
    'with',
    'where',
    'having',
    'limit',
    'offset',
    'returning',
    'conflict',
    'hint',
    'modifiers',
    'distinctOn',
  ],
  ...[
    'windows',
    'otherwise',
    'filter',
    'over',
    'frame',
    'nulls',
    'tail',
    'wait',
    'columnsWhere',
    'method',
    'options',
  ],
]);
const mayBeEmpty = new Set(['orderBy', 'locks', 'groupBy', 'using', 'partitionBy', 'of', 'constraints']);
const mayBeShorter = new Set([
  ...[
    'items',
    'set',
    'rows',
    'list',
    'branches',
    'ctes',
    'from',
    'whens',
    'orderBy',
    'groupBy',
    'constraints',
    'names',
  ],
]);
const mayBeFalse = new Set(['distinct', 'recursive', 'negated', 'descending', 'unique']);

function* weakerNodes(node: Node): Generator<Node> {
  yield* replacements(node);
  if (node.type === 'literal') return;
  for (const [key, value] of Object.entries(node)) {
    if (mayGo.has(key)) {
      const { [key]: _, ...rest } = node;
      yield rest;
    }
    if (mayBeFalse.has(key) && value === true) yield { ...node, [key]: false };
    if (Array.isArray(value)) {
      if (mayBeEmpty.has(key) && value.length > 0) yield { ...node, [key]: [] };
      if (mayBeShorter.has(key) && value.length > 1)
        for (let i = value.length - 1; i >= 0; i--) yield { ...node, [key]: value.toSpliced(i, 1) };
    }
  }
  for (const [key, value] of Object.entries(node)) {
    if (isNode(value)) for (const weaker of weakerNodes(value)) yield { ...node, [key]: weaker };
    else if (Array.isArray(value)) yield* weakerElements(node, key, value);
  }
}

function* weakerElements(node: Node, key: string, list: readonly unknown[]): Generator<Node> {
  for (const [i, element] of list.entries()) {
    if (isNode(element)) {
      for (const weaker of weakerNodes(element)) yield { ...node, [key]: list.with(i, weaker) };
    } else if (Array.isArray(element)) {
      for (const changed of weakerElements({}, 'list', element))
        yield { ...node, [key]: list.with(i, changed.list) };
    }
  }
}

const one: Node = { type: 'literal', value: 1 };
const star: Node = { type: 'star' };

/** What a node may give way to. */
function* replacements(node: Node): Generator<Node> {
  const part = function* (...names: readonly string[]): Generator<Node> {
    for (const name of names) if (isNode(node[name])) yield node[name] as Node;
  };
  switch (node.type) {
    case 'binary':
      if (!isComparison(node.op)) yield* part('left', 'right');
      return;
    case 'unary':
    case 'cast':
    case 'collate':
      yield* part('operand');
      return;
    case 'call':
      for (const arg of (node.args as readonly Node[]) ?? []) yield arg;
      return;
    case 'case':
      for (const { result } of node.branches as readonly { readonly result: Node }[]) yield result;
      yield* part('otherwise');
      return;
    case 'between':
      yield equals(node.operand, node.low);
      yield equals(node.operand, node.high);
      return;
    case 'in-list':
      yield equals(node.operand, (node.list as readonly unknown[])[0]);
      return;
    case 'in-query':
      yield equals(node.operand, one);
      return;
    case 'subquery':
      yield one;
      yield { type: 'literal', value: 0 };
      return;
    case 'join':
    case 'set-operation':
      yield* part('left', 'right');
      return;
    case 'core':
      if (!(node.items as readonly Node[]).every(({ type }) => type === 'star'))
        yield { ...node, items: [star] };
      return;
    case 'item':
      if (node.alias !== undefined) yield { type: 'item', expression: node.expression };
      return;
    default:
  }
}

function equals(left: unknown, right: unknown): Node {
  return { type: 'binary', op: '=', left, right };
}

function isComparison(op: unknown): boolean {
  return ['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'].includes(op as string);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
