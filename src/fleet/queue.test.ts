/** What the queue asks of its database, and what it makes of the answers: leases, repeated ends, inputs, notes. */
import { describe, expect, it } from 'vitest';
import { fakeDatabase, type Rule } from './fake-database.case.js';
import { type Lease, type NewJob, Queue } from './queue.js';

const lease: Lease = {
  ...{ id: '5', batch: '7', worker: '2', kind: 'hunt', payload: '{}', attempt: 3, lost: 0 },
};
const outcome = { result: '{}', bugs: [], line: 'hunted' };
const held = (state: string, more: Partial<Record<'worker' | 'attempt', unknown>> = {}): Rule => [
  'FOR UPDATE',
  [{ state, worker: '2', attempt: 3, ...more }],
];
/** The first words of what was written. */
const writes = (asked: readonly { readonly sql: string }[]) =>
  asked.flatMap(({ sql }) => /^(?:INSERT INTO|UPDATE) isolde_shared\.(\w+)/.exec(sql)?.[1] ?? []);

describe('the end of a job', () => {
  it.each([
    ['runs for this worker', held('running'), 'done', ['jobs', 'events']],
    ['was ended by this very attempt before', held('done'), 'done', []],
    ['was given back', held('ready'), 'done', []],
    ['was cancelled', held('cancelled'), 'lost', []],
    ['is another worker’s', held('running', { worker: '9' }), 'lost', []],
    ['is another attempt of this worker', held('running', { attempt: 4 }), 'lost', []],
    ['is gone', ['FOR UPDATE', []] as Rule, 'lost', []],
  ] as const)('that %s', async (_, rule, result, written) => {
    for (const end of [
      (queue: Queue) => queue.complete(lease, outcome),
      (queue: Queue) => queue.fail(lease, 'broken'),
    ]) {
      const { database, asked } = fakeDatabase(rule);
      expect(await end(new Queue(database))).toBe(result);
      expect(writes(asked)).toEqual(written);
      // Looked at and written in one transaction, or a second worker could come between.
      expect(asked.every(({ inside }) => inside)).toBe(true);
    }
  });

  it('says nothing in the log where there is nothing to say', async () => {
    const { database, asked } = fakeDatabase(held('running'));
    await new Queue(database).complete(lease, { ...outcome, line: '' });
    expect(writes(asked)).toEqual(['jobs']);
  });

  it.each([
    [false, false],
    [true, true],
  ])('is tried again unless it is hopeless: %j', async (hopeless, told) => {
    const { database, asked } = fakeDatabase(held('running'));
    await new Queue(database).fail(lease, 'broken', hopeless);
    expect(asked[1]!.values).toEqual(['5', 'broken', told, 3]);
    expect(asked[2]!.values).toEqual(['7', '5', '2', 'failed: broken']);
  });
});

describe('a submission', () => {
  const job = (i: number, input?: NewJob['input']): NewJob => ({
    ...{ kind: 'check', needs: 'check', payload: `{"n":${i}}` },
    ...(input && { input }),
  });
  const batch = (jobs: readonly NewJob[]) => ({ kind: 'check', title: 'files', submission: 's', jobs });
  const made: Rule = ['INSERT INTO isolde_shared.batches', [{ id: '7' }]];

  it('that was made before changes nothing and has the batch it had', async () => {
    const { database, asked } = fakeDatabase(
      ['INSERT INTO isolde_shared.batches', []],
      ['WHERE submission', [{ id: '3' }]],
    );
    expect(await new Queue(database).submit(batch([job(0)]))).toBe('3');
    expect(writes(asked)).toEqual(['batches']);
  });

  it('of many jobs is several statements with keys that go on', async () => {
    const { database, asked } = fakeDatabase(made);
    await new Queue(database).submit(batch(Array.from({ length: 5_001 }, (_, i) => job(i))));
    const keys = asked
      .filter(({ sql }) => sql.startsWith('INSERT INTO isolde_shared.jobs '))
      .map(({ values }) => values[1] as string[]);
    expect(keys.map((each) => [each.length, each[0], each.at(-1)])).toEqual([
      [5_000, '0', '4999'],
      [1, '5000', '5000'],
    ]);
    expect(asked.at(-1)!.values.at(-1)).toBe('submitted 5001 jobs: files');
  });

  it('gives each file to the job it belongs to, in whatever order the rows come back', async () => {
    const content = (text: string) => ({ name: `${text}.jsonl`, content: new TextEncoder().encode(text) });
    const rows = [
      { id: '12', key: '2' },
      { id: '10', key: '0' },
      { id: '11', key: '1' },
    ];
    const { database, asked } = fakeDatabase(made, ['INSERT INTO isolde_shared.jobs ', rows]);
    await new Queue(database).submit(batch([job(0, content('a')), job(1), job(2, content('c'))]));
    const inputs = asked.filter(({ sql }) => sql.includes('job_inputs')).map(({ values }) => values);
    expect(inputs.map(([id, name, bytes]) => [id, name, String(bytes)])).toEqual([
      ['12', 'c.jsonl', 'c'],
      ['10', 'a.jsonl', 'a'],
    ]);
  });
});

