/** Statements that the parser does not take apart and that change no row, whatever tables they name. */
const harmless =
  /^\s*(show|explain(?!\b.*\banalyze\b)|describe|desc|analyze|checkpoint|vacuum|use|lock|unlock|listen|notify|check|optimize|reindex|grant|revoke|comment|flush)\b/i;

export function touchesNoRows(sql: string): boolean {
  return harmless.test(sql);
}
