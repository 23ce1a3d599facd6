/** CREATE TABLE, CREATE INDEX and DROP. What is not needed to know columns and keys is kept as text. */
import type {
  ColumnConstraint,
  ColumnDefinition,
  CreateIndexStatement,
  CreateTableStatement,
  DropStatement,
  Expression,
  ForeignReference,
  IndexedExpression,
  TableConstraint,
} from '../ast.js';
import type { Cursor } from './cursor.js';
import { parseExpression } from './expression.js';
import { parseTable } from './from.js';
import { makeCast } from './literal.js';
import { startsQuery } from './nested.js';
import { parseOperand } from './operand.js';
import { parseQuery, parseWhere } from './query.js';
import { parseTypeName } from './type-name.js';
import { parseIndexed } from './write.js';

export function parseCreate(c: Cursor): CreateTableStatement | CreateIndexStatement {
  c.expect('CREATE');
  if (c.accept('UNIQUE', 'INDEX')) return parseCreateIndex(c, true);
  if (c.accept('INDEX')) return parseCreateIndex(c, false);
  const temporary = c.accept('TEMPORARY') || c.accept('TEMP');
  c.expect('TABLE');
  return parseCreateTable(c, temporary);
}

function parseCreateTable(c: Cursor, temporary: boolean): CreateTableStatement {
  const ifNotExists = c.accept('IF', 'NOT', 'EXISTS');
  const name = c.qualifiedName();
  const head = { type: 'create-table' as const, temporary, ifNotExists, ...name };
  const columns: ColumnDefinition[] = [];
  const constraints: TableConstraint[] = [];
  if (c.key() === '(' && !startsQuery(c)) {
    c.parenthesized(() =>
      c.list(() => {
        const constraint = parseTableConstraint(c);
        if (constraint === undefined) columns.push(parseColumn(c));
        else constraints.push(constraint);
      }),
    );
  }
  const options = c.textUntil('AS', 'SELECT');
  const tail = options === '' ? {} : { options };
  const as = c.accept('AS') || startsQuery(c) ? { as: parseQuery(c) } : {};
  if (columns.length === 0 && !('as' in as)) c.fail('columns');
  return { ...head, columns, constraints, ...tail, ...as };
}

function parseColumn(c: Cursor): ColumnDefinition {
  const name = c.kind() === 'word' ? c.anyName() : c.name();
  const typed = c.kind() === 'quoted' || (c.kind() === 'word' && !isConstraintWord(c.key()));
  const columnType = typed ? { columnType: parseTypeName(c) } : {};
  const constraints: ColumnConstraint[] = [];
  while (c.key() !== ',' && c.key() !== ')') constraints.push(parseColumnConstraint(c));
  return { name, ...columnType, constraints };
}

const constraintWords =
  /^(CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS|AUTO_INCREMENT|AUTOINCREMENT|KEY|COMMENT|ON|VIRTUAL|STORED|INVISIBLE|VISIBLE)$/;

function isConstraintWord(key: string): boolean {
  return constraintWords.test(key);
}

