/** Transaction control. Modifiers keep their words; only the bare noise words TRANSACTION and WORK are dropped. */
import type { BeginStatement, EndStatement, SavepointStatement } from '../ast.js';
import type { Cursor } from './cursor.js';

type Control = BeginStatement | EndStatement | SavepointStatement;

/** `undefined` when the words only look like transaction control. */
export function parseTransaction(c: Cursor): Control | undefined {
  switch (c.key()) {
    case 'BEGIN': {
      c.advance();
      // MariaDB's `BEGIN NOT ATOMIC … END` is a block of statements.
      if (c.key() === 'NOT') return undefined;
      if (!c.accept('TRANSACTION')) c.accept('WORK');
      return { type: 'begin', start: false, ...modifiers(c) };
    }
    case 'START':
      if (!c.accept('START', 'TRANSACTION')) return undefined;
      return { type: 'begin', start: true, ...modifiers(c) };
    case 'COMMIT':
    case 'END':
      c.advance();
      noise(c);
      return { type: 'commit', ...modifiers(c) };
    case 'ABORT':
      c.advance();
      noise(c);
      return { type: 'rollback', ...modifiers(c) };
    case 'ROLLBACK':
      c.advance();
      noise(c);
      if (!c.accept('TO')) return { type: 'rollback', ...modifiers(c) };
      return savepoint(c, 'rollback-to');
    case 'SAVEPOINT':
      return savepoint(c, 'savepoint');
    case 'RELEASE':
      c.advance();
      return savepoint(c, 'release');
    default:
      return undefined;
  }
}

/** SQLite's deferred modes may stand before the noise word: `BEGIN IMMEDIATE TRANSACTION`. */
function modifiers(c: Cursor): { modifiers?: string } {
  const words = c.wordsToEnd().replace(/^(DEFERRED|IMMEDIATE|EXCLUSIVE|CONCURRENT) TRANSACTION$/, '$1');
  return words === '' ? {} : { modifiers: words };
}

function noise(c: Cursor): void {
  if (!c.accept('TRANSACTION')) c.accept('WORK');
}

function savepoint(c: Cursor, type: SavepointStatement['type']): SavepointStatement {
  c.accept('SAVEPOINT');
  const name = c.name();
  c.end();
  return { type, name };
}
