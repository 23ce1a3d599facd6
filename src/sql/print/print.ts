/** From a tree to SQL in one line. `parseStatement(printStatement(x))` gives `x` back for every tree the dialect can spell. */
import type { Expression, Statement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { printName } from '../words.js';
import { printCreateIndex, printCreateTable, printDrop } from './definition.js';
import { printExpression as printWith } from './expression.js';
import type { Printer } from './printer.js';
import { printQuery } from './query.js';
import { printWrite } from './write.js';

const printers = new Map<Dialect, Printer>();

function printerOf(dialect: Dialect): Printer {
  let printer = printers.get(dialect);
  if (printer === undefined) {
    const made: Printer = {
      dialect,
      query: (statement) => printQuery(statement, made),
      write: (statement) => printWrite(statement, made),
    };
    printers.set(dialect, made);
    printer = made;
  }
  return printer;
}

export function printExpression(expression: Expression, dialect: Dialect): string {
  return printWith(expression, printerOf(dialect));
}

/** A statement as SQL without semicolon. */
export function printStatement(statement: Statement, dialect: Dialect): string {
  const printer = printerOf(dialect);
  switch (statement.type) {
    case 'select':
      return printer.query(statement);
    case 'insert':
    case 'update':
    case 'delete':
    case 'merge':
      return printer.write(statement);
    case 'create-table':
      return printCreateTable(statement, printer);
    case 'create-index':
      return printCreateIndex(statement, printer);
    case 'drop':
      return printDrop(statement, printer);
    case 'begin':
      return withModifiers(statement.start ? 'START TRANSACTION' : 'BEGIN', statement.modifiers);
    case 'commit':
      return withModifiers('COMMIT', statement.modifiers);
    case 'rollback':
      return withModifiers('ROLLBACK', statement.modifiers);
    case 'savepoint':
      return `SAVEPOINT ${printName(statement.name, dialect)}`;
    case 'release':
      return `RELEASE SAVEPOINT ${printName(statement.name, dialect)}`;
    case 'rollback-to':
      return `ROLLBACK TO SAVEPOINT ${printName(statement.name, dialect)}`;
    case 'opaque':
      return statement.sql;
    default:
      return statement satisfies never;
  }
}

function withModifiers(verb: string, modifiers: string | undefined): string {
  return modifiers === undefined ? verb : `${verb} ${modifiers}`;
}
