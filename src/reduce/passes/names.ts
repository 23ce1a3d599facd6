/** Names a case gives to its tables, columns and indexes, and what counts as a plain one: `t`, `a`, `id`, `t2`. */
import { type Case, namedNode } from '../../cases/index.js';
import { type Dialect, parseStatement } from '../../sql/index.js';

export const plainName = /^[a-z]{1,2}\d?$/;

/** Tables first, then columns, as the set-up defines them; each once. */
export function namesOf(program: Case, dialect: Dialect): string[] {
  const { tables, columns } = definedNames(program, dialect);
  return [...new Set([...tables, ...columns])];
}

export function definedNames(
  program: Case,
  dialect: Dialect,
): { readonly tables: readonly string[]; readonly columns: readonly string[] } {
  const tables: string[] = [];
  const columns: string[] = [];
  for (const sql of program.setup) {
    if (!/^\s*create\b/i.test(sql)) continue;
    const statement = parseStatement(sql, dialect);
    if (statement.type === 'create-table') {
      tables.push(statement.name);
      columns.push(...statement.columns.map(({ name }) => name));
    } else if (statement.type === 'create-index' && statement.name !== undefined) tables.push(statement.name);
  }
  return { tables, columns };
}

/** `T1`, and the node if the name asks for one: elsewhere it would be another case. */
export function plainSession(name: string, number: number): string {
  const node = namedNode(name);
  return `T${number + 1}${node === undefined ? '' : `@${node}`}`;
}
