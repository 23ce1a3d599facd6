/**
 * Random statements for properties: any tree the printer can spell in a dialect, with no regard to sense. Names include
 * reserved words, capitals, quotes and blanks; strings include quotes, backslashes and line breaks.
 */
import fc from 'fast-check';
import type {
  Assignment,
  BinaryOperator,
  CallExpression,
  ColumnDefinition,
  CreateIndexStatement,
  CreateTableStatement,
  DeleteStatement,
  Expression,
  FromItem,
  InsertStatement,
  LockClause,
  MergeStatement,
  OrderItem,
  QueryBody,
  SelectItem,
  SelectStatement,
  Statement,
  TableConstraint,
  TableReference,
  UpdateStatement,
  WindowSpec,
} from './ast.js';
import type { Dialect } from './dialect.js';

/** An arbitrary's optional fields are left out, never `undefined`. */
function record<T>(
  shape: { [K in keyof T]: fc.Arbitrary<Exclude<T[K], undefined>> },
  required: (keyof T)[],
): fc.Arbitrary<T> {
  return fc.record(shape as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: required as string[],
    noNullPrototype: true,
  }) as unknown as fc.Arbitrary<T>;
}

export interface SqlArbitraries {
  readonly expression: fc.Arbitrary<Expression>;
  readonly query: fc.Arbitrary<SelectStatement>;
  readonly statement: fc.Arbitrary<Statement>;
}

