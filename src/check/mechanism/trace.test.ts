import { expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import { story } from './story.case.js';
import { type MechanismTrace, type TraceMoment, traceMechanism } from './trace.js';

function traced(text: string, contract = 'postgres:repeatable-read'): MechanismTrace {
  const trace = traceMechanism(story(text), findContract(contract)!);
  if ('untraced' in trace) throw new Error(trace.untraced);
  return trace;
}

const chain = ({ rows }: TraceMoment, object: string): string[] =>
  rows
    .find((row) => row.object === object)!
    .versions.map(({ values, fate }) => `${values.join(' or ')} ${fate}`);

it('shows versions as they are at each step, not as they end', () => {
  const { moments } = traced(`
    T1: BEGIN
    T1: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T2: SELECT id, v FROM t -> 1,10 | 2,20
    T1: COMMIT`);
  expect(moments.map(({ after }) => after)).toEqual([null, 0, 1, 2, 3]);
  expect(chain(moments[1]!, 't/1')).toEqual(['(1, 10) initial']);
  expect(chain(moments[2]!, 't/1')).toEqual(['(1, 10) initial', '(1, 11) uncommitted']);
  expect(chain(moments[4]!, 't/1')).toEqual(['(1, 10) initial', '(1, 11) committed']);
});

it('shows which version a transaction may see, and the locks until it ends', () => {
  const { moments } = traced(`
    T1: BEGIN
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
    T2: BEGIN
    T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T2: COMMIT
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,10`);
  const row = (moment: TraceMoment) => moment.rows.find(({ object }) => object === 't/1')!;
  expect(row(moments[4]!).locks).toEqual([{ owner: 1, mode: 'exclusive', operation: 3 }]);
  expect(row(moments[5]!).locks).toEqual([]);
  const [before, after] = row(moments[5]!).versions;
  const of = (name: string) => moments[4]!.transactions.find((each) => each.name === name)!;
  expect(of('T1')).toMatchObject({ state: 'open', snapshotBy: 1 });
  expect(of('T1').sees!['t/1']).toEqual([before!.id]);
  expect(of('T2').sees!['t/1']).toEqual([after!.id]);
});

it('shows what a read returned beside what it may have returned', () => {
  const { moments } = traced(`
    T1: BEGIN
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,10
    T2: UPDATE t SET v = 11 WHERE id = 1 -> 1
    T1: SELECT id, v FROM t WHERE id = 1 -> 1,11`);
  const [first, later] = [moments[2]!.reads[0]!, moments[4]!.reads[0]!];
  expect(first).toMatchObject({ object: 't/1', returned: '(1, 10)' });
  expect(first.explains).toEqual(first.allowed);
  expect(later).toMatchObject({ returned: '(1, 11)', allowed: first.allowed, explains: [] });
});

it('says why there is no trace', () => {
  expect(traceMechanism(story('T1: SELECT id FROM t'), findContract('adya:PL-3')!)).toEqual({
    untraced: 'the contract adya:PL-3 does not say how an engine works',
  });
});
