/**
 * Tables of PostgreSQL whose rows are also those of others. A query of a parent shows the rows of its children, INHERITS or
 * partitions, and a statement on a child changes what is seen through the parent; keys of a parent do not bind its children.
 * Such rows have no one table to be followed in.
 */
import { type Dialect, foldName, nameKey, type Statement } from '../sql/index.js';

/** Why such a table is not followed. */
export const sharesRows = 'its rows are also those of another table';

const relation = /\b(inherits?|partition)\b/i;
const word = /"((?:[^"]|"")+)"|[\p{L}_][\p{L}\p{N}_$]*/gu;

/** By their keys (`nameKey`) everything such a definition names, its words included. */
export function tablesSharingRows(statements: readonly Statement[], dialect: Dialect): ReadonlySet<string> {
  const found = new Set<string>();
  if (dialect !== 'postgres') return found;
  for (const statement of statements) {
    if (statement.type === 'create-table') {
      const { name, options = '' } = statement;
      if (!relation.test(options)) continue;
      for (const each of [name, ...namesIn(options, dialect)]) found.add(nameKey(each, dialect));
    } else if (statement.type === 'opaque' && statement.kind === 'ddl' && relation.test(statement.sql))
      for (const each of namesIn(statement.sql, dialect)) found.add(nameKey(each, dialect));
  }
  return found;
}

function namesIn(text: string, dialect: Dialect): string[] {
  return [...text.matchAll(word)].map(([plain, quoted]) =>
    quoted === undefined ? foldName(plain, dialect) : quoted.replaceAll('""', '"'),
  );
}
