import { expect, it } from 'vitest';
import { type ActKind, distinctKinds, kindLine, kindTitle } from './act-kind.js';

it.each<[ActKind, string, string, string]>([
  [{ kind: 'update' }, 'update', 'UPDATE', 'UPDATEs'],
  [{ kind: 'update', manner: 'key' }, 'update of a key', 'UPDATE of a key', 'UPDATEs of a key'],
  [{ kind: 'update', manner: 'returning' }, 'update returning', 'UPDATE RETURNING', 'UPDATEs RETURNING'],
  [{ kind: 'update', manner: 'null' }, 'update to NULL', 'UPDATE to NULL', 'UPDATEs to NULL'],
  [{ kind: 'select', locks: 'share' }, 'select for share', 'SELECT FOR SHARE', 'SELECTs FOR SHARE'],
  [{ kind: 'upsert' }, 'upsert', 'upsert', 'upserts'],
])('%o in words: %s, %s, %s', (kind, line, title, several) => {
  expect([kindLine(kind), kindTitle(kind), kindTitle(kind, true)]).toEqual([line, title, several]);
});

it('lists each kind once, in the order of the lines that are hashed', () => {
  const kinds: ActKind[] = [
    { kind: 'update', manner: 'key' },
    { kind: 'update' },
    { kind: 'delete' },
    { kind: 'update' },
  ];
  expect(distinctKinds(kinds).map(kindLine)).toEqual(['delete', 'update', 'update of a key']);
});
