import { describe, expect, it } from 'vitest';
import { parseScript, scheduleProblem } from '../cases/index.js';
import { Random } from '../generate/index.js';
import { onNodes } from './node-sessions.js';

const program = parseScript(
  `CREATE TABLE t (a INT);
T1: BEGIN;
T1: UPDATE t SET a = 1;
T2: UPDATE t SET a = 2;
T1: COMMIT;
after: SELECT * FROM t;`,
  { file: 'x.sql', dialect: 'postgres' },
);
const standby = {
  dialect: 'postgres' as const,
  nodes: [{ name: 'primary' }, { name: 'standby', readOnly: true as const }],
};
const cluster = { dialect: 'mysql' as const, nodes: [{ name: 'node1' }, { name: 'node2' }] };
const reads = ['SELECT * FROM t'];
const random = (seed: number) => new Random(String(seed));

describe('a round on several nodes', () => {
  it('gets a reader where a node takes no writes, and each session its node', () => {
    const { case: placed } = onNodes(program, standby, { reads, random: random(1) });
    expect(placed.sessions.map(({ name }) => name)).toEqual([
      'T1@primary',
      'T2@primary',
      'after',
      'reader@standby',
    ]);
    expect(placed.sessions[3]!.statements).toEqual(['BEGIN', ...reads, ...reads, 'COMMIT', ...reads]);
  });

  it('is as it was where all nodes write, or there is one', () => {
    expect(onNodes(program, cluster, { reads, random: random(1) }).case.sessions).toHaveLength(3);
    const alone = onNodes(program, { dialect: 'postgres' }, { reads, random: random(1) });
    expect(alone.case).toEqual(program.case);
    expect(alone.schedule).toEqual(program.schedule);
  });

  it('keeps the order of the others, has every statement once, and ends with what looks back', () => {
    for (let seed = 0; seed < 40; seed++) {
      const { case: placed, schedule } = onNodes(program, standby, { reads, random: random(seed) });
      expect(scheduleProblem(placed, schedule!)).toBeUndefined();
      const flat = schedule!.batches.flat();
      const others = flat.filter(([session]) => session !== 3);
      expect(others).toEqual(program.schedule!.batches.flat());
      expect(flat.filter(([session]) => session === 3).map(([, position]) => position)).toEqual([
        0, 1, 2, 3, 4,
      ]);
      expect(flat.at(-1)![0]).toBe(2);
    }
  });

  it('puts the reads in other places with another seed', () => {
    const orders = new Set(
      Array.from({ length: 20 }, (_, seed) =>
        JSON.stringify(onNodes(program, standby, { reads, random: random(seed) }).schedule),
      ),
    );
    expect(orders.size).toBeGreaterThan(5);
  });

  it('has no reader without tables, and no schedule in a free run', () => {
    expect(onNodes(program, standby, { reads: [], random: random(1) }).case.sessions).toHaveLength(3);
    const free = onNodes({ case: program.case }, standby, { reads, random: random(1) });
    expect(free.schedule).toBeUndefined();
    expect(free.case.sessions).toHaveLength(4);
  });
});