function parseColumnConstraint(c: Cursor): ColumnConstraint {
  const named = c.accept('CONSTRAINT') ? { name: c.name() } : {};
  if (c.accept('NOT', 'NULL')) return { ...named, type: 'not-null' };
  if (c.accept('NULL')) return { ...named, type: 'null' };
  if (c.accept('AUTO_INCREMENT') || c.accept('AUTOINCREMENT')) return { ...named, type: 'auto-increment' };
  if (c.accept('PRIMARY', 'KEY') || (c.dialect === 'mysql' && c.accept('KEY'))) {
    return { ...named, type: 'primary-key', ...constraintTail(c) };
  }
  if (c.accept('UNIQUE')) {
    if (c.dialect === 'mysql') c.accept('KEY');
    return { ...named, type: 'unique', ...constraintTail(c) };
  }
  if (c.accept('DEFAULT')) return { ...named, type: 'default-value', value: parseDefault(c) };
  if (c.accept('CHECK')) return { ...named, type: 'check', ...parseCheck(c) };
  if (c.accept('REFERENCES')) return { ...named, type: 'references', references: parseReference(c) };
  if (c.accept('GENERATED', 'BY', 'DEFAULT', 'AS', 'IDENTITY')) return { ...named, ...identity(c, false) };
  if (c.accept('GENERATED', 'ALWAYS', 'AS', 'IDENTITY')) return { ...named, ...identity(c, true) };
  if (c.accept('GENERATED', 'ALWAYS', 'AS') || c.accept('AS')) {
    const value = c.parenthesized(() => parseExpression(c));
    const stored = c.accept('STORED') || c.accept('PERSISTENT');
    if (!stored) c.accept('VIRTUAL');
    return { ...named, type: 'generated', value, stored };
  }
  return { ...named, type: 'other', sql: rawConstraint(c) };
}

/** Takes at least one token, then up to the next word that starts a constraint. */
function rawConstraint(c: Cursor): string {
  const from = c.position;
  do {
    if (c.key() === '(') {
      c.advance();
      c.textUntil(')');
    }
    c.advance();
  } while (!c.ended && c.key() !== ',' && c.key() !== ')' && !isConstraintWord(c.key()));
  return c.textSince(from);
}

function identity(c: Cursor, always: boolean): { type: 'identity'; always: boolean; options?: string } {
  if (c.key() !== '(') return { type: 'identity', always };
  return { type: 'identity', always, options: c.parenthesized(() => c.textUntil(')')) };
}

/** A default is a constant, a call or something in parentheses: no operators, or NOT NULL would be taken for one. */
function parseDefault(c: Cursor): Expression {
  let value = parseOperand(c);
  while (c.accept('::')) value = makeCast(c, value, parseTypeName(c));
  return value;
}

function parseCheck(c: Cursor): { condition: Expression; tail?: string } {
  const condition = c.parenthesized(() => parseExpression(c));
  const tail = c.accept('NOT', 'ENFORCED') ? 'NOT ENFORCED' : c.accept('NO', 'INHERIT') ? 'NO INHERIT' : '';
  return { condition, ...(tail === '' ? {} : { tail }) };
}

/** `DESC`, `ON CONFLICT REPLACE`, `NULLS NOT DISTINCT`, `USING BTREE`: words behind a key. */
function constraintTail(c: Cursor): { tail?: string } {
  const from = c.position;
  for (;;) {
    if (c.accept('ASC') || c.accept('DESC') || c.accept('DEFERRABLE') || c.accept('NOT', 'DEFERRABLE'))
      continue;
    if (c.accept('NULLS', 'NOT', 'DISTINCT') || c.accept('NULLS', 'DISTINCT')) continue;
    if (c.accept('INITIALLY', 'DEFERRED') || c.accept('INITIALLY', 'IMMEDIATE')) continue;
    if (
      c.key() !== 'CLUSTERED' &&
      c.key() !== 'NONCLUSTERED' &&
      !(c.key() === 'USING' && c.kind(1) === 'word')
    ) {
      if (!c.accept('ON', 'CONFLICT')) break;
      c.advance();
    } else if (c.accept('USING')) c.advance();
    else c.advance();
  }
  const tail = c.textSince(from).toUpperCase();
  return tail === '' ? {} : { tail };
}

function parseReference(c: Cursor): ForeignReference {
  const { schema, name } = c.qualifiedName();
  const columns = c.key() === '(' ? { columns: c.names() } : {};
  const from = c.position;
  for (;;) {
    if (c.accept('ON', 'DELETE') || c.accept('ON', 'UPDATE')) {
      if (!c.accept('SET', 'NULL') && !c.accept('SET', 'DEFAULT') && !c.accept('NO', 'ACTION')) c.advance();
    } else if (c.accept('MATCH')) c.advance();
    else if (!c.accept('DEFERRABLE') && !c.accept('NOT', 'DEFERRABLE')) {
      if (!c.accept('INITIALLY')) break;
      c.advance();
    }
  }
  const actions = c.textSince(from).toUpperCase();
  const target = { ...(schema === undefined ? {} : { schema }), table: name, ...columns };
  return actions === '' ? target : { ...target, actions };
}

