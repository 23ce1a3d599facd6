/**
 * Random statements that make sense: typed expressions over two small tables with NULLs, for comparing the evaluator with
 * real engines. Everything follows from the seed.
 */
import type { Dialect } from '../dialect.js';
import { printLiteral } from '../print/literal.js';
import type { Row, Value } from '../value.js';

type Family = 'int' | 'decimal' | 'double' | 'text' | 'bool' | 'date';

interface Column {
  readonly name: string;
  readonly family: Family;
  readonly type: string;
}

export interface TypedTable {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly create: string;
  readonly insert: string | undefined;
}

/** A small, fast generator of random numbers (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface ScopeEntry extends Column {
  readonly table: string;
}

export class TypedSql {
  readonly tables: readonly TypedTable[];

  constructor(
    private readonly dialect: Dialect,
    private readonly random: () => number,
  ) {
    this.tables = [this.table('t1', 8), this.table('t2', 5)];
  }

  private pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.random() * items.length)]!;
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  private table(name: string, maxRows: number): TypedTable {
    const { dialect } = this;
    const sqlite = dialect === 'sqlite';
    const columns: Column[] = [
      { name: 'id', family: 'int', type: 'INTEGER' },
      { name: 'a', family: 'int', type: 'INTEGER' },
      { name: 'b', family: 'int', type: sqlite ? 'INTEGER' : 'BIGINT' },
      { name: 's', family: 'text', type: sqlite ? 'TEXT' : 'VARCHAR(20)' },
      {
        name: 'x',
        family: 'double',
        type: sqlite ? 'REAL' : dialect === 'mysql' ? 'DOUBLE' : 'DOUBLE PRECISION',
      },
    ];
    if (!sqlite) {
      columns.push({ name: 'd', family: 'decimal', type: 'DECIMAL(8, 2)' });
      columns.push({ name: 'dt', family: 'date', type: 'DATE' });
    }
    if (dialect === 'postgres' || dialect === 'duckdb')
      columns.push({ name: 'f', family: 'bool', type: 'BOOLEAN' });
    const rows = Array.from({ length: Math.floor(this.random() * (maxRows + 1)) }, (_, i) =>
      columns.map((column) =>
        column.name === 'id' ? i + 1 : this.chance(0.2) ? null : this.value(column.family),
      ),
    );
    const values = rows.map((row) => `(${row.map((value) => printLiteral(value, dialect)).join(', ')})`);
    return {
      name,
      columns,
      rows,
      create: `CREATE TABLE ${name} (${columns.map((column) => `${column.name} ${column.type}`).join(', ')})`,
      insert: rows.length === 0 ? undefined : `INSERT INTO ${name} VALUES ${values.join(', ')}`,
    };
  }

  private value(family: Family): Value {
    switch (family) {
      case 'int':
        return Math.floor(this.random() * 7) - 2;
      case 'decimal':
        return { decimal: this.pick(['0.00', '1.50', '-2.25', '10.00', '1.00']) };
      case 'double':
        return this.pick([0.5, 1.25, -2.25, 3.75]);
      case 'text':
        return this.pick(['a', 'b', 'ab', 'A', 'aB', '', 'b%', 'c_']);
      case 'bool':
        return this.chance(0.5);
      case 'date':
        return { date: this.pick(['2024-01-01', '2024-02-29', '2023-12-31']) };
    }
  }

  private literal(family: Family): string {
    return printLiteral(this.value(family), this.dialect);
  }

  private column(family: Family, scope: readonly ScopeEntry[]): string | undefined {
    const candidates = scope.filter((entry) => entry.family === family);
    if (candidates.length === 0) return undefined;
    const { table, name } = this.pick(candidates);
    return `${table}.${name}`;
  }

  private leaf(family: Family, scope: readonly ScopeEntry[]): string {
    return (this.chance(0.65) ? this.column(family, scope) : undefined) ?? this.literal(family);
  }

  /** An expression of a type. */
  expression(family: Family, scope: readonly ScopeEntry[], depth: number): string {
    if (family === 'bool') return this.condition(scope, depth);
    if (depth <= 0 || this.chance(0.3)) return this.leaf(family, scope);
    const sub = (kind: Family = family) => this.expression(kind, scope, depth - 1);
    const general = [
      () => `CASE WHEN ${this.condition(scope, depth - 1)} THEN ${sub()} ELSE ${sub()} END`,
      () => `COALESCE(${sub()}, ${sub()})`,
      () => `NULLIF(${sub()}, ${sub()})`,
      () => this.scalarSubquery(family, scope, depth - 1),
    ];
    if (family === 'int') {
      general.push(
        () => `${sub()} ${this.pick(['+', '-', '*'])} ${sub()}`,
        () => `(${sub()} - ${sub()})`,
        () => `(${sub()}) % ${this.pick(['2', '3', '-2'])}`,
        () => `-(${sub()})`,
        () => `ABS(${sub()})`,
        () => `LENGTH(${sub('text')})`,
      );
      if (this.dialect === 'postgres' || this.dialect === 'sqlite')
        general.push(() => `(${sub()}) / ${this.pick(['2', '3', '-2'])}`);
    }
    if (family === 'decimal')
      general.push(() => `(${sub()} ${this.pick(['+', '-', '*'])} ${sub(this.pick(['int', 'decimal']))})`);
    if (family === 'double')
      general.push(() => `(${sub()} ${this.pick(['+', '-', '*'])} ${sub(this.pick(['int', 'double']))})`);
    if (family === 'text') {
      general.push(
        () => `LOWER(${sub()})`,
        () => `UPPER(${sub()})`,
      );
      if (this.dialect !== 'mysql') general.push(() => `(${sub()} || ${sub()})`);
    }
    return this.pick(general)();
  }

  private scalarSubquery(family: Family, scope: readonly ScopeEntry[], depth: number): string {
    const table = this.pick(this.tables);
    const inner = this.entries(table, 'q');
    const column = this.column(family, inner);
    if (column === undefined) return this.leaf(family, scope);
    const aggregate = this.pick(family === 'int' ? ['MIN', 'MAX', 'COUNT'] : ['MIN', 'MAX']);
    const where = this.chance(0.6) ? ` WHERE ${this.condition([...inner, ...scope], depth)}` : '';
    return `(SELECT ${aggregate}(${column}) FROM ${table.name} AS q${where})`;
  }

  private entries(table: TypedTable, alias: string): ScopeEntry[] {
    return table.columns.map((column) => ({ ...column, table: alias }));
  }

  condition(scope: readonly ScopeEntry[], depth: number): string {
    const families: Family[] = ['int', 'int', 'text', 'double'];
    if (this.dialect !== 'sqlite') families.push('decimal', 'date');
    const family = this.pick(families);
    const side = (kind: Family = family) => this.expression(kind, scope, depth - 1);
    const not = () => (this.chance(0.3) ? 'NOT ' : '');
    const simple = [
      () =>
        `${this.leaf(family, scope)} ${this.pick(['=', '<>', '<', '<=', '>', '>='])} ${this.leaf(family, scope)}`,
      () => `${side()} ${this.pick(['=', '<>', '<', '<=', '>', '>='])} ${side()}`,
      () => `${this.leaf(family, scope)} IS ${not()}NULL`,
      () => `${side()} ${not()}BETWEEN ${this.leaf(family, scope)} AND ${this.leaf(family, scope)}`,
      () =>
        `${side()} ${not()}IN (${this.literal(family)}, ${this.leaf(family, scope)}${this.chance(0.2) ? ', NULL' : ''})`,
      () =>
        `${this.leaf('text', scope)} ${not()}LIKE ${this.pick(["'a%'", "'%b'", "'_'", "'A_'", "'%'", "'b\\%'"])}`,
      () =>
        `${side('int')} ${this.pick(['=', '<', '>='])} ${side(this.dialect === 'sqlite' ? 'double' : this.pick(['double', 'decimal']))}`,
    ];
    if (this.dialect === 'postgres' || this.dialect === 'duckdb') {
      simple.push(
        () => this.column('bool', scope) ?? 'TRUE',
        () => `${side()} IS ${not()}DISTINCT FROM ${side()}`,
        () => `(${this.condition(scope, depth - 2)}) IS ${not()}${this.pick(['TRUE', 'FALSE'])}`,
      );
    }
    if (this.dialect === 'mysql') simple.push(() => `${side()} <=> ${side()}`);
    if (depth <= 0 || this.chance(0.4)) return this.pick(simple)();
    const down = () => this.condition(scope, depth - 1);
    return this.pick([
      () => `(${down()} AND ${down()})`,
      () => `(${down()} OR ${down()})`,
      () => `NOT (${down()})`,
      () => this.inSubquery(family, scope, depth - 1),
      () => {
        const table = this.pick(this.tables);
        const inner = this.entries(table, 'e');
        return `${not()}EXISTS (SELECT 1 FROM ${table.name} AS e WHERE ${this.condition([...inner, ...scope], depth - 1)})`;
      },
    ])();
  }

  private inSubquery(family: Family, scope: readonly ScopeEntry[], depth: number): string {
    const table = this.pick(this.tables);
    const inner = this.entries(table, 'i');
    const where = this.chance(0.5) ? ` WHERE ${this.condition(inner, depth)}` : '';
    const column = this.column(family, inner);
    return `${this.leaf(family, scope)} ${this.chance(0.4) ? 'NOT ' : ''}IN (SELECT ${column} FROM ${table.name} AS i${where})`;
  }

  /** A whole query. */
  select(): string {
    const kind = this.random();
    if (kind < 0.12)
      return `${this.core(['int', 'text'])} ${this.setOperator()} ${this.core(['int', 'text'])}`;
    if (kind < 0.2) return `WITH c AS (${this.plain()}) SELECT * FROM c`;
    if (kind < 0.3)
      return `${this.plain()} ORDER BY ${this.pick(['1', '1 DESC', '2, 1'])} LIMIT ${Math.floor(this.random() * 4)}`;
    return kind < 0.55 ? this.grouped() : this.plain();
  }

  private setOperator(): string {
    const sure = this.dialect === 'sqlite' || this.dialect === 'mysql' ? [] : ['INTERSECT ALL', 'EXCEPT ALL'];
    return this.pick(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', ...sure]);
  }

  private from(): { sql: string; scope: ScopeEntry[] } {
    const [first, second] = this.chance(0.5) ? this.tables : [...this.tables].reverse();
    const left = this.entries(first!, 'l');
    if (this.chance(0.5)) return { sql: `${first!.name} AS l`, scope: left };
    const right = this.entries(second!, 'r');
    const scope = [...left, ...right];
    const joins = ['JOIN', 'LEFT JOIN', 'RIGHT JOIN'];
    if (this.dialect !== 'mysql') joins.push('FULL JOIN');
    if (this.chance(0.2)) return { sql: `${first!.name} AS l CROSS JOIN ${second!.name} AS r`, scope };
    const join = this.pick(joins);
    // PostgreSQL accepts only simple conditions in a full join.
    const on = join === 'FULL JOIN' ? 'l.a = r.a' : this.condition(scope, 1);
    return { sql: `${first!.name} AS l ${join} ${second!.name} AS r ON ${on}`, scope };
  }

  private plain(): string {
    return this.core(this.dialect === 'sqlite' ? ['int', 'text', 'double'] : ['int', 'text', 'decimal']);
  }

  private core(families: readonly Family[]): string {
    const { sql, scope } = this.from();
    const items = families.map((family, i) => `${this.expression(family, scope, 2)} AS c${i + 1}`);
    const where = this.chance(0.8) ? ` WHERE ${this.condition(scope, 3)}` : '';
    return `SELECT ${this.chance(0.2) ? 'DISTINCT ' : ''}${items.join(', ')} FROM ${sql}${where}`;
  }

  private grouped(): string {
    const { sql, scope } = this.from();
    const where = this.chance(0.6) ? ` WHERE ${this.condition(scope, 2)}` : '';
    const argument = (family: Family) => this.expression(family, scope, 1);
    const aggregates = [
      'COUNT(*)',
      `COUNT(${argument('int')})`,
      `SUM(${argument('int')})`,
      `MIN(${argument('text')})`,
    ];
    aggregates.push(
      `MAX(${argument('int')})`,
      `AVG(${argument('int')})`,
      `COUNT(DISTINCT ${argument('int')})`,
      `SUM(${argument('double')})`,
    );
    if (this.dialect !== 'sqlite') aggregates.push(`SUM(${argument('decimal')})`, `MAX(${argument('date')})`);
    const chosen = [this.pick(aggregates), this.pick(aggregates)];
    if (this.chance(0.35)) return `SELECT ${chosen.join(', ')} FROM ${sql}${where}`;
    const key = this.chance(0.7)
      ? this.column(this.pick(['int', 'text']), scope)!
      : `(${this.column('int', scope)} % 2)`;
    const having = this.chance(0.3) ? ` HAVING COUNT(*) ${this.pick(['>', '=', '<>'])} 1` : '';
    return `SELECT ${key}, ${chosen.join(', ')} FROM ${sql}${where} GROUP BY ${key}${having}`;
  }

  /** A write to the first table. */
  write(): string {
    const table = this.tables[0]!;
    const scope = this.entries(table, 't1');
    const where = this.chance(0.85) ? ` WHERE ${this.condition(scope, 2)}` : '';
    const kind = this.random();
    if (kind < 0.25) return `DELETE FROM t1${where}`;
    if (kind < 0.4) {
      const rows = Array.from(
        { length: 1 + Math.floor(this.random() * 2) },
        (_, i) => `(${100 + i}, ${this.expression('int', [], 1)}, ${this.expression('text', [], 1)})`,
      );
      return `INSERT INTO t1 (id, a, s) VALUES ${rows.join(', ')}`;
    }
    if (kind < 0.5)
      return `INSERT INTO t1 (id, b, s) SELECT 200 + id, ${this.expression('int', this.entries(table, 't1'), 1)}, s FROM t1${where}`;
    const targets = table.columns.filter(({ name }) => name !== 'id');
    const first = this.pick(targets);
    const sets = [first, ...targets.filter((column) => column !== first && this.chance(0.25))];
    return `UPDATE t1 SET ${sets.map(({ name, family }) => `${name} = ${this.expression(family, scope, 2)}`).join(', ')}${where}`;
  }
}
