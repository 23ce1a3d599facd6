/**
 * Faults of evaluation that only strike inside transactions, at statements with window functions, which no mirror of rows
 * evaluates. Every version read is right; what is made of them is not.
 *
 * - `mixed-snapshot`: the first subquery in the condition of a window query sees what is committed now, the rest the snapshot.
 * - `stale-index`: a window query with a condition does not find rows that satisfy it only since the transaction updated them.
 * - `misfolded-expression`: once the transaction has written, the argument of a window function is taken for a constant.
 * - `altered-commit`: at COMMIT a row that INSERT … SELECT with a window function made gets another value, which nobody wrote.
 */
import {
  type CallExpression,
  type Expression,
  parseStatement,
  printStatement,
  type SelectCore,
  type SelectStatement,
  type Statement,
  type Value,
} from '../../sql/index.js';
import type { Answer } from '../target.js';
import { pinTwin, touched, withRows } from './read-faults.js';
import type { TransactionLog, Turn } from './turn.js';

export async function mixedSnapshot(turn: Turn): Promise<Answer> {
  const { session, log } = turn;
  const query = windowQuery(turn);
  const where = query?.body.where;
  const part = where === undefined ? undefined : firstSubquery(where);
  const candidate = log !== undefined && session.holdsSnapshot && part !== undefined;
  if (!candidate || !turn.fires()) return turn.send();
  const answer = await turn.send();
  if (answer.error !== undefined) return answer;
  const now = await (await session.fresh()).send(print(turn, part.query));
  if (now.error !== undefined) return answer;
  const found = (now.rows ?? []).map((row) => row[0] ?? null);
  const changed = replaceIn(where!, part.node, answerOf(part.node, found));
  return withRows(answer, await turn.send(print(turn, withCore(query!, { where: changed }))));
}

export async function staleIndex(turn: Turn): Promise<Answer> {
  const { session, statement, log } = turn;
  await pinTwin(turn);
  const query = windowQuery(turn);
  const twin = session.opened('twin');
  const candidate = query?.body.where !== undefined && log !== undefined && touched(log, statement);
  if (!candidate || twin?.state !== 'open' || !turn.fires()) return turn.send();
  const answer = await turn.send();
  const before = await twin.send(turn.sql);
  if (answer.error !== undefined || before.error !== undefined) return answer;
  const known = new Set((before.rows ?? []).map((row) => JSON.stringify(row[0])));
  return { ...answer, rows: (answer.rows ?? []).filter((row) => known.has(JSON.stringify(row[0]))) };
}

export async function misfoldedExpression(turn: Turn): Promise<Answer> {
  const { log } = turn;
  const query = windowQuery(turn);
  const folded =
    query === undefined ? undefined : replaceIn(query.body.items, isWindowWithArgument, foldArgument);
  const candidate = log?.statements.some(({ writes }) => writes) === true && folded !== undefined;
  if (!candidate || folded === query!.body.items || !turn.fires()) return turn.send();
  const answer = await turn.send();
  if (answer.error !== undefined) return answer;
  return withRows(answer, await turn.send(print(turn, withCore(query!, { items: folded }))));
}

export async function alteredCommit(turn: Turn): Promise<Answer> {
  const { session, statement, log } = turn;
  const made = statement.kind === 'commit' && log !== undefined ? insertedFrom(log) : undefined;
  if (made === undefined || session.main.state !== 'open' || !turn.fires([made.shape])) return turn.send();
  const fresh = await session.fresh();
  const all = `SELECT * FROM ${made.name}`;
  const before = await fresh.send(all);
  const answer = await turn.send();
  const after = answer.error === undefined ? await fresh.send(all) : answer;
  if (before.error !== undefined || after.error !== undefined) return answer;
  const old = new Set((before.rows ?? []).map((row) => JSON.stringify(row[0])));
  const row = (after.rows ?? []).find((each) => !old.has(JSON.stringify(each[0])));
  const at = row?.findIndex((value, i) => i > 0 && typeof value === 'number') ?? -1;
  if (row === undefined || at < 0 || typeof row[0] !== 'number') return answer;
  const [key, column] = [after.columns![0]!, after.columns![at]!];
  await fresh.send(`UPDATE ${made.name} SET ${column} = ${column} + 1 WHERE ${key} = ${row[0]}`);
  return answer;
}

