/**
 * What every part of the printer is handed: the dialect, and the parts that can stand inside others. SQL is recursive, the
 * files that print it are not.
 */
import type { SelectStatement, WriteStatement } from '../ast.js';
import type { Dialect } from '../dialect.js';

export interface Printer {
  readonly dialect: Dialect;
  query(statement: SelectStatement): string;
  write(statement: WriteStatement): string;
}