/** Arbitraries for one dialect. */
export function sqlArbitraries(dialect: Dialect): SqlArbitraries {
  const mysql = dialect === 'mysql';
  const sqlite = dialect === 'sqlite';
  const typed = dialect === 'postgres' || dialect === 'duckdb';
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c1', 'id', 'v', 't', 'val_2') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('order', 'Select', 'Key', 'x y', 'q"q', 'b`t', 'é', 'from', 'Left'),
    },
  );
  const text = fc.oneof(
    fc.constantFrom('', 'a', "it's", 'back\\slash', '100%', 'a"b', 'x\ny', '--', 'ß€😀', '/*'),
    fc.string(),
  );
  const hex = fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('hex'));
  const decimal = fc
    .tuple(fc.constantFrom('', '-'), fc.nat(999), fc.nat({ max: 9999 }))
    .map(([sign, whole, fraction]) => `${sign}${whole}.${fraction}`);
  const literal: fc.Arbitrary<Expression> = fc
    .oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer({ min: -100, max: 100 }),
      fc.maxSafeInteger(),
      fc.constantFrom({ int: '9223372036854775807' }, { int: '-9223372036854775808' }),
      decimal.map((digits) => ({ decimal: digits })),
      text,
      hex.map((bytes) => ({ bytes })),
      ...(sqlite
        ? []
        : [
            fc.constantFrom(
              { date: '2024-02-29' },
              { time: '13:45:00.5' },
              { timestamp: '2024-02-29 13:45:00' },
            ),
          ]),
      ...(typed ? [fc.constant({ timestamp: '2024-02-29 13:45:00.25+00' })] : []),
    )
    .map((value) => ({ type: 'literal', value: Object.is(value, -0) ? 0 : value }));
  const column: fc.Arbitrary<Expression> = record(
    { type: fc.constant('column' as const), table: name, name },
    ['type', 'name'],
  );
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    literal,
    column,
    fc.constantFrom<Expression>({ type: 'float', text: '1.5e3' }, { type: 'float', text: '-2e-7' }),
    fc.constantFrom<Expression>({ type: 'parameter', text: '?' }, { type: 'parameter', text: ':id' }),
    fc.constantFrom<Expression>({ type: 'call', name: 'current_timestamp', args: [], bare: true }),
  );
  const binaryOps: BinaryOperator[] = [
    'AND',
    'OR',
    '=',
    '<>',
    '<',
    '<=',
    '>',
    '>=',
    'IS NOT DISTINCT FROM',
    '+',
    '-',
    '*',
    '/',
    '%',
  ];
  binaryOps.push('&', '|', '<<', '>>', '->>');
  if (!mysql) binaryOps.push('IS DISTINCT FROM', '||');
  if (mysql) binaryOps.push('XOR', 'DIV', '#');
  if (typed) binaryOps.push('POWER', '#', '~', '!~*');
  if (dialect === 'duckdb') binaryOps.push('DIV');
  const likeOps = sqlite
    ? (['LIKE', 'GLOB', 'REGEXP'] as const)
    : mysql
      ? (['LIKE', 'REGEXP'] as const)
      : (['LIKE', 'ILIKE', 'SIMILAR TO'] as const);
  const types = fc.constantFrom(
    'INTEGER',
    'DECIMAL(10, 2)',
    'DOUBLE PRECISION',
    'VARCHAR(20)',
    'TEXT',
    ...(typed ? ['TIMESTAMP WITH TIME ZONE', 'INTEGER[]'] : []),
    ...(mysql ? ['BIGINT UNSIGNED'] : []),
  );

  const nothing: Expression = { type: 'literal', value: null };
  // One depth for all kinds of nodes: they nest in each other, and each alone would never feel deep.
  const deep = { depthIdentifier: fc.createDepthIdentifier(), maxDepth: 3, withCrossShrink: true } as const;
  const tied = fc.letrec<{
    expression: Expression;
    query: SelectStatement;
    core: QueryBody;
    body: QueryBody;
    from: FromItem;
    order: OrderItem;
    item: SelectItem;
  }>((tie) => {
    const e = tie('expression');
    const list = fc.array(e, { minLength: 1, maxLength: 3 });
    const flag = fc.boolean();
    const orderBy = fc.array(tie('order'), { maxLength: 1 });
    const yes = fc.constant(true as const);
    const window: fc.Arbitrary<WindowSpec> = record(
      {
        base: name,
        partitionBy: fc.array(e, { maxLength: 2 }),
        orderBy,
        frame: fc.constant('ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW'),
      },
      ['partitionBy', 'orderBy'],
    );
    const call = fc.oneof(
      record<CallExpression>(
        {
          type: fc.constant('call'),
          name: fc.constantFrom('count', 'sum', 'lower', 'coalesce', 'replace', 'left'),
          args: list,
          distinct: yes,
          over: window,
          ...(mysql ? {} : { filter: e }),
        } as never,
        ['type', 'name', 'args'],
      ),
      fc.constant<Expression>({ type: 'call', name: 'count', args: [], star: true }),
      fc.constant<Expression>({ type: 'call', name: 'random', args: [] }),
    );
    const withQuery: fc.Arbitrary<Expression> = fc.oneof(
      fc.record({ type: fc.constant('in-query' as const), operand: e, query: tie('query'), negated: flag }),
      fc.record({ type: fc.constant('exists' as const), query: tie('query') }),
      fc.record({ type: fc.constant('subquery' as const), query: tie('query') }),
      ...(sqlite
        ? []
        : [
            fc.record({
              type: fc.constant('quantified' as const),
              op: fc.constantFrom('=' as const, '<>' as const, '<=' as const),
              quantifier: fc.constantFrom('ANY' as const, 'ALL' as const),
              operand: e,
              query: tie('query'),
            }),
          ]),
    );
    // `IN ((SELECT …))` is IN with a query in most dialects, not a list of one subquery.
    const inList = list.map((items) => (items[0]!.type === 'subquery' ? [nothing, ...items] : items));
    const unaryOps = ['NOT', '-', '+', '~'] as const;
    const compound: fc.Arbitrary<Expression> = fc.oneof(
      fc.record({ type: fc.constant('unary' as const), op: fc.constantFrom(...unaryOps), operand: e }),
      ...[1, 2, 3].map(() =>
        fc.record({
          type: fc.constant('binary' as const),
          op: fc.constantFrom(...binaryOps),
          left: e,
          right: e,
        }),
      ),
      fc.record({ type: fc.constant('between' as const), operand: e, low: e, high: e, negated: flag }),
      fc.record({ type: fc.constant('in-list' as const), operand: e, list: inList, negated: flag }),
      record<Extract<Expression, { type: 'like' }>>(
        {
          type: fc.constant('like' as const),
          op: fc.constantFrom(...likeOps),
          operand: e,
          pattern: e,
          escape: fc.constant<Expression>({ type: 'literal', value: '!' }),
          negated: flag,
        },
        ['type', 'op', 'operand', 'pattern', 'negated'],
      ),
      fc.record({
        type: fc.constant('is' as const),
        operand: e,
        test: fc.constantFrom('NULL' as const, 'TRUE' as const, 'FALSE' as const),
        negated: flag,
      }),
      record<Extract<Expression, { type: 'case' }>>(
        {
          type: fc.constant('case' as const),
          operand: e,
          branches: fc.array(fc.record({ when: e, result: e }), { minLength: 1, maxLength: 2 }),
          otherwise: e,
        },
        ['type', 'branches'],
      ),
      fc.record({ type: fc.constant('cast' as const), operand: e, to: types }),
      call as fc.Arbitrary<Expression>,
      fc.record({ type: fc.constant('row' as const), items: fc.array(e, { minLength: 2, maxLength: 3 }) }),
      fc.record({
        type: fc.constant('collate' as const),
        operand: e,
        collation: fc.constantFrom('nocase', 'binary', 'C'),
      }),
    );
    const expression: fc.Arbitrary<Expression> = fc.oneof(
      deep,
      { weight: 3, arbitrary: leaf },
      { weight: 5, arbitrary: compound },
      { weight: 1, arbitrary: withQuery },
    );
    const table: fc.Arbitrary<TableReference> = record(
      { type: fc.constant('table' as const), schema: name, name, alias: name },
      ['type', 'name'],
    );
    const from: fc.Arbitrary<FromItem> = fc.oneof(
      deep,
      { weight: 4, arbitrary: table },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('derived' as const), query: tie('query'), alias: name }),
      },
      {
        weight: 2,
        arbitrary: fc.oneof(
          record<Extract<FromItem, { type: 'join' }>>(
            {
              type: fc.constant('join' as const),
              kind: fc.constantFrom(
                'inner' as const,
                'left' as const,
                'right' as const,
                ...(mysql ? [] : ['full' as const]),
              ),
              left: tie('from'),
              right: tie('from'),
              on: e,
            } as never,
            ['type', 'kind', 'left', 'right', 'on'],
          ),
          record<Extract<FromItem, { type: 'join' }>>(
            {
              type: fc.constant('join' as const),
              kind: fc.constantFrom('inner' as const, 'left' as const),
              left: tie('from'),
              right: tie('from'),
              using: fc.array(name, { minLength: 1, maxLength: 2 }),
            } as never,
            ['type', 'kind', 'left', 'right', 'using'],
          ),
          fc.record({
            type: fc.constant('join' as const),
            kind: fc.constant('cross' as const),
            left: tie('from'),
            right: tie('from'),
          }),
          fc.record({
            type: fc.constant('join' as const),
            kind: fc.constant('inner' as const),
            natural: yes,
            left: tie('from'),
            right: tie('from'),
          }),
        ),
      },
    );
    const item: fc.Arbitrary<SelectItem> = fc.oneof(
      fc.constant<SelectItem>({ type: 'star' }),
      record<SelectItem>({ type: fc.constant('star'), table: name } as never, ['type', 'table'] as never),
      record<SelectItem>(
        { type: fc.constant('item'), expression: e, alias: name } as never,
        ['type', 'expression'] as never,
      ),
    );
    const plainCore = {
      type: fc.constant('core' as const),
      distinct: flag,
      items: fc.array(tie('item'), { minLength: 1, maxLength: 2 }),
      from: fc.array(tie('from'), { maxLength: 2 }),
      where: e,
      groupBy: fc.array(e, { maxLength: 1 }),
    };
    const richCore = {
      ...plainCore,
      having: e,
      windows: fc.array(fc.record({ name, window }), { minLength: 1, maxLength: 2 }),
    };
    const coreKeys = ['type', 'distinct', 'items', 'from', 'groupBy'] as never;
    const core: fc.Arbitrary<QueryBody> = fc.oneof(
      deep,
      { weight: 4, arbitrary: record<QueryBody>(plainCore as never, coreKeys) },
      { weight: 1, arbitrary: record<QueryBody>(richCore as never, coreKeys) },
    );
    const operand: fc.Arbitrary<QueryBody> = fc.oneof(
      deep,
      { weight: 4, arbitrary: tie('body') },
      {
        weight: 1,
        arbitrary: tie('query').map((query) => ({ ...query, limit: { type: 'literal' as const, value: 1 } })),
      },
    );
    const body: fc.Arbitrary<QueryBody> = fc.oneof(
      deep,
      { weight: 5, arbitrary: tie('core') },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('values' as const),
          rows: fc.array(list, { minLength: 1, maxLength: 2 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          type: fc.constant('set-operation' as const),
          op: fc.constantFrom('UNION' as const, 'INTERSECT' as const, 'EXCEPT' as const),
          all: flag,
          left: operand,
          right: operand,
        }),
      },
    );
    const lock: fc.Arbitrary<LockClause> = record(
      {
        strength: fc.constantFrom(...(['update', 'share', mysql ? 'share mode' : 'no key update'] as const)),
        of: fc.array(name, { maxLength: 2 }),
        wait: fc.constantFrom('NOWAIT', 'SKIP LOCKED'),
      },
      ['strength', 'of'],
    );
    const cte = record(
      {
        name,
        columns: fc.array(name, { minLength: 1, maxLength: 2 }),
        materialized: flag,
        statement: tie('query'),
      } as never,
      ['name', 'statement'] as never,
    );
    const plainQuery = {
      type: fc.constant('select' as const),
      body: tie('body'),
      orderBy,
      limit: fc.oneof(literal, e),
      locks: sqlite ? fc.constant([]) : fc.array(lock, { maxLength: 1 }),
    };
    const richQuery = {
      ...plainQuery,
      with: fc.record({ recursive: flag, ctes: fc.array(cte, { minLength: 1, maxLength: 2 }) }),
      offset: e,
    };
    const queryKeys = ['type', 'body', 'orderBy', 'locks'] as never;
    const query: fc.Arbitrary<SelectStatement> = fc.oneof(
      deep,
      { weight: 6, arbitrary: record<SelectStatement>(plainQuery as never, queryKeys) },
      { weight: 1, arbitrary: record<SelectStatement>(richQuery as never, queryKeys) },
    );
    const order: fc.Arbitrary<OrderItem> = record(
      { expression: e, descending: flag, nulls: fc.constantFrom('first' as const, 'last' as const) },
      ['expression', 'descending'],
    );
    return { expression, query, core, body, from, order, item };
  });

  return { expression: tied.expression, query: tied.query, statement: statements() };

  function statements(): fc.Arbitrary<Statement> {
    const e = tied.expression;
    const names = fc.array(name, { minLength: 1, maxLength: 3 });
    const orderBy = fc.array(tied.order, { maxLength: 1 });
    const row = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: e },
        { weight: 1, arbitrary: fc.constant<Expression>({ type: 'default' }) },
      ),
      { minLength: 1, maxLength: 3 },
    );
    const set: fc.Arbitrary<Assignment[]> = fc.array(
      fc.oneof(
        fc.record({ columns: fc.tuple(name), value: e }),
        fc.record({
          columns: fc.array(name, { minLength: 1, maxLength: 2 }),
          tuple: fc.constant(true as const),
          value: e,
        }),
      ),
      { minLength: 1, maxLength: 3 },
    );
    const plainTable: fc.Arbitrary<TableReference> = record(
      { type: fc.constant('table' as const), schema: name, name },
      ['type', 'name'],
    );
    const table: fc.Arbitrary<TableReference> = record(
      { type: fc.constant('table' as const), name, alias: name },
      ['type', 'name'],
    );
    const returning = mysql ? {} : { returning: fc.array(tied.item, { minLength: 1, maxLength: 2 }) };
    const indexed = fc.array(
      record(
        {
          expression: fc.oneof<fc.Arbitrary<Expression>[]>(
            name.map((n) => ({ type: 'column', name: n })),
            e,
          ),
          tail: fc.constant('DESC'),
        } as never,
        ['expression'] as never,
      ),
      { minLength: 1, maxLength: 2 },
    );
    const conflict = mysql
      ? fc.record({
          type: fc.constant('on-duplicate-key' as const),
          set: set.filter((items) => items.every(({ tuple }) => tuple !== true)),
        })
      : record(
          { type: fc.constant('on-conflict' as const), columns: indexed, set, where: e } as never,
          ['type'] as never,
        )
          .map((thing) => thing as object)
          .map((clause) =>
            'set' in clause
              ? clause
              : { type: 'on-conflict', ...('columns' in clause ? { columns: clause.columns } : {}) },
          );
    const insert: fc.Arbitrary<InsertStatement> = record(
      {
        type: fc.constant('insert'),
        mode: fc.constantFrom('replace', 'ignore'),
        table: plainTable,
        columns: names,
        source: fc.oneof(
          fc.record({ type: fc.constant('values'), rows: fc.array(row, { minLength: 1, maxLength: 2 }) }),
          tied.query
            .filter(
              (query) =>
                query.body.type === 'core' &&
                query.with === undefined &&
                (query.body.from.length > 0 || query.body.where !== undefined),
            )
            .map((query) => ({ type: 'query', query })),
          ...(mysql ? [] : [fc.constant({ type: 'defaults' })]),
        ),
        ...(sqlite ? {} : { conflict }),
        ...returning,
      } as never,
      ['type', 'table', 'source'] as never,
    );
    const update: fc.Arbitrary<UpdateStatement> = record(
      {
        type: fc.constant('update'),
        table,
        set,
        from: mysql ? fc.constant([]) : fc.array(tied.from, { maxLength: 1 }),
        where: e,
        orderBy: mysql ? orderBy : fc.constant([]),
        ...(mysql ? { limit: e } : {}),
        ...returning,
      } as never,
      ['type', 'table', 'set', 'from', 'orderBy'] as never,
    );
    const remove: fc.Arbitrary<DeleteStatement> = record(
      {
        type: fc.constant('delete'),
        table,
        using: typed ? fc.array(tied.from, { maxLength: 1 }) : fc.constant([]),
        where: e,
        orderBy: mysql ? orderBy : fc.constant([]),
        ...(mysql ? { limit: e } : {}),
        ...returning,
      } as never,
      ['type', 'table', 'using', 'orderBy'] as never,
    );
    const merge: fc.Arbitrary<MergeStatement> = record(
      {
        type: fc.constant('merge'),
        table,
        using: tied.from,
        on: e,
        whens: fc.array(
          record(
            {
              match: fc.constantFrom('matched', 'not matched', 'not matched by source'),
              and: e,
              action: fc.oneof(
                fc.constantFrom({ type: 'nothing' }, { type: 'delete' }),
                fc.record({ type: fc.constant('update'), set }),
                record(
                  { type: fc.constant('insert'), columns: names, values: row } as never,
                  ['type', 'values'] as never,
                ),
              ),
            } as never,
            ['match', 'action'] as never,
          ),
          { minLength: 1, maxLength: 2 },
        ),
      } as never,
      ['type', 'table', 'using', 'on', 'whens'] as never,
    );
    const reference = record(
      { table: name, columns: names, actions: fc.constant('ON DELETE CASCADE') } as never,
      ['table'] as never,
    );
    const columnDefinition: fc.Arbitrary<ColumnDefinition> = fc.record({
      name,
      columnType: types,
      constraints: fc.array(
        fc.oneof(
          fc.constantFrom(
            { type: 'not-null' },
            { type: 'null' },
            { type: 'primary-key' },
            { type: 'unique' },
          ),
          e.map((value) => ({ type: 'default-value', value })),
          e.map((condition) => ({ type: 'check', condition })),
          fc.record({ type: fc.constant('references'), references: reference }),
          fc.record({ type: fc.constant('generated'), value: e, stored: fc.boolean() }),
        ),
        { maxLength: 3 },
      ),
    }) as never;
    const tableConstraint: fc.Arbitrary<TableConstraint> = fc.oneof(
      record(
        {
          name,
          type: fc.constantFrom('primary-key', 'unique', ...(mysql ? ['index'] : [])),
          columns: indexed,
        } as never,
        ['type', 'columns'] as never,
      ),
      record({ name, type: fc.constant('check'), condition: e } as never, ['type', 'condition'] as never),
      fc.record({ type: fc.constant('foreign-key'), columns: names, references: reference }),
    ) as never;
    const createTable: fc.Arbitrary<CreateTableStatement> = record(
      {
        type: fc.constant('create-table'),
        temporary: fc.boolean(),
        ifNotExists: fc.boolean(),
        name,
        columns: fc.array(columnDefinition, { minLength: 1, maxLength: 3 }),
        constraints: fc.array(tableConstraint, { maxLength: 2 }),
        options: fc.constant(mysql ? 'ENGINE=InnoDB' : 'WITHOUT ROWID'),
      } as never,
      ['type', 'temporary', 'ifNotExists', 'name', 'columns', 'constraints'] as never,
    );
    const createIndex: fc.Arbitrary<CreateIndexStatement> = record(
      {
        type: fc.constant('create-index'),
        unique: fc.boolean(),
        ifNotExists: fc.boolean(),
        name,
        table: plainTable,
        columns: indexed,
        ...(mysql ? {} : { where: e }),
      } as never,
      ['type', 'unique', 'ifNotExists', 'name', 'table', 'columns'] as never,
    );
    const control: fc.Arbitrary<Statement> = fc.oneof(
      fc.constantFrom<Statement[]>(
        { type: 'begin', start: false },
        { type: 'begin', start: true, modifiers: 'READ ONLY' },
        { type: 'commit' },
        { type: 'rollback' },
      ),
      fc.record({
        type: fc.constantFrom('savepoint' as const, 'release' as const, 'rollback-to' as const),
        name,
      }),
    );
    return fc.oneof(
      tied.query,
      insert,
      update,
      remove,
      ...(typed ? [merge] : []),
      createTable,
      createIndex,
      control,
    );
  }
}
