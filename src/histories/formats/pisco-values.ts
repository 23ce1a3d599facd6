/**
 * Pisco's traces keep every value as text. The types of `schema.sql` say what each column really holds, so that an
 * integer read from a trace equals the integer a statement's literal means.
 */
import {
  classifyStatement,
  doubleValue,
  integerValue,
  splitStatements,
  type Value,
} from '../../sql/index.js';

type ColumnType = 'integer' | 'double' | 'decimal' | 'text';

/** Types by table and column; a column nobody declared is text. */
export type ColumnTypes = ReadonlyMap<string, ReadonlyMap<string, ColumnType>>;

/** The columns of the CREATE TABLE statements among these. */
export function columnTypes(statements: readonly string[]): ColumnTypes {
  const tables = new Map<string, Map<string, ColumnType>>();
  for (const sql of statements) {
    if (classifyStatement(sql, 'mysql').kind !== 'ddl') continue;
    const match = /^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?[`"]?(\w+)[`"]?\s*\(([\s\S]*)\)/i.exec(sql);
    if (match === null) continue;
    const columns = new Map<string, ColumnType>();
    for (const part of topLevelParts(match[2]!)) {
      const column = /^\s*[`"]?(\w+)[`"]?\s+(\w+)/.exec(part);
      if (column !== null) columns.set(column[1]!, typeOf(column[2]!));
    }
    tables.set(match[1]!, columns);
  }
  return tables;
}

/** The statements of a file of SQL. */
export function statementsOf(text: string): string[] {
  return splitStatements(text, 'mysql').map(({ sql }) => sql);
}

/** What a column's text means. */
export function typedValue(text: unknown, type: ColumnType | undefined): Value {
  if (text === null || text === undefined) return null;
  if (typeof text !== 'string')
    return typeof text === 'number' || typeof text === 'boolean' ? text : JSON.stringify(text);
  if (type === undefined || type === 'text') return text;
  if (text === 'null') return null;
  if (type === 'integer')
    return /^[+-]?\d{1,40}$/.test(text) ? integerValue(BigInt(text.replace(/^\+/, ''))) : text;
  if (!/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return text;
  return type === 'double' ? doubleValue(Number(text)) : { decimal: text.replace(/^\+/, '') };
}

function typeOf(word: string): ColumnType {
  const type = word.toLowerCase();
  if (/^(tiny|small|medium|big)?int(eger)?\d*$/.test(type)) return 'integer';
  if (/^(double|float|real)/.test(type)) return 'double';
  return /^(decimal|numeric|dec)$/.test(type) ? 'decimal' : 'text';
}

function topLevelParts(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')') depth--;
    else if (text[i] === ',' && depth === 0) {
      parts.push(text.slice(from, i));
      from = i + 1;
    }
  }
  return [...parts, text.slice(from)];
}
