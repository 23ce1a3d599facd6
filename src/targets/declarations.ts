/** Every engine: one line each, in the order help texts list them. */

import { cockroachDeclaration } from './cockroach/declaration.js';
import type { TargetDeclaration } from './declaration.js';
import { duckdbDeclaration } from './duckdb/declaration.js';
import { execDeclaration } from './exec/declaration.js';
import { mariadbDeclaration } from './mariadb/declaration.js';
import { mysqlDeclaration } from './mysql/declaration.js';
import { postgresDeclaration } from './postgres/declaration.js';
import { sqliteDeclaration } from './sqlite/declaration.js';
import { tidbDeclaration } from './tidb/declaration.js';
import { tursoDeclaration } from './turso/declaration.js';

export const targetDeclarations: readonly TargetDeclaration[] = [
  duckdbDeclaration,
  tursoDeclaration,
  sqliteDeclaration,
  postgresDeclaration,
  mariadbDeclaration,
  mysqlDeclaration,
  tidbDeclaration,
  cockroachDeclaration,
  execDeclaration,
];

/** What is declared of the engine of that name; undefined: an adapter's, or nothing is. */
export function findDeclaration(name: string): TargetDeclaration | undefined {
  return targetDeclarations.find((declaration) => declaration.name === name);
}
