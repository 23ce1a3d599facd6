/** Every engine: one line each, in the order help texts list them. */

import { clusterDeclaration } from './cluster/declaration.js';
import { cockroachDeclaration } from './cockroach/declaration.js';
import type { TargetDeclaration } from './declaration.js';
import { derbyDeclaration } from './derby/declaration.js';
import { duckdbDeclaration } from './duckdb/declaration.js';
import { execDeclaration } from './exec/declaration.js';
import { h2Declaration } from './h2/declaration.js';
import { hsqldbDeclaration } from './hsqldb/declaration.js';
import { jdbcDeclaration } from './jdbc/declaration.js';
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
  h2Declaration,
  hsqldbDeclaration,
  derbyDeclaration,
  jdbcDeclaration,
  clusterDeclaration,
  execDeclaration,
];

/** The engine of URLs that begin so; undefined: there is none. */
export function declarationOfScheme(scheme: string): TargetDeclaration | undefined {
  return targetDeclarations.find(({ schemes }) => schemes.includes(scheme.toLowerCase()));
}

/** What is declared of the engine of that name; undefined: an adapter's, or nothing is. */
export function findDeclaration(name: string): TargetDeclaration | undefined {
  return targetDeclarations.find((declaration) => declaration.name === name);
}
