import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Operation } from '../history.js';
import { readContent } from './import.case.js';
import { readAnyHistory } from './read-any.js';

const op = (
  thread: number,
  transaction: number,
  type: string,
  start: number,
  end: number | undefined,
  more: object = {},
) => ({
  threadID: `0-0-${thread}`,
  transactionID: `0-0-${thread},${transaction}`,
  operationTraceType: type,
  startTimestamp: 1000 + start,
  ...(end !== undefined && { finishTimestamp: 1000 + end }),
  ...more,
});
const row = (primaryKey: string, valueMap: object) => ({
  table: 't',
  primaryKey,
  valueMap,
  realValueMap: {},
});
const begin = {
  sql: 'start transaction',
  isolationLevel: 'REPEATABLE_READ',
  traceLockMode: 'EXCLUSIVE_LOCK',
};

const folder = {
  'schema/schema.sql': 'create table t (pkId integer, v integer, name varchar(10), primary key (pkId));',
  'init_data/dataInsert.sql':
    'insert into t (pkId, v, name) values ("0","5","7");\ninsert into t values ("1","6","x");',
  'init_data/t.csv': 'pkId,v,name\n"0","5","7"\n"1","6","x"\n',
  'config_x.yaml': 'datasource:\n  platform: tidb\n',
  'trace/loader-0.0.json': JSON.stringify([
    op(0, 0, 'START', 0, 1, begin),
    op(0, 0, 'SELECT', 2, 8, {
      sql: 'select v, name from t',
      readTupleList: [row('0', { v: '5', name: '7' })],
    }),
    op(0, 0, 'DELETE', 9, 12, { sql: 'delete from t where pkId = 1', writeTupleList: [row('1', {})] }),
    op(0, 0, 'COMMIT', 13, 14),
  ]),
  'trace/loader-10.0.json': JSON.stringify([op(10, 0, 'START', 30, undefined, begin)]),
  'trace/loader-2.0.json': JSON.stringify([
    op(2, 0, 'START', 0, 2, begin),
    op(2, 0, 'ROLLBACK', 3, 10, {
      sql: 'update t set v = 1 where pkId = 0',
      predicateLock: 'Deadlock found when trying to get lock',
      writeTupleList: [row('0', { v: '1' })],
    }),
    op(2, 1, 'START', 11, 15, begin),
    op(2, 1, 'SELECT', 16, 17, { sql: 'select v from t where v = 9' }),
  ]),
};