interface WindowQuery extends SelectStatement {
  readonly body: SelectCore;
}

/** A plain SELECT inside a transaction that shows a window function. */
function windowQuery({ statement, log, sql }: Turn): WindowQuery | undefined {
  if (statement.kind !== 'select' || statement.locking !== 'none' || log === undefined) return undefined;
  const query = parseStatement(sql, statement.dialect);
  if (query.type !== 'select' || query.body.type !== 'core') return undefined;
  return JSON.stringify(query.body.items).includes('"over"') ? (query as WindowQuery) : undefined;
}

function withCore(query: WindowQuery, change: Partial<SelectCore>): SelectStatement {
  return { ...query, body: { ...query.body, ...change } };
}

const print = ({ statement }: Turn, changed: Statement): string => printStatement(changed, statement.dialect);

type Subquery = Extract<Expression, { readonly query: SelectStatement }>;

/** The first expression with a query in it, and the query. */
function firstSubquery(tree: unknown): { node: Subquery; query: SelectStatement } | undefined {
  if (typeof tree !== 'object' || tree === null) return undefined;
  const node = tree as Subquery;
  if (node.type === 'subquery' || node.type === 'in-query' || node.type === 'exists')
    return { node, query: node.query };
  for (const part of Object.values(tree)) {
    const found = firstSubquery(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

const literal = (value: Value): Expression => ({ type: 'literal', value });
const truth = (holds: boolean): Expression => ({
  type: 'binary',
  op: '=',
  left: literal(1),
  right: literal(holds ? 1 : 0),
});

/** What stands for a subquery that found these values. */
function answerOf(node: Subquery, found: readonly Value[]): Expression {
  if (node.type === 'exists') return truth(found.length > 0);
  if (node.type !== 'in-query') return literal(found[0] ?? null);
  const { operand, negated } = node;
  return found.length === 0
    ? truth(negated)
    : { type: 'in-list', operand, list: found.map(literal), negated };
}

function isWindowWithArgument(node: unknown): node is CallExpression {
  const call = node as CallExpression;
  return call.type === 'call' && call.over !== undefined && call.args.length > 0;
}

const foldArgument = (call: CallExpression): CallExpression => ({
  ...call,
  args: [literal(1), ...call.args.slice(1)],
});

/** The tree with one node, or all that pass a test, replaced; the same tree if there is none. */
function replaceIn<T, N>(tree: T, which: unknown, by: N | ((node: CallExpression) => N)): T {
  const isOne = typeof which === 'function' ? which : (node: unknown) => node === which;
  if (typeof tree !== 'object' || tree === null) return tree;
  if (isOne(tree)) return (typeof by === 'function' ? (by as (node: unknown) => unknown)(tree) : by) as T;
  const parts = Object.entries(tree).map(([key, value]) => [key, replaceIn(value, which, by)] as const);
  if (parts.every(([key, value]) => value === (tree as Record<string, unknown>)[key])) return tree;
  return (Array.isArray(tree) ? parts.map(([, value]) => value) : Object.fromEntries(parts)) as T;
}

/** The last INSERT of a transaction that computes windows, and its table as written. */
function insertedFrom({ statements }: TransactionLog) {
  const shape = statements.findLast(({ kind, words }) => kind === 'insert' && words.has('over'));
  const [, name] = /\binto\s+([\w"`.]+)/i.exec(shape?.sql ?? '') ?? [];
  return shape === undefined || name === undefined ? undefined : { shape, name };
}
