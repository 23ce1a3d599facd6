import { describe, expect, it } from 'vitest';
import { plainKey } from '../plain-operations.js';
import { readContent, storyOf } from './import.case.js';

const lines = (...events: string[]): string => events.join('\n');

describe('Jepsen EDN', () => {
  it('pairs invocations with completions, and takes results from completions', async () => {
    const text = lines(
      '{:type :invoke, :f :txn, :value [[:append 3 1] [:r 4 nil]], :process 2, :time 10, :index 0}',
      '{:type :invoke, :f :txn, :value [[:append 4 7]], :process 0, :time 11, :index 1}',
      '{:type :ok, :f :txn, :value [[:append 4 7]], :process 0, :time 20, :index 2}',
      '{:type :ok, :f :txn, :value [[:append 3 1] [:r 4 [7]]], :process 2, :time 30, :index 3}',
    );
    const story = ['0 [11-20]: append(4, 7)', '2 [10-30]: append(3, 1) r(4, [7])'];
    expect(await storyOf(text, 'jepsen')).toEqual(story);
    expect(await storyOf(`[${text}]`, 'jepsen')).toEqual(story);
    expect(await storyOf(`; a comment\n[\n ${text} #_{:type :ok}\n]\n`, 'jepsen')).toEqual(story);
  });

  it('takes the writes of lost and failed transactions from their invocations, and retires lost processes', async () => {
    const text = lines(
      '{:type :invoke, :f :txn, :value [[:w :x 1] [:r :y nil]], :process 0}',
      '{:type :info, :f :txn, :value nil, :process 0, :error [:timeout "connection \\"reset\\""]}',
      '{:type :invoke, :f :txn, :value [[:w :x 2]], :process 0}',
      '{:type :fail, :f :txn, :value [[:w :x 2]], :process 0}',
      '{:type :invoke, :f :txn, :value [[:r :x nil]], :process 0}',
      '{:type :ok, :f :txn, :value [[:r :x 1]], :process 0}',
      '{:type :invoke, :f :txn, :value [[:w :y 3]], :process 5}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual([
      '0? [1-]: w(:x, 1) r(:y, ?)',
      '"0, 2"! [3-4]: w(:x, 2)',
      '"0, 2" [5-6]: r(:x, 1)',
      '5? [7-]: w(:y, 3)',
    ]);
  });

  it('counts an invocation that is followed by another of its process as lost', async () => {
    const text = lines(
      '{:type :invoke, :f :txn, :value [[:w 1 1]], :process 0, :time 1}',
      '{:type :invoke, :f :txn, :value [[:w 1 2]], :process 0, :time 2}',
      '{:type :ok, :f :txn, :value [[:w 1 2]], :process 0, :time 3}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual(['0? [1-]: w(1, 1)', '"0, 2" [2-3]: w(1, 2)']);
  });

  it('reads completions without invocations, processes, times or :f', async () => {
    const text = '{:type :ok, :value [[:w 1 1]]} {:value [[:r 1 1]], :type :ok}\n';
    expect(await storyOf(text, 'jepsen')).toEqual(['"event 1": w(1, 1)', '"event 2": r(1, 1)']);
  });

  it('passes over the nemesis, records, metadata and operations that are no transactions', async () => {
    const text = lines(
      '{:type :info, :process :nemesis, :f :start, :value nil}',
      '#jepsen.history.Op{:index 1, :time 5, :type :ok, :process 1, :f :txn, :value [[:r 1 nil]]}',
      '{:type :ok, :process 2, :f :drain, :value 17}',
      '^{:doc "x"} {:type :ok, :process 2, :f :txn, :value ([:w 1 3]), :time 9}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual(['1 [-5]: r(1, initial)', '2 [-9]: w(1, 3)']);
  });

  it('pairs events without a process by their operations', async () => {
    // The shape of the example in Elle's paper: an invocation and its completion, neither with a process.
    const text = lines(
      '{:index 2 :type :invoke, :value [[:append 255 8] [:r 253 nil]]}',
      '{:index 3 :type :ok, :value [[:append 255 8] [:r 253 [1 3]]]}',
      '{:index 4 :type :invoke, :value [[:append 253 4] [:r 255 nil]]}',
      '{:index 5 :type :invoke, :value [[:append 253 1] [:append 253 3]]}',
      '{:index 6 :type :ok, :value [[:append 253 4] [:r 255 [8]]]}',
      '{:index 7 :type :fail, :value nil}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual([
      '"event 1" [1-2]: append(255, 8) r(253, [1 3])',
      '"event 2" [3-5]: append(253, 4) r(255, [8])',
      '"event 3"! [4-6]: append(253, 1) append(253, 3)',
    ]);
    const json = lines(
      '{"type":"invoke","value":[["append",255,8],["r",253,null]]}',
      '{"type":"ok","value":[["append",255,8],["r",253,[1,3]]]}',
    );
    expect(await storyOf(json, 'elle-json')).toEqual(['"event 1" [1-2]: append(255, 8) r(253, [1 3])']);
  });

  it('claims the least about real time where invocations without a process are alike', async () => {
    const text = lines(
      '{:type :invoke, :value [[:r 1 nil]]}',
      '{:type :invoke, :value [[:r 1 nil]]}',
      '{:type :ok, :value [[:r 1 [5]]]}',
      '{:type :ok, :value [[:r 1 [5 6]]]}',
      '{:type :invoke, :value [[:r 1 nil]]}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual([
      '"event 1" [1-3]: r(1, [5])',
      '"event 2" [1-4]: r(1, [5 6])',
      '"event 3"? [5-]: r(1, ?)',
    ]);
  });

  it('leaves the open ones unknown where a failure without a process names none of them', async () => {
    const text = lines(
      '{:type :invoke, :value [[:w 1 1]]}',
      '{:type :invoke, :value [[:w 1 2]]}',
      '{:type :fail, :value nil}',
    );
    expect(await storyOf(text, 'jepsen')).toEqual(['"event 1"? [1-]: w(1, 1)', '"event 2"? [2-]: w(1, 2)']);
  });

  it('keeps operations that are no transactions, paired, and says that the transactions are not all', async () => {
    const text = lines(
      '{:type :invoke, :f :transfer, :value {:from 1, :to 2, :amount 5}, :process 0, :index 7}',
      '{:type :invoke, :f :read, :value nil, :process 1, :index 8}',
      '{:type :ok, :f :read, :value {1 10, 2 #{}}, :process 1, :index 9}',
      '{:type :info, :f :transfer, :value {:from 1, :to 2, :amount 5}, :process 0, :index 10}',
      '{:type :invoke, :f :add, :value 3, :process 2}',
      '{:type :ok, :f :read, :value []}',
    );
    const read = await readContent(text);
    if (read.kind !== 'kv') throw new Error(read.kind);
    expect(read.history.txCount).toBe(0);
    expect(read.history.omitted).toEqual([
      'operations that are no transactions of reads and writes were skipped: 2 read, 1 transfer, 1 add',
    ]);
    expect(
      read.operations!.map(({ f, status, start, end, label, value }) => [
        f,
        status,
        start,
        end,
        label,
        plainKey(value),
      ]),
    ).toEqual([
      ['read', 'ok', 2, 3, 9, '{1 10, 2 []}'],
      ['transfer', 'info', 1, Number.POSITIVE_INFINITY, 10, '{:amount 5, :from 1, :to 2}'],
      ['read', 'ok', 6, 6, 6, '[]'],
      ['add', 'info', 5, Number.POSITIVE_INFINITY, 5, '3'],
    ]);
  });

  it('refuses texts that are not UTF-8, of which two different ones would become one', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{:type :ok, :process 0, :value []}\n{:type :ok, :process 0, :value [[:w 1 "'),
      Buffer.from([0xff]),
      Buffer.from('"]]}'),
    ]);
    await expect(readContent(bytes)).rejects.toThrow('history:2: the bytes are not UTF-8');
    const json = Buffer.concat([
      Buffer.from('{"type":"ok","process":0,"value":[["w",1,"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"]]}\n'),
    ]);
    await expect(readContent(json)).rejects.toThrow('history:1: the bytes are not UTF-8');
  });

  it('takes nil for the empty list where a key holds a list', async () => {
    const text = lines(
      '{:type :ok, :process 0, :value [[:r 1 nil] [:r 2 nil] [:r 3 nil]]}',
      '{:type :ok, :process 0, :value [[:append 1 5] [:w 2 5]]}',
    );
    expect((await storyOf(text, 'jepsen'))[0]).toBe('0: r(1, []) r(2, initial) r(3, [])');
  });

  it('keeps keys and values of every kind apart, and integers exact', async () => {
    const ops =
      '[:w 1 1] [:w "1" "1"] [:w :k 1/2] [:w a\\/b 9007199254740993N] [:w [1 :a] 9007199254740992] [:w "a\\nb" 1.5]';
    const [first] = await storyOf(
      `{:type :ok, :process 0, :value [${ops.replace('a\\/b', 'sym')}]}`,
      'jepsen',
    );
    expect(first).toBe(
      '0: w(1, 1) w(1, 1) w(:k, 1/2) w(sym, 9007199254740993) w("[1 :a]", 9007199254740992) w("a\\nb", 1.5)',
    );
    const read = await readContent('{:type :ok, :process 0, :value [[:w 1 1] [:w "1" "1"]]}');
    expect(read.kind === 'kv' && read.history.keyNames).toEqual([1, '1']);
  });

  it('names transactions by the index of their completion', async () => {
    const read = await readContent('{:type :ok, :process 0, :value [], :index 41}');
    expect(read.kind === 'kv' && read.history.txLabel?.[0]).toBe(41);
  });

  it.each([
    ['{:type :ok, :process 0, :value [[:r 1', 'history:1: the file ends inside the event that begins here'],
    ['[{:type :ok, :process 0, :value []}', 'history:1: the file ends inside its list of events'],
    [
      '{:type :ok, :process 0, :value []}\n{:type :maybe, :process 0, :value []}',
      ':2 (:type): expected :invoke, :ok, :fail or :info, found :maybe',
    ],
    [
      '{:type :ok, :process 0, :value [[:cas 1 2]]}',
      ':1 (:value): expected the operation :r, :w or :append, found :cas',
    ],
    ['{:type :ok, :process 0, :value 7}', ':1 (:value): expected a list of operations'],
    ['{:type :ok, :process 0, :value [5]}', ':1 (:value): expected an operation such as [:r 1 nil], found 5'],
    ['{:type :ok, :process 1.5, :value []}', ':1 (:process): expected a whole number from 0 on, found 1.5'],
    ['{:type :ok, :process 0, :time :late, :value []}', ':1 (:time): expected a number, found :late'],
    ['{:type :ok, :process 0, :value [)}', ':1: expected "]" to close "[", found ")"'],
    ['[{:type :ok, :value []}] {:type :ok}', ':1: nothing may follow the list of events'],
    ['{:type}', ':1: a map has a key without a value'],
    [`{:type :ok, :value ${'['.repeat(5000)}`, ':1: it is nested too deeply'],
  ])('says what is wrong with %j and where', async (text, message) => {
    await expect(readContent(text)).rejects.toThrow(message);
  });

  it('reads events across the borders of blocks, whatever their size', async () => {
    const list = Array.from({ length: 150_000 }, (_, i) => i).join(' ');
    const small = '{:type :ok, :process 1, :value [[:append 2 "ä"]]}\n';
    const text = `${small.repeat(2_000)}{:type :ok, :process 0, :value [[:r 1 [${list}]]]}\n${small}`;
    const read = await readContent(text);
    if (read.kind !== 'kv') throw new Error('not key-value');
    expect(read.history.txCount).toBe(2_002);
    expect(read.history.chainValues.length).toBe(150_000);
    await expect(readContent(`${text}{:type :ok, :value 1}`)).rejects.toThrow(':2003 (:value)');
  });
});

