/** Which tables the interactions of a plan name, group by group. */
import { type Dialect, nameKey, parseStatement, type Statement } from '../sql/index.js';
import type { Interaction } from './interaction.js';
import { namesIn } from './tables.js';

export function groupsOf(interactions: readonly Interaction[]): Map<number, Interaction[]> {
  const groups = new Map<number, Interaction[]>();
  for (const each of interactions) {
    const list = groups.get(each.group) ?? [];
    groups.set(each.group, list);
    list.push(each);
  }
  return groups;
}

export function tablesOf(interactions: readonly Interaction[], dialect: Dialect): Set<string> {
  return new Set(
    statementsOf(interactions, dialect).flatMap((statement) => [...tablesIn(statement, dialect)]),
  );
}

/** The keys of the tables a statement names, to read, write, create or drop them. */
export function tablesIn(statement: Statement, dialect: Dialect): Set<string> {
  const { written, read } = namesIn(statement, dialect);
  const names = new Set([...written, ...read]);
  if (statement.type === 'create-table') names.add(nameKey(statement.name, dialect));
  if (statement.type === 'create-index' && statement.table.type === 'table')
    names.add(nameKey(statement.table.name, dialect));
  if (statement.type === 'drop') for (const { name } of statement.names) names.add(nameKey(name, dialect));
  return names;
}

/** Queries and checks, and nothing that could change what others find. */
export function readsOnly(interactions: readonly Interaction[], dialect: Dialect): boolean {
  return (
    interactions.every(({ type }) => type !== 'fault') &&
    statementsOf(interactions, dialect).every(({ type }) => type === 'select')
  );
}

function statementsOf(interactions: readonly Interaction[], dialect: Dialect): Statement[] {
  return interactions.flatMap((each) =>
    each.type === 'statement' ? [parseStatement(each.sql, dialect)] : [],
  );
}
