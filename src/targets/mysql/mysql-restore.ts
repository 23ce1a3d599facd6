/**
 * Decides how a scratch gets back to its initial state without building it again.
 *
 * The state is what the set-up's statements build from nothing. When its DDL only creates tables, indexes and
 * views, the tables need not be dropped: emptying them and sending the set-up's INSERTs again gives the same
 * state, in one round trip. DELETE is five times faster than TRUNCATE for a handful of rows, but only TRUNCATE
 * starts AUTO_INCREMENT from 1. Foreign keys are off while emptying, so no order is needed and nothing cascades.
 *
 * Whatever this file is not sure of (triggers, routines, sequences, CREATE … SELECT, variables, DDL after data)
 * is built again from nothing; that is always right, and slower.
 */
import { classifyStatement, quoteIdentifier } from '../../sql/index.js';

const schemaOnly =
  /^\s*(CREATE\s+TABLE|CREATE\s+(UNIQUE\s+|FULLTEXT\s+)?INDEX|CREATE\s+(OR\s+REPLACE\s+)?VIEW|ALTER\s+TABLE|DROP\s+(TABLE|VIEW|INDEX)|RENAME\s+TABLE)\b/i;
const independentOfData = /^\s*CREATE\s+(TABLE|(OR\s+REPLACE\s+)?VIEW)\b/i;
// SELECT fills a table, `AUTO_INCREMENT = n` is lost by TRUNCATE, versioned tables keep deleted rows.
const doubtful = /\bSELECT\b|\bAUTO_INCREMENT\s*=|\bSYSTEM\s+VERSIONING\b|\/\*M?!/i;

/** The statements that fill the tables, or undefined when the set-up must be run as a whole. */
export function refillStatements(setup: readonly string[]): readonly string[] | undefined {
  const refill: string[] = [];
  for (const sql of setup) {
    const { kind } = classifyStatement(sql, 'mysql');
    if (kind === 'ddl') {
      if (!schemaOnly.test(sql)) return undefined;
      if (doubtful.test(sql) && !/^\s*CREATE\s+(OR\s+REPLACE\s+)?VIEW\b/i.test(sql)) return undefined;
      if (refill.length > 0 && !independentOfData.test(sql)) return undefined;
    } else if (kind === 'insert' || kind === 'update' || kind === 'delete' || kind === 'replace') {
      refill.push(sql);
    } else {
      return undefined;
    }
  }
  return refill;
}

/** A table or view of the scratch. */
export interface ScratchTable {
  readonly name: string;
  readonly isView: boolean;
  readonly autoIncrement: boolean;
}

/** The one text that puts the data back. Statements end with a line break, for one may end in a comment. */
export function restoreText(contents: readonly ScratchTable[], refill: readonly string[]): string {
  const tables = contents.filter(({ isView }) => !isView);
  const numbered = tables.filter(({ autoIncrement }) => autoIncrement);
  const plain = tables.filter(({ autoIncrement }) => !autoIncrement);
  const statements = [
    'SET foreign_key_checks = 0',
    ...numbered.map(({ name }) => `TRUNCATE TABLE ${quoteIdentifier(name, 'mysql')}`),
    'START TRANSACTION',
    ...plain.map(({ name }) => `DELETE FROM ${quoteIdentifier(name, 'mysql')}`),
    'SET foreign_key_checks = 1',
    ...refill,
    'COMMIT',
  ];
  return statements.join('\n;\n');
}

/** What removes tables and views, one statement for each kind. */
export function emptyStatements(contents: readonly ScratchTable[]): readonly string[] {
  const names = (views: boolean) =>
    contents
      .filter(({ isView }) => isView === views)
      .map(({ name }) => quoteIdentifier(name, 'mysql'))
      .join(', ');
  const [views, tables] = [names(true), names(false)];
  return [
    ...(views === '' ? [] : [`DROP VIEW ${views}`]),
    ...(tables === ''
      ? []
      : ['SET foreign_key_checks = 0', `DROP TABLE ${tables}`, 'SET foreign_key_checks = 1']),
  ];
}
