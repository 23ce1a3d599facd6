/** A small valid file of every format, for properties that hold whatever the format. */
import { gzipSync } from 'node:zlib';
import type { FormatName } from './format.js';

const u64 = (bigEndian: boolean, ...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 8);
  numbers.forEach((number, i) => {
    if (bigEndian) bytes.writeBigUInt64BE(BigInt(number), i * 8);
    else bytes.writeBigUInt64LE(BigInt(number), i * 8);
  });
  return bytes;
};

const little = (...numbers: number[]): Buffer => u64(false, ...numbers);
const record = (letter: string, ...numbers: number[]): Buffer =>
  Buffer.concat([Buffer.from(letter), u64(true, ...numbers)]);

const edn = `; a run
{:type :invoke, :f :txn, :value [[:append 3 1] [:r "k" nil]], :process 2, :time 10, :index 0}
{:type :ok, :f :txn, :value [[:append 3 1] [:r "k" [7 -8 1.5]]], :process 2, :time 30, :index 1}
#op{:type :info, :f :txn, :value nil, :process 2, :error [:timeout "a\\"b"]}
`;

const trace = [
  {
    threadID: '0-0-0',
    transactionID: '0-0-0,0',
    operationTraceType: 'START',
    sql: 'start transaction',
    startTimestamp: 100,
    finishTimestamp: 110,
    isolationLevel: 'REPEATABLE_READ',
    traceLockMode: 'EXCLUSIVE_LOCK',
  },
  {
    threadID: '0-0-0',
    transactionID: '0-0-0,0',
    operationTraceType: 'SELECT',
    sql: 'select `a` from `t`',
    startTimestamp: 120,
    finishTimestamp: 130,
    readTupleList: [{ table: 't', primaryKey: '4', valueMap: { a: '5' }, realValueMap: {} }],
  },
];

export const formatSamples: Readonly<Record<FormatName, Buffer>> = {
  isolde: Buffer.from(
    '{"format":"isolde-history","version":1,"sessions":["a"]}\n' +
      '{"index":0,"session":0,"transaction":0,"kind":"write","start":1,"end":2,"outcome":"ok","ends":"commit","accesses":[{"mode":"write","object":"x","value":1}]}\n',
  ),
  jepsen: Buffer.from(edn),
  'elle-json': Buffer.from(
    '[{"type":"invoke","process":0,"value":[["append",1,2]]},\n{"type":"ok","process":0,"value":[["append",1,2],["r",1,[2,12345678901234567890]]],"time":5}]',
  ),
  plume: Buffer.from('w(1,5,0,0)\nr(1,5,1,1)\nw(1,6,0,-1)\n'),
  dbcop: Buffer.concat([
    little(1, 1, 1, 1, 1),
    little(1),
    Buffer.from('x'),
    little(0, 0, 1, 1, 1),
    Buffer.from([1]),
    little(3, 4),
    Buffer.from([1, 1]),
  ]),
  'dbcop-json': Buffer.from('[[{"events":[{"Write":{"variable":0,"version":1}}],"committed":true}],[]]'),
  cobra: Buffer.concat([record('S', 1), record('W', 2, 3, 4), record('R', 5, 6, 3, 7), record('C', 1)]),
  awdit: Buffer.from('w x 1\n-----\nr x 1\n=====\nr y 0\n'),
  viper: Buffer.from('{"value":[["w","x",5,true],["r","y",null,true]]}\n'),
  pisco: Buffer.from(JSON.stringify(trace, null, 1)),
};

/** One of them, compressed. */
export const zipped: Buffer = gzipSync(formatSamples.jepsen);
