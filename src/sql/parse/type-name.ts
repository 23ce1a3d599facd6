/** Type names: `int unsigned`, `DECIMAL(10,2)`, `timestamp(3) with time zone`, `ENUM('a','b')`, `text[]`. */
import type { Cursor } from './cursor.js';

const continuations = new Set(['PRECISION', 'VARYING', 'UNSIGNED', 'SIGNED', 'ZEROFILL', 'LARGE', 'OBJECT']);
const columnWords = new Set(
  'CONSTRAINT PRIMARY NOT NULL UNIQUE CHECK DEFAULT COLLATE REFERENCES GENERATED AS AUTOINCREMENT ON HIDDEN'.split(
    ' ',
  ),
);

/** The type at the cursor, in upper case, spaced in one way. */
export function parseTypeName(c: Cursor): string {
  let type = '';
  const first = c.key();
  if (c.kind() === 'quoted') type = c.advance();
  else if (c.kind() === 'word') type = c.advance().toUpperCase();
  else c.fail('a type');
  while (c.accept('.')) type += `.${c.kind() === 'word' ? c.advance().toUpperCase() : c.advance()}`;
  for (;;) {
    if (c.accept('(')) {
      const args = c.textUntil(')').replaceAll(/\s*,\s*/g, ', ');
      c.expect(')');
      type += `(${args})`;
    } else if (c.key() === '[' && c.key(1) === ']') {
      c.accept('[', ']');
      type += '[]';
    } else if (c.accept('WITH', 'TIME', 'ZONE')) type += ' WITH TIME ZONE';
    else if (c.accept('WITHOUT', 'TIME', 'ZONE')) type += ' WITHOUT TIME ZONE';
    else if (c.accept('CHARACTER', 'SET') || c.accept('CHARSET')) type += ` CHARACTER SET ${c.anyName()}`;
    else if (continues(c, first)) type += ` ${c.advance().toUpperCase()}`;
    else return type;
  }
}

function continues(c: Cursor, first: string): boolean {
  if (c.kind() !== 'word') return false;
  const key = c.key();
  if (c.dialect === 'sqlite') return !columnWords.has(key);
  if (continuations.has(key)) return true;
  if (first === 'SIGNED' || first === 'UNSIGNED') return key === 'INTEGER' || key === 'INT';
  return first === 'NATIONAL' && (key === 'CHAR' || key === 'CHARACTER' || key === 'VARCHAR');
}
