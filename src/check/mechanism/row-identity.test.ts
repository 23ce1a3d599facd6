import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { Dialect } from '../../sql/index.js';
import { story } from './story.case.js';
import { verifyMechanism } from './verify.js';

const contract = findContract('postgres:read-committed')!;
const kinds = (text: string, setup: string[], dialect?: Dialect) =>
  verifyMechanism(story(text, { setup, ...(dialect && { dialect }) }), contract).findings.map(
    ({ kind }) => kind,
  );

describe('row identity', () => {
  const orders = 'CREATE TABLE orders (rid INT, item TEXT)';

  it('does not trust a column called rid: two rows of a correct database may share its value', () => {
    const setup = [orders, "INSERT INTO orders VALUES (1, 'a'), (1, 'b')"];
    expect(kinds('A: SELECT rid, item FROM orders -> 1,a | 1,b', setup)).toEqual([]);
    expect(kinds('A: SELECT rid, item FROM orders -> 1,a', setup)).toEqual(['missing-row']);
  });

  it('withdraws what rested on values that stay unique no longer', () => {
    const setup = [orders, "INSERT INTO orders VALUES (1, 'a')"];
    const before = `
      A: SELECT rid, item FROM orders WHERE item = 'a' -> 1,a
      B: INSERT INTO orders VALUES (1, 'a') -> 1`;
    expect(kinds(`${before}\nA: SELECT rid, item FROM orders -> 1,a | 1,a`, setup)).toEqual([]);
    expect(kinds(`${before}\nA: SELECT rid, item FROM orders -> 1,a`, setup)).toEqual(['missing-row']);
  });

  it('withdraws it when a copy of rows has their values', () => {
    const setup = [orders, "INSERT INTO orders VALUES (1, 'a'), (2, 'b')"];
    const text = `
      A: INSERT INTO orders SELECT rid, item FROM orders WHERE rid = 1 -> 1
      A: SELECT rid, item FROM orders -> 1,a | 2,b | 1,a`;
    expect(kinds(text, setup)).toEqual([]);
  });

  it('does not count a row twice that a lost INSERT may have put in', () => {
    const setup = [orders, "INSERT INTO orders VALUES (1, 'a')"];
    const { operations, header } = story(
      `B: INSERT INTO orders VALUES (1, 'a')
       A: SELECT rid, item FROM orders -> 1,a | 1,a`,
      { setup },
    );
    const lost = { ...operations[0]!, end: null, outcome: 'unknown' as const, ends: 'unknown' as const };
    const { findings } = verifyMechanism({ header, operations: [lost, operations[1]!] }, contract);
    expect(findings).toEqual([]);
  });

  it('still sees a row that comes twice where every write is known', () => {
    const setup = [orders, "INSERT INTO orders VALUES (1, 'a'), (2, 'b')"];
    expect(kinds('A: SELECT rid, item FROM orders -> 1,a | 1,a | 2,b', setup)).toEqual(['extra-row']);
  });

  it('follows tables that sessions create', () => {
    const text = `
      A: CREATE TABLE n (id INT PRIMARY KEY, v INT)
      A: INSERT INTO n VALUES (1, 5) -> 1
      B: SELECT id, v FROM n -> 1,6`;
    expect(kinds(text, [])).toEqual(['wrong-version']);
    expect(kinds(text.replace('1,6', '1,5'), [])).toEqual([]);
  });

  it('does not name rows by a key that the database has counted', () => {
    const setup = [
      'CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT)',
      'INSERT INTO n (v) VALUES (5), (5)',
    ];
    expect(kinds('A: SELECT id, v FROM n -> 1,5 | 2,5', setup, 'mysql')).toEqual([]);
    expect(kinds('A: SELECT id, v FROM n WHERE id = 2 -> 2,5', setup, 'mysql')).toEqual([]);
    expect(kinds('A: SELECT id, v FROM n -> 1,5 | 2,6', setup, 'mysql')).not.toEqual([]);
  });
});