describe('a worker', () => {
  it('claims a job with all that its slot needs to know', async () => {
    const row = { id: '5', batch: '7', kind: 'hunt', payload: '{}', attempt: 3, lost: 1 };
    const { database, asked } = fakeDatabase(['isolde_shared.claim', [row]]);
    expect(await new Queue(database).claim('2', ['trial', 'check'])).toEqual({ ...row, worker: '2' });
    // The order of needs is the order in which they are tried.
    expect(asked[0]!.values).toEqual(['2', ['trial', 'check']]);
  });

  it('claims nothing where there is nothing', async () => {
    expect(await new Queue(fakeDatabase().database).claim('2', [])).toBeUndefined();
  });

  it.each([
    [[], { held: [], ignored: [] }],
    [[{ held: null, ignored: null }], { held: [], ignored: [] }],
    // Numbers of JSON, where all other numbers of jobs are texts.
    [
      [{ held: [{ id: 5, attempt: 3 }], ignored: ['bug-1'] }],
      { held: [{ id: '5', attempt: 3 }], ignored: ['bug-1'] },
    ],
  ])('hears of its jobs: %j', async (rows, heard) => {
    expect(await new Queue(fakeDatabase(['WITH beat', rows]).database).heartbeat('2')).toEqual(heard);
  });

  it('gives back only what it holds, attempt by attempt', async () => {
    const { database, asked } = fakeDatabase();
    await new Queue(database).giveBack([lease, { id: '6', attempt: 1 }], '2');
    expect(asked.map(({ values }) => values)).toEqual([
      ['5', 3, '2'],
      ['6', 1, '2'],
    ]);
  });

  it('that was lost frees its jobs, and the log says what became of each', async () => {
    const freed = ['ready', 'failed'].map((state, i) => ({ id: `${i}`, batch: '7', worker: '2', state }));
    const { database, asked } = fakeDatabase(['UPDATE isolde_shared.jobs AS job', freed]);
    expect(await new Queue(database).reap()).toBe(2);
    expect(asked.slice(1).map(({ values }) => values.at(-1))).toEqual([
      ...['its worker was lost: ready again', 'failed: 20 workers were lost over it'],
    ]);
  });
});

it('cancelling a batch counts what was taken back', async () => {
  const { database, asked } = fakeDatabase(
    ['FROM isolde_shared.batches', [{ id: '7' }]],
    ["state = 'cancelled'", [{ id: '1' }, { id: '2' }]],
  );
  expect(await new Queue(database).cancel('7')).toBe(2);
  expect(asked.at(-1)!.values).toEqual(['7', null, null, 'cancelled 2 jobs']);
});

it('a batch that is not there cannot be cancelled, and nothing is written', async () => {
  const { database, asked } = fakeDatabase();
  await expect(new Queue(database).cancel('999')).rejects.toThrow('there is no batch 999');
  expect(asked.filter(({ sql }) => /INSERT|UPDATE/.test(sql))).toEqual([]);
});
