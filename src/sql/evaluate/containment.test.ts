import { describe, expect, test } from 'vitest';
import { parseExpressionText } from '../parse/parse.js';
import { containments } from './containment.case.js';
import { compilePredicate } from './evaluate.js';
import { isUndecidable } from './undecidable.js';

const truthOf = (sql: string) =>
  compilePredicate(parseExpressionText(sql, 'postgres')!, [], { dialect: 'postgres' })([]);

describe('@>', () => {
  test.each(containments)('%s is %s', (sql, answer) => {
    expect(truthOf(sql)).toBe(answer);
  });

  test.each([
    "int4range(3, 1, '[]') @> 2",
    "int4range(1, 3, '[)') @> 3",
    "int4range(1, 2147483647, '[]') @> 3",
    'ARRAY[1] @> ARRAY[1]',
  ])('%s is not known', (sql) => {
    expect(isUndecidable(truthOf(sql))).toBe(true);
  });
});
