import { expect, it } from 'vitest';
import { isOfCause, labelledCauses } from './causes.js';

const causeOf = (id: string) => labelledCauses.find((cause) => cause.id === id)!;
const sessions = (...statements: string[]) => ({ sessions: [{ name: 'T1', statements }] });

it('has more than 25 injected causes on each of two engines, each once', () => {
  const ids = labelledCauses.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const engine of ['duckdb:', 'postgres:'])
    expect(
      labelledCauses.filter(({ engines, fault }) => fault !== undefined && engines[0] === engine).length,
    ).toBeGreaterThan(25);
});

it.each([
  ['duckdb/update-of-deleted-row', ['UPDATE t SET a = 0', 'DELETE FROM t'], true],
  ['duckdb/update-of-deleted-row', ['UPDATE t SET a = 0', 'UPDATE t SET a = NULL'], false],
  ['duckdb/update-of-deleted-row', ['UPDATE t SET a = NULL', 'DELETE FROM t'], false],
  ['duckdb/update-to-null', ['UPDATE t SET a = 0', 'UPDATE t SET a = NULL'], true],
  ['duckdb/updates-of-other-columns', ['UPDATE t SET a = NULL', 'UPDATE t SET b = 1'], false],
  ['duckdb/lost-update', ['UPDATE t SET a = NULL'], true],
])('%s with %j: %j', (id, statements, expected) => {
  expect(isOfCause(causeOf(id), sessions(...statements))).toBe(expected);
});
