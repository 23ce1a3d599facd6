/**
 * Statements that the parser does not take apart and that change no row, whatever tables they name.
 *
 * ANALYZE of a table gathers statistics; before a statement it runs that statement: `EXPLAIN ANALYZE UPDATE` (PostgreSQL, which spells it
 * ANALYSE, too), `DESC ANALYZE DELETE` (MySQL), `ANALYZE FORMAT=JSON UPDATE` (MariaDB).
 */
const harmless =
  /^\s*(show|(explain|describe|desc)(?!\b.*\banaly[sz]e\b)|analy[sz]e|checkpoint|vacuum|use|lock|unlock|listen|notify|check|optimize|reindex|grant|revoke|comment|flush)\b/is;

const runsAnother = /^\s*analyze\s+(format\s*=\s*\S+\s+)?(insert|update|delete|replace|with)\b/i;

export function touchesNoRows(sql: string): boolean {
  return harmless.test(sql) && !runsAnother.test(sql);
}
