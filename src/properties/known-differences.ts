/**
 * Differences between engines that are documented, so that a differential run does not report them. Each says between which
 * engines, in which statements, why, and where that is written down. To add one, add a row; an undocumented difference stays a finding.
 */
export interface KnownDifference {
  /** The engines it is between, by name, in any order; one name: between versions of that engine. */
  readonly between: readonly [string, string?];
  readonly statement: RegExp;
  readonly why: string;
  readonly source: string;
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    between: ['mariadb', 'mysql'],
    statement: /\bRETURNING\b/i,
    why: 'only MariaDB has RETURNING',
    source: 'https://mariadb.com/kb/en/insertreturning/',
  },
  {
    between: ['mariadb', 'mysql'],
    statement: /\b(?:INTERSECT|EXCEPT)\b/i,
    why: 'MySQL has INTERSECT and EXCEPT from 8.0.31 on',
    source: 'https://dev.mysql.com/doc/refman/8.0/en/intersect.html',
  },
  {
    between: ['mariadb', 'mysql'],
    statement: /^\s*(?:UPDATE|DELETE\s+FROM)\s+`?(\w+)`?\b[\s\S]*\(\s*SELECT\b[\s\S]*\bFROM\s+`?\1`?\b/i,
    why: 'MySQL refuses an UPDATE or DELETE with a subquery on its own table (error 1093); MariaDB has allowed them since 10.3',
    source: 'https://dev.mysql.com/doc/refman/8.0/en/update.html, https://mariadb.com/kb/en/update/',
  },
];

/** The documented difference that explains why two engines answer a statement differently; undefined: none does. */
export function knownDifference(left: string, right: string, sql: string): KnownDifference | undefined {
  return knownDifferences.find(({ between: [a, b = a], statement }) => {
    const engines = (a === left && b === right) || (a === right && b === left);
    return engines && statement.test(sql);
  });
}