/** A constraint of the table, or nothing when a column begins here. */
function parseTableConstraint(c: Cursor): TableConstraint | undefined {
  const named = c.accept('CONSTRAINT') ? (c.key() === 'CHECK' ? {} : { name: c.name() }) : {};
  if (c.accept('PRIMARY', 'KEY')) return { ...named, type: 'primary-key', ...parseKey(c) };
  if (c.key() === 'UNIQUE') {
    c.advance();
    if (c.dialect === 'mysql' && !c.accept('KEY')) c.accept('INDEX');
    return { ...named, type: 'unique', ...parseKey(c) };
  }
  if (c.key() === 'CHECK') {
    c.advance();
    return { ...named, type: 'check', ...parseCheck(c) };
  }
  if (c.accept('FOREIGN', 'KEY')) {
    if (c.key() !== '(') c.name();
    const columns = c.names();
    c.expect('REFERENCES');
    return { ...named, type: 'foreign-key', columns, references: parseReference(c) };
  }
  if (c.dialect === 'mysql' && (c.key() === 'KEY' || c.key() === 'INDEX')) {
    c.advance();
    return { ...named, type: 'index', ...parseKey(c) };
  }
  const other = /^(FULLTEXT|SPATIAL)$/.test(c.key()) && c.dialect === 'mysql';
  if (other || 'name' in named || (c.key() === 'EXCLUDE' && c.dialect === 'postgres')) {
    return { ...named, type: 'other', sql: c.textUntil(',', ')') };
  }
  return undefined;
}

function parseKey(c: Cursor): { indexName?: string; columns: IndexedExpression[]; tail?: string } {
  const indexName = c.key() !== '(' && c.key() !== 'USING' ? { indexName: c.name() } : {};
  const before = constraintTail(c).tail;
  const columns = parseIndexed(c);
  const after = c.textUntil(',', ')');
  const tail = [before, after].filter((text) => text !== undefined && text !== '').join(' ');
  return { ...indexName, columns, ...(tail === '' ? {} : { tail }) };
}

function parseCreateIndex(c: Cursor, unique: boolean): CreateIndexStatement {
  const concurrently = c.accept('CONCURRENTLY') ? { concurrently: true as const } : {};
  const ifNotExists = c.accept('IF', 'NOT', 'EXISTS');
  const name = c.key() === 'ON' ? {} : c.qualifiedName();
  const early = c.accept('USING') ? c.advance() : '';
  c.expect('ON');
  const table = parseTable(c);
  const method = c.accept('USING') ? c.advance() : early;
  const columns = parseIndexed(c);
  const before = c.textUntil('WHERE');
  const where = parseWhere(c);
  return {
    type: 'create-index',
    unique,
    ...concurrently,
    ifNotExists,
    ...name,
    table,
    ...(method === '' ? {} : { method: method.toUpperCase() }),
    columns,
    ...where,
    ...(before === '' ? {} : { options: before }),
  };
}

export function parseDrop(c: Cursor): DropStatement {
  c.expect('DROP');
  const what = c.key();
  if (what !== 'TABLE' && what !== 'INDEX' && what !== 'VIEW') return c.fail('TABLE, INDEX or VIEW');
  c.advance();
  const ifExists = c.accept('IF', 'EXISTS');
  const names = c.list(() => c.qualifiedName());
  // MySQL's DROP INDEX names its table there.
  const tail = c.accept('ON') ? `ON ${c.textToEnd()}` : c.wordsToEnd();
  return { type: 'drop', what, ifExists, names, ...(tail === '' ? {} : { tail }) };
}
