/** From a tree to SQL in one line. `parseStatement(printStatement(x))` gives `x` back for every tree the dialect can spell. */
import type { Statement } from '../ast.js';
import type { Dialect } from '../dialect.js';
import { printName } from '../words.js';
import { printCreateIndex, printCreateTable, printDrop } from './definition.js';
import { printQuery } from './query.js';
import { printWrite } from './write.js';

/** A statement as SQL without semicolon. */
export function printStatement(statement: Statement, dialect: Dialect): string {
  switch (statement.type) {
    case 'select':
      return printQuery(statement, dialect);
    case 'insert':
    case 'update':
    case 'delete':
    case 'merge':
      return printWrite(statement, dialect);
    case 'create-table':
      return printCreateTable(statement, dialect);
    case 'create-index':
      return printCreateIndex(statement, dialect);
    case 'drop':
      return printDrop(statement, dialect);
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
