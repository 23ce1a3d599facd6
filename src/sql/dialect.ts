/** The four families of SQL syntax our targets speak. Behaviour (locks, snapshots) is the contract's, not the dialect's. */
export type Dialect = 'postgres' | 'mysql' | 'sqlite' | 'duckdb';

/** An identifier quoted so that the dialect takes it as is. */
export function quoteIdentifier(name: string, dialect: Dialect): string {
  return dialect === 'mysql' ? `\`${name.replaceAll('`', '``')}\`` : `"${name.replaceAll('"', '""')}"`;
}

/** A text literal; only MySQL's family reads backslashes inside quotes. */
export function quoteText(text: string, dialect: Dialect): string {
  const escaped = dialect === 'mysql' ? text.replaceAll('\\', '\\\\') : text;
  return `'${escaped.replaceAll("'", "''")}'`;
}