describe('Pisco traces', () => {
  it.each(['schema/schema.sql', 'init_data/dataInsert.sql', 'init_data/t.csv'])(
    'are refused where %s is no UTF-8',
    async (name) => {
      const bytes = Buffer.concat([Buffer.from('x\n'), Buffer.from([0x27, 0xff, 0x27])]);
      const problem = `history/${name}:2: the bytes are not UTF-8`;
      await expect(readContent({ ...folder, [name]: bytes })).rejects.toThrow(problem);
    },
  );

  it('become a history: answers in order, values typed by the schema, failures told as such', async () => {
    const read = await readContent(folder);
    if (read.kind !== 'sql') throw new Error('not SQL');
    expect(read.header).toEqual({
      sessions: ['0-0-0', '0-0-2', '0-0-10'],
      level: 'repeatable read',
      target: { name: 'tidb', version: 'unknown' },
      dialect: 'mysql',
      setup: [
        folder['schema/schema.sql'].replace(';', ''),
        'insert into t (pkId, v, name) values ("0","5","7")',
        'insert into t values ("1","6","x")',
      ],
    });
    expect(read.initial).toEqual([
      { mode: 'write', object: 't/0', value: { pkId: 0, v: 5, name: '7' } },
      { mode: 'write', object: 't/1', value: { pkId: 1, v: 6, name: 'x' } },
    ]);
    const seen = read.operations.map((each) => [
      each.index,
      each.session,
      each.kind,
      each.start,
      each.end,
      each.outcome,
      each.ends,
    ]);
    expect(seen).toEqual([
      [0, 0, 'begin', 0, 1, 'ok', undefined],
      [1, 1, 'begin', 0, 2, 'ok', undefined],
      [2, 0, 'select', 2, 8, 'ok', undefined],
      [3, 1, 'update', 3, 10, 'error', 'rollback'],
      [4, 0, 'delete', 9, 12, 'ok', undefined],
      [5, 0, 'commit', 13, 14, 'ok', 'commit'],
      [6, 1, 'begin', 11, 15, 'ok', undefined],
      [7, 1, 'select', 16, 17, 'ok', 'unknown'],
      [8, 2, 'begin', 30, null, 'unknown', 'unknown'],
    ]);
    expect(read.operations[2]!.accesses).toEqual([
      { mode: 'read', object: 't/0', value: { v: 5, name: '7' } },
    ]);
    expect(read.operations[3]!.error).toEqual({
      class: 'deadlock',
      message: 'Deadlock found when trying to get lock',
    });
    expect(read.operations[3]!.accesses).toBeUndefined();
    expect(read.operations[4]!.accesses).toEqual([{ mode: 'delete', object: 't/1' }]);
    expect(read.operations[7]!.accesses).toEqual([]);
  });

  it.each([
    [
      { 'trace/loader-0.0.json': '[{"threadID":"x"}]' },
      'history/trace/loader-0.0.json:1: expected an operation with threadID',
    ],
    [{ 'trace/loader-0.0.json': '[{"threadID":' }, 'the file ends inside the object that begins here'],
    [{ 'trace/readme': '' }, 'expected files named trace/loader-0.0.json'],
    [
      { ...folder, 'init_data/t.csv': 'pkId,v,name\n"0","5"\n' },
      'init_data/t.csv:2: expected 3 values, found 2',
    ],
    [
      { 'trace/loader-0.0.json': JSON.stringify([op(0, 0, 'SELECT', 5, 4)]) },
      ':1 (finishTimestamp): expected a time not before startTimestamp 1005, found 1004',
    ],
    [
      {
        'trace/loader-0.0.json': JSON.stringify([
          op(0, 0, 'SELECT', 5, 6, { readTupleList: [{ table: 4 }] }),
        ]),
      },
      ':1 (readTupleList[0]): expected a row with table and primaryKey',
    ],
  ])('say what is wrong and where (%#)', async (files, message) => {
    await expect(readContent(files as Record<string, string>)).rejects.toThrow(message);
  });

  const real = process.env.ISOLDE_PISCO_TRACE ?? '../shared/data/pisco/tidb_42487.tar.xz';
  it.skipIf(!existsSync(real))('read a real trace of TiDB as it was recorded', async () => {
    const read = await readAnyHistory(real);
    if (read.kind !== 'sql') throw new Error('not SQL');
    const count = (test: (each: Operation) => boolean): number => read.operations.filter(test).length;
    const selects = read.operations.filter((each) => each.kind === 'select' && each.outcome === 'ok');
    expect({
      operations: read.operations.length,
      transactions: new Set(read.operations.map((each) => each.transaction)).size,
      selects: selects.length,
      forUpdate: selects.filter((each) => /for update/i.test(each.sql!)).length,
      updates: count((each) => each.kind === 'update' && each.outcome === 'ok'),
      rollbacks: count((each) => each.ends === 'rollback' && each.error?.class === 'deadlock'),
      rows: read.initial?.length,
      rowsRead: selects.reduce((sum, each) => sum + each.accesses!.length, 0),
      target: read.header.target?.name,
    }).toEqual({
      operations: 23_984,
      transactions: 3_900,
      selects: 12_092,
      forUpdate: 2_875,
      updates: 4_092,
      rollbacks: 206,
      rows: 32,
      rowsRead: 41_384,
      target: 'tidb',
    });
  });
});
