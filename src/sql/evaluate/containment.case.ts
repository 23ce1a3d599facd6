/** Conditions with `@>`, and what PostgreSQL 18 answers (`test/containment.test.ts` asks it). */
export const containments: readonly (readonly [sql: string, answer: boolean | null])[] = [
  ["int4range(1, 3, '[]') @> 3", true],
  ["int4range(1, 1, '[]') @> 1", true],
  ["int4range(1, 1, '[]') @> 2", false],
  ["int4range(NULL, 3, '[]') @> -5", true],
  ["int4range(NULL, NULL, '[]') @> 5", true],
  ["int4range(1, 3, '[]') @> CAST(NULL AS INT)", null],
  ["string_to_array('1,2', ',') @> string_to_array('2', ',')", true],
  ["string_to_array('12', ',') @> string_to_array('2', ',')", false],
  ["string_to_array(NULL, ',') @> string_to_array('2', ',')", null],
  ["string_to_array('7', ',') @> string_to_array('', ',')", true],
  ["string_to_array(CAST(100 AS TEXT), ',') @> string_to_array('100', ',')", true],
];
