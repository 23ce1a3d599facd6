import { describe, expect, it } from 'vitest';
import { placeSessions } from './nodes.js';

const namesOf = (
  nodes: readonly { readonly name: string; readonly readOnly?: true }[] | undefined,
  ...sessions: readonly (readonly [string, ...string[]])[]
) =>
  placeSessions(
    { sessions: sessions.map(([name, ...statements]) => ({ name, statements })) },
    { dialect: 'postgres', ...(nodes && { nodes }) },
  ).sessions.map(({ name }) => name);

const galera = [{ name: 'node1' }, { name: 'node2' }];
const standby = [{ name: 'primary' }, { name: 'standby', readOnly: true }] as const;
const write = 'UPDATE t SET v = 1';
const read = 'SELECT * FROM t';

describe('placeSessions', () => {
  it('leaves names as they are where there is one node', () => {
    expect(namesOf(undefined, ['T1', write], ['T2', read])).toEqual(['T1', 'T2']);
  });

  it('gives nodes that all write a session each in turn', () => {
    expect(namesOf(galera, ['T1', write], ['T2', read], ['T3', write])).toEqual([
      'T1@node1',
      'T2@node2',
      'T3@node1',
    ]);
  });

  it('puts who only reads on the standby, and who writes or locks on the primary', () => {
    expect(
      namesOf(
        standby,
        ['T1', 'BEGIN', read, 'COMMIT'],
        ['T2', read, write],
        ['T3', 'SELECT * FROM t FOR UPDATE'],
        ['T4', "SELECT nextval('s')"],
      ),
    ).toEqual(['T1@standby', 'T2@primary', 'T3@primary', 'T4@primary']);
  });

  it('lets a name decide, as long as there is such a node', () => {
    expect(namesOf(galera, ['T1@node2', write], ['T2@node2', read], ['T3@home', read])).toEqual([
      'T1@node2',
      'T2@node2',
      'T3@home@node1',
    ]);
  });

  it('leaves sessions that look back on the first node, under their names', () => {
    expect(namesOf(standby, ['T1', write], ['after', read])).toEqual(['T1@primary', 'after']);
  });
});
