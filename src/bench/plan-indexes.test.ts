import { describe, expect, it } from 'vitest';
import { explainWords, indexesUsed } from './plan-indexes.js';

const kinds = new Map([
  ['i', 'secondary'],
  ['t_pkey', 'primary key'],
  ['sqlite_autoindex_t_\\d', 'primary or unique key'],
]);
const text = (...lines: string[]) => ({ rows: lines.map((line) => [line]) });

describe('indexesUsed', () => {
  it.each([
    ['Index Scan using i on t  (cost=0.13..8.15 rows=1 width=16)', ['secondary']],
    ['Index Only Scan using i on t  (cost=0.13..8.15 rows=1 width=4)', ['secondary, index only']],
    ['  ->  Bitmap Index Scan on i  (cost=0.00..4.23 rows=10 width=0)', ['secondary, bitmap']],
    ['Index Scan using t_pkey on t  (cost=0.15..8.17 rows=1 width=16)', ['primary key']],
    ['Seq Scan on t  (cost=0.00..38.25 rows=11 width=16)', ['none']],
    ['SEARCH t USING INDEX i (v=?)', ['secondary']],
    ['SEARCH t USING COVERING INDEX i (v>?)', ['secondary, index only']],
    ['SEARCH t USING INTEGER PRIMARY KEY (rowid=?)', ['row id']],
    ['SEARCH t USING INDEX sqlite_autoindex_t_1 (k=?)', ['primary or unique key']],
    ['SELECT "s"."t"."v" FROM "s"."t" /* s.primary_key_7: k = 1 */ WHERE "k" = 1', ['primary key']],
    ['SELECT "t"."v" FROM "isolde_1"."t"\n    /* "isolde_1"."i": v = 100 */\nWHERE "v" = 100', ['secondary']],
    ['SELECT "v" FROM "s"."t" /* s.t.tableScan */', ['none']],
    ['    access=INDEX PRED\n    index=I\n    start conditions=[]', ['secondary']],
    ['    access=INDEX PRED, index=SYS_IDX_SYS_PK_10092_10093', ['primary key']],
    ['  access=INDEX PRED\n  join condition = [index=SYS_PK_10091\n    start conditions=[', ['primary key']],
    ['  access=FULL SCAN\n  join condition = [index=SYS_PK_10091\n    other condition=[', ['none']],
    ['│   TABLE_SCAN   │\n│   Type: Index Scan   │', ['an index, not told which']],
    ['│    SEQ_SCAN    │\n│   Type: Sequential Scan   │', ['none']],
  ])('reads %s', (line, used) => {
    expect(indexesUsed(text(line), kinds)).toEqual(used);
  });

  const columns = [
    'id',
    'select_type',
    'table',
    'type',
    'possible_keys',
    'key',
    'key_len',
    'ref',
    'rows',
    'Extra',
  ];
  it.each([
    [['PRIMARY,i', null, 'Using where'], ['none']],
    [['i', 'i', 'Using where; Using index'], ['secondary, index only']],
    [['i', 'i', 'Using index condition'], ['secondary']],
    [['PRIMARY', 'PRIMARY', ''], ['primary key']],
  ])('reads the key that is taken, not those that might be: %j', ([possible, key, extra], used) => {
    const row = [1, 'SIMPLE', 't', 'ref', possible!, key!, null, null, 1, extra!];
    expect(indexesUsed({ columns, rows: [row] }, kinds)).toEqual(used);
  });

  it('does not take a refusal for a plan without index', () => {
    expect(indexesUsed({}, kinds)).toEqual(['not told']);
  });

  it('asks each engine in its words', () => {
    expect(['postgres', 'mariadb', 'turso', 'hsqldb', 'duckdb', 'mysql'].map(explainWords)).toEqual([
      'EXPLAIN',
      'EXPLAIN',
      'EXPLAIN QUERY PLAN',
      'EXPLAIN PLAN FOR',
      'EXPLAIN ANALYZE',
      'EXPLAIN FORMAT=TRADITIONAL',
    ]);
  });
});
