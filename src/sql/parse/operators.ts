/**
 * What stands between operands, and how tightly it binds, per dialect. Taken from the grammars: PostgreSQL's and DuckDB's
 * are one family; MySQL reads IN, BETWEEN and LIKE before comparisons, and has a level for each bit operator;
 * SQLite puts `||` above `*` and keeps `=` below `<`.
 */
import type { BinaryOperator, LikeOperator } from '../ast.js';
import type { Dialect } from '../dialect.js';

export type Infix =
  | {
      readonly kind: 'binary';
      readonly level: number;
      readonly op: BinaryOperator;
      readonly comparison: boolean;
    }
  | { readonly kind: 'like'; readonly level: number; readonly op: LikeOperator }
  | {
      readonly kind: 'is' | 'in' | 'between' | 'not' | 'isnull' | 'notnull' | 'cast' | 'collate';
      readonly level: number;
    };

export interface OperatorTable {
  readonly infix: ReadonlyMap<string, Infix>;
  /** NOT binds its operand at this level. */
  readonly not: number;
  /** Unary minus, plus and `~`. */
  readonly unary: number;
  /** Operands of BETWEEN, IN and LIKE bind tighter than this. */
  readonly predicate: number;
  /** IS TRUE, where it binds looser than IS NULL (MySQL). */
  readonly isTruth: number;
}

const levels = {
  or: 1,
  xor: 2,
  and: 3,
  not: 4,
  is: 5,
  comparison: 6,
  predicate: 7,
  other: 8,
  add: 20,
  multiply: 21,
  power: 22,
};

type Row = readonly [level: number, ...operators: readonly (string | readonly [string, BinaryOperator])[]];

function table(
  rows: readonly Row[],
  special: {
    readonly is: number;
    readonly isTruth: number;
    readonly predicate: number;
    readonly likes: readonly (readonly [string, LikeOperator])[];
    readonly collate: number;
    readonly unary: number;
    readonly cast: number | undefined;
    /** Whether ISNULL and NOTNULL are operators. */
    readonly isNull: boolean;
  },
): OperatorTable {
  const infix = new Map<string, Infix>();
  const comparisons = ['=', '<>', '<', '<=', '>', '>='];
  for (const [level, ...operators] of rows) {
    for (const operator of operators) {
      const [key, op] = typeof operator === 'string' ? [operator, operator as BinaryOperator] : operator;
      infix.set(key, { kind: 'binary', level, op, comparison: comparisons.includes(op) });
    }
  }
  const { predicate } = special;
  for (const [key, op] of special.likes) infix.set(key, { kind: 'like', level: predicate, op });
  infix.set('IS', { kind: 'is', level: Math.min(special.is, special.isTruth) });
  infix.set('IN', { kind: 'in', level: predicate });
  infix.set('BETWEEN', { kind: 'between', level: predicate });
  infix.set('NOT', { kind: 'not', level: predicate });
  infix.set('COLLATE', { kind: 'collate', level: special.collate });
  if (special.cast !== undefined) infix.set('::', { kind: 'cast', level: special.cast });
  if (special.isNull) {
    infix.set('ISNULL', { kind: 'isnull', level: special.is });
    infix.set('NOTNULL', { kind: 'notnull', level: special.is });
  }
  return { infix, not: levels.not, unary: special.unary, predicate, isTruth: special.isTruth };
}

const equality = ['=', '<>', ['!=', '<>']] as const;
const relation = ['<', '<=', '>', '>='] as const;

const postgresRows: readonly Row[] = [
  [levels.or, 'OR'],
  [levels.and, 'AND'],
  [levels.comparison, ...equality, ...relation],
  [levels.other, '||', '&', '|', '#', '<<', '>>', '->', '->>', '@>', '~', '~*', '!~', '!~*'],
  [levels.add, '+', '-'],
  [levels.multiply, '*', '/', '%'],
  [levels.power, ['^', 'POWER']],
];
const postgresSpecial = {
  is: levels.is,
  isTruth: levels.is,
  predicate: levels.predicate,
  likes: [
    ['LIKE', 'LIKE'],
    ['ILIKE', 'ILIKE'],
    ['SIMILAR', 'SIMILAR TO'],
  ],
  collate: 23,
  unary: 24,
  cast: 25,
  isNull: true,
} as const;

const tables: Readonly<Record<Dialect, OperatorTable>> = {
  postgres: table(postgresRows, postgresSpecial),
  duckdb: table(
    [
      ...postgresRows,
      [levels.comparison, ['==', '=']],
      [levels.multiply, ['//', 'DIV']],
      [levels.power, ['**', 'POWER']],
    ],
    { ...postgresSpecial, likes: [...postgresSpecial.likes, ['GLOB', 'GLOB']] },
  ),
  mysql: table(
    [
      [levels.or, 'OR', ['||', 'OR']],
      [levels.xor, 'XOR'],
      [levels.and, 'AND', ['&&', 'AND']],
      [levels.comparison, ...equality, ...relation, ['<=>', 'IS NOT DISTINCT FROM']],
      [levels.other, '|'],
      [levels.other + 1, '&'],
      [levels.other + 2, '<<', '>>'],
      [levels.add, '+', '-'],
      [levels.multiply, '*', '/', '%', ['MOD', '%'], 'DIV'],
      [levels.power, ['^', '#']],
      [26, '->', '->>'],
    ],
    {
      is: levels.comparison,
      isTruth: levels.is,
      predicate: levels.predicate,
      likes: [
        ['LIKE', 'LIKE'],
        ['REGEXP', 'REGEXP'],
        ['RLIKE', 'REGEXP'],
      ],
      collate: 25,
      unary: 24,
      cast: undefined,
      isNull: false,
    },
  ),
  sqlite: table(
    [
      [levels.or, 'OR'],
      [levels.and, 'AND'],
      [levels.comparison, ...equality, ['==', '=']],
      [levels.predicate, ...relation],
      [levels.other, '&', '|', '<<', '>>'],
      [levels.add, '+', '-'],
      [levels.multiply, '*', '/', '%'],
      [levels.power, '||', '->', '->>'],
    ],
    {
      is: levels.comparison,
      isTruth: levels.comparison,
      predicate: levels.comparison,
      likes: [
        ['LIKE', 'LIKE'],
        ['GLOB', 'GLOB'],
        ['REGEXP', 'REGEXP'],
      ],
      collate: 23,
      unary: 24,
      cast: undefined,
      isNull: true,
    },
  ),
};

export function operatorsOf(dialect: Dialect): OperatorTable {
  return tables[dialect];
}