describe('Elle JSON', () => {
  const events = [
    {
      type: 'invoke',
      process: 1,
      time: 5,
      value: [
        ['append', 'x', 1],
        ['r', 'x', null],
      ],
    },
    { type: 'info', process: 'nemesis', f: 'partition', value: null },
    {
      type: 'ok',
      process: 1,
      time: 9,
      value: [
        ['append', 'x', 1],
        ['r', 'x', [1]],
      ],
      index: 2,
    },
    { type: 'fail', process: 1, time: 10, value: [['w', 2, 3]] },
  ];
  const story = ['1 [5-9]: append(x, 1) r(x, [1])', '1! [-10]: w(2, 3)'];

  it('reads lists and lines, however they are laid out', async () => {
    expect(await storyOf(JSON.stringify(events), 'elle-json')).toEqual(story);
    expect(await storyOf(JSON.stringify(events, null, 2), 'elle-json')).toEqual(story);
    expect(await storyOf(events.map((event) => JSON.stringify(event)).join('\n'), 'elle-json')).toEqual(
      story,
    );
  });

  it('does not round long integers', async () => {
    const text =
      '{"type":"ok","process":0,"value":[["w","x",9007199254740993],["w","y\\u00e9",-12345678901234567890]]}';
    expect(await storyOf(text, 'elle-json')).toEqual([
      '0: w(x, 9007199254740993) w(yé, -12345678901234567890)',
    ]);
  });

  it.each([
    ['{"type":"ok","process":0,"value":[["r",1', ':1: the file ends inside the object that begins here'],
    ['[{"type":"ok","process":0,"value":[]}', ':1: the file ends inside its list; expected "]"'],
    ['[{"type":"ok","value":[]}\n{"type":"ok","value":[]}]', ':2: expected "," before this object'],
    ['{"type":"ok","value":[]}\n{"type":"ok","value":[],}', ':2: this is not JSON'],
    [
      '{"type":"ok","value":[["x",1,2]]}',
      ':1 (value): expected the operation "r", "w" or "append", found "x"',
    ],
    ['{"type":"ok","process":-1,"value":[]}', ':1 (process): expected a whole number from 0 on, found -1'],
    ['{"type":"ok","value":[]} 5', ':1: expected an object in braces, found "5"'],
  ])('says what is wrong with %j and where', async (text, message) => {
    await expect(readContent(text)).rejects.toThrow(message);
  });
});
