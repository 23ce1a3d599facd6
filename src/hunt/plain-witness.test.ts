import { expect, it } from 'vitest';
import { type Case, serialOrder } from '../cases/index.js';
import { plainVariations } from './plain-witness.js';

const program: Case = {
  name: 'lost write',
  setup: ['CREATE TABLE "T" (id INT, v INT)', 'INSERT INTO "T" VALUES (1, 0)'],
  sessions: [
    { name: 'T1', statements: ['BEGIN', 'UPDATE "T" SET v = 0, id = 1 WHERE id = 1', 'COMMIT'] },
    { name: 'T2', statements: ['UPDATE "T" SET v = 0'] },
  ],
};

it('tries the case as it is, with a closing read, with values of their own, and with both', () => {
  const variations = plainVariations({ case: program, schedule: serialOrder(program) }, 'postgres');
  const told = variations.map(({ case: each }) => each.sessions.map(({ statements }) => statements.at(-1)));
  expect(told.map(({ length }) => length)).toEqual([2, 3, 2, 3]);
  expect(variations[0]!.case).toBe(program);
  expect(told[1]!.at(-1)).toBe('SELECT * FROM "T"');
  expect(variations[3]!.case.sessions.map(({ statements }) => statements)).toEqual([
    ['BEGIN', 'UPDATE "T" SET v = 71, id = 72 WHERE id = 1', 'COMMIT'],
    ['UPDATE "T" SET v = 73'],
    ['SELECT * FROM "T"'],
  ]);
  expect(variations[3]!.schedule.batches.at(-1)).toEqual([[2, 0]]);
});
