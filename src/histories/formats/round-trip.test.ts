import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KvBuilder } from '../kv-builder.js';
import {
  type KvHistory,
  type KvName,
  kvInitial,
  kvRead,
  kvReadList,
  kvUnseen,
  kvWrite,
  listOf,
  statusOf,
  valueName,
} from '../kv-history.js';
import { kv } from '../kv-shorthand.js';
import { readContent, withFolder } from './import.case.js';
import { kvOperations } from './own.js';
import { readAnyHistory } from './read-any.js';
import { eventLines, formatOfName, type WritableFormat, writeKvHistory } from './write-kv.js';

const anyName: fc.Arbitrary<KvName> = fc.oneof(
  fc.nat(9),
  fc.integer(),
  fc.constantFrom<KvName>(
    '1',
    ':k',
    ':a b',
    '"q"',
    '-1',
    'nil',
    '',
    1.5,
    1e20,
    -1e300,
    '9007199254740993',
    2 ** 31,
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const time = fc.oneof(fc.constant(Number.NaN), fc.integer({ min: 1, max: 50 }));

const anyOp = fc.oneof(
  fc.record({ f: fc.constant('w' as const), key: anyName, value: anyName }),
  fc.record({ f: fc.constant('append' as const), key: anyName, value: anyName }),
  fc.record({ f: fc.constant('r' as const), key: anyName, value: fc.option(anyName) }),
  fc.record({ f: fc.constant('unseen' as const), key: anyName }),
  fc.record({ f: fc.constant('list' as const), key: anyName, value: fc.array(anyName, { maxLength: 3 }) }),
);
type AnyOp = typeof anyOp extends fc.Arbitrary<infer T> ? T : never;

const anyTransaction = fc.record({
  session: fc.nat(2),
  status: fc.constantFrom('committed' as const, 'committed' as const, 'aborted' as const, 'unknown' as const),
  start: time,
  end: time,
  ops: fc.array(anyOp, { maxLength: 4 }),
});

/** Histories as tools record them: lists or registers, a session ends with its first unknown transaction, time goes on. */
const anyHistory = fc
  .tuple(fc.boolean(), fc.array(anyTransaction, { minLength: 1, maxLength: 8 }))
  .map(([lists, transactions]) => {
    const builder = new KvBuilder();
    const over = new Set<number>();
    let clock = 0;
    for (const { session, status, start, end, ops } of transactions) {
      if (over.has(session)) continue;
      if (status === 'unknown') over.add(session);
      builder.begin(session, clock + start);
      for (const op of ops) addOp(builder, op, lists);
      builder.end(
        status,
        status === 'unknown' ? Number.NaN : clock + (Number.isNaN(start) ? 0 : start) + end,
      );
      clock += 60;
    }
    return builder.build();
  });

function addOp(builder: KvBuilder, op: AnyOp, lists: boolean): void {
  if (op.f === 'unseen') {
    if (lists) builder.readList(op.key, undefined);
    else builder.read(op.key, undefined);
  } else if (op.f === 'w' || op.f === 'r') {
    if (lists) return;
    if (op.f === 'w') builder.write(op.key, op.value);
    else builder.read(op.key, op.value);
  } else if (lists) {
    if (op.f === 'append') builder.append(op.key, op.value);
    else builder.readList(op.key, op.value);
  }
}

type OpFact = readonly [string, KvName, unknown];

/** Everything a history says, session by session, with what a format cannot say taken out by `tell`. */
function facts(
  history: KvHistory,
  tell: (op: OpFact, committed: boolean) => OpFact | undefined = (op) => op,
  startOf: (start: number, end: number) => number = (start) => start,
): string[] {
  const sessions: unknown[][] = history.sessionNames.map(() => []);
  for (let tx = 0; tx < history.txCount; tx++) {
    const status = statusOf(history, tx);
    const end = history.txEnd?.[tx] ?? Number.NaN;
    const start = startOf(history.txStart?.[tx] ?? Number.NaN, end);
    const ops: OpFact[] = [];
    for (let op = history.opOffsets[tx]!; op < history.opOffsets[tx + 1]!; op++) {
      const fact = tell(factOf(history, op), status === 'committed');
      if (fact !== undefined) ops.push(fact);
    }
    sessions[history.txSession[tx]!]!.push([status, start, end, ops]);
  }
  return sessions.map((session) => JSON.stringify(session)).sort();
}

function factOf(history: KvHistory, op: number): OpFact {
  const key = history.keyNames[history.opKey[op]!]!;
  const value = history.opValue[op]!;
  const kind = history.opKind[op]!;
  if (value === kvUnseen) return ['unseen', key, null];
  if (kind === kvReadList)
    return ['list', key, Array.from(listOf(history, op), (id) => valueName(history, id))];
  if (kind === kvRead)
    return value === kvInitial ? ['initial', key, null] : ['read', key, valueName(history, value)];
  return [kind === kvWrite ? 'write' : 'append', key, valueName(history, value)];
}

/** What Jepsen's notation says: reads without results exist only where nothing was committed. */
function jepsenTells(op: OpFact, committed: boolean): OpFact | undefined {
  if (op[0] === 'unseen') return committed ? undefined : op;
  return op[0] === 'initial' && !committed ? ['unseen', op[1], null] : op;
}

async function throughFile(history: KvHistory, name: string, format: WritableFormat): Promise<KvHistory> {
  return withFolder(async (folder) => {
    const path = join(folder, name);
    await writeKvHistory(path, history, format);
    const read = await readAnyHistory(path, { format });
    if (read.kind !== 'kv') throw new Error('read back as SQL');
    return read.history;
  });
}

describe('what is written', () => {
  it.each([
    ['a.edn', 'jepsen'],
    ['a.json', 'elle-json'],
    ['a.jsonl.gz', 'elle-json'],
  ] as const)('reads back the same from %s', async (name, format) => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const back = await throughFile(history, name, format);
        expect(facts(back)).toEqual(facts(history, jepsenTells));
      }),
      { numRuns: name.endsWith('.gz') ? 30 : 100 },
    );
  });

  it('is read alike by the fast scanner and by the general reader of EDN', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const lines = [...eventLines(history, 'jepsen')].join('');
        // A field the scanner does not know sends an event the slow way.
        const slow = lines.replaceAll(/^\{:index/gm, '{:extra #{1}, :index');
        const [fast, general] = await Promise.all([lines, slow].map((text) => readContent(text)));
        expect(fast).toEqual(general);
      }),
      { numRuns: 100 },
    );
  });

  it('reads back the same from our own files', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, async (history) => {
        const back = await throughFile(history, 'a.history.jsonl', 'isolde');
        const startOf = (start: number, end: number): number =>
          Number.isNaN(start) && !Number.isNaN(end) ? 0 : start;
        expect(facts(back)).toEqual(facts(history, undefined, startOf));
      }),
      { numRuns: 80 },
    );
  });

  it('becomes operations of ours', () => {
    const history = kv('T1@a[5-9]: wx1 ry_ | T2@b!: rz[1,2] az3 | T3@a?[10-]: rx?');
    const operations = [...kvOperations(history)];
    expect(operations[0]).toEqual({
      index: 0,
      session: 0,
      transaction: 0,
      kind: 'write',
      start: 5,
      end: 9,
      outcome: 'ok',
      accesses: [{ mode: 'write', object: 'x', value: 1 }],
    });
    expect(operations.map((op) => op.ends)).toEqual([undefined, 'commit', undefined, 'rollback', 'unknown']);
  });

  it('claims no order between transactions that touch in time', () => {
    const lines = [...eventLines(kv('T1@a[1-5]: wx1 | T2@b[5-6]: rx1 | T3@a[5-7]: wx2'), 'jepsen')].filter(
      (text) => text !== '\n',
    );
    expect(
      lines.map((line) => /:time (\d+), :type :(\w+), :process (\d)/.exec(line)!.slice(1).join(' ')),
    ).toEqual(['1 invoke 0', '5 invoke 1', '5 ok 0', '5 invoke 0', '6 ok 1', '7 ok 0']);
  });

  it('gives a session a new process after an unknown outcome, as Jepsen does', () => {
    const lines = [...eventLines(kv('T1@a?[1-]: wx1 | T2@a[3-4]: wx2'), 'elle-json', true)];
    expect(JSON.parse(lines.join(''))).toMatchObject([
      { type: 'invoke', process: 0, time: 1 },
      { type: 'info', process: 0, value: [['w', 'x', 1]] },
      { type: 'invoke', process: 1, time: 3 },
      { type: 'ok', process: 1, time: 4, value: [['w', 'x', 2]] },
    ]);
  });

  it('has the format its name asks for', () => {
    expect(formatOfName('a.EDN.gz')).toBe('jepsen');
    expect(formatOfName('a.jsonl')).toBe('elle-json');
    expect(formatOfName('a.history.jsonl.gz')).toBe('isolde');
    expect(formatOfName('a.txt')).toBeUndefined();
  });
});
