/** What a trial's asker hears, and when: an answer, or that nobody takes it. */
import { describe, expect, it } from 'vitest';
import { fakeDatabase, type Rule } from './fake-database.case.js';
import { printAnswer, TrialDesk } from './trial-desk.js';

const made: Rule = ['WITH made AS', [{ id: '9', state: 'ready', result: null }]];
const helpers = (others: number): Rule => ['AS others', [{ others }]];
/** What each look at the trial finds, the last one from then on. */
function looks(...states: readonly (readonly [state: string, result?: string])[]): Rule {
  let at = 0;
  return [
    'WHERE id = ANY',
    () => {
      const [state, result = null] = states[Math.min(at++, states.length - 1)]!;
      return [{ id: '9', state, result }];
    },
  ];
}
const taken: Rule = ["SET state = 'cancelled' WHERE id", [{ id: '9' }]];

function deskWith(rules: readonly Rule[], { patienceMs = 0, aborted = false } = {}) {
  const { database, asked } = fakeDatabase(...rules);
  const controller = new AbortController();
  if (aborted) controller.abort();
  const desk = new TrialDesk({
    database,
    job: '5',
    needs: 'trial duckdb 1.5',
    signal: controller.signal,
    patienceMs,
  });
  return { desk, asked };
}

describe('a trial', () => {
  it.each([
    ['is answered', [['done', printAnswer({ verdict: 'same' })]], { verdict: 'same' }],
    [
      'is answered after a while, with a note',
      [['running'], ['running'], ['done', printAnswer({ verdict: 'none', note: 'n' })]],
      { verdict: 'none', note: 'n' },
    ],
    ['failed where it was taken', [['failed']], undefined],
    ['was cancelled with its batch', [['cancelled']], undefined],
    ['was done without a word', [['done']], undefined],
  ] as const)('that %s', async (_, states, answer) => {
    const { desk } = deskWith([made, looks(...states), helpers(1), taken]);
    expect(await desk.ask('key', '{}')).toEqual(answer);
  });

  it('that nobody has begun in time is taken back', async () => {
    const { desk, asked } = deskWith([made, looks(['ready']), helpers(1), taken]);
    expect(await desk.ask('key', '{}')).toBeUndefined();
    expect(asked.at(-1)!.sql).toContain("AND state = 'ready' RETURNING id");
  });

  it('that is begun while it is taken back is waited for', async () => {
    const states = looks(['ready'], ['running'], ['done', printAnswer({ verdict: 'same' })]);
    const { desk } = deskWith([made, states, helpers(1), ["SET state = 'cancelled' WHERE id", []]]);
    expect(await desk.ask('key', '{}')).toEqual({ verdict: 'same' });
  });

  it('is taken back at once where nobody could take it, however patient we are', async () => {
    const { desk } = deskWith([made, looks(['ready']), helpers(0), taken], { patienceMs: 1e9 });
    expect(desk.hasHelpers).toBe(true);
    expect(await desk.ask('key', '{}')).toBeUndefined();
    expect(desk.hasHelpers).toBe(false);
  });

  it('of a reduction that is gone has no answer, and is not waited for', async () => {
    const { desk, asked } = deskWith([]);
    expect(await desk.ask('key', '{}')).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('has no answer once the reduction was stopped', async () => {
    const { desk, asked } = deskWith([made, looks(['running'])], { aborted: true });
    expect(await desk.ask('key', '{}')).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('is named by its key, its reduction and what it needs', async () => {
    const { desk, asked } = deskWith([]);
    await desk.ask('key', '{"x":1}');
    expect(asked[0]!.values).toEqual(['5', 'key', 'trial duckdb 1.5', '{"x":1}']);
  });
});

it('closing takes back what waits, and those who asked hear of it', async () => {
  const { desk, asked } = deskWith([made, looks(['running']), helpers(1)]);
  const waiting = desk.ask('key', '{}');
  await new Promise((resolve) => setImmediate(resolve));
  await desk.close();
  expect(await waiting).toBeUndefined();
  expect(asked.at(-1)!.sql).toContain("kind = 'trial' AND state = 'ready'");
});

it.each(['{', '{"verdict":"perhaps"}', '{"verdict":"same","more":1}', '{"verdict":"same","note":7}', 'null'])(
  'an answer that cannot be read is none, and the one who asked tries for himself: %s',
  async (result) => {
    const { desk } = deskWith([made, looks(['done', result]), helpers(1)]);
    expect(await desk.ask('key', '{}')).toBeUndefined();
  },
);

it('all who wait hear of it when the database does not come back, and later ones ask anew', async () => {
  let away = true;
  const gone: Rule = [
    'WHERE id = ANY',
    () => {
      if (away) throw new Error('the server is away');
      return [{ id: '9', state: 'done', result: printAnswer({ verdict: 'same' }) }];
    },
  ];
  const { desk } = deskWith([made, gone, helpers(1)]);
  await expect(desk.ask('key', '{}')).rejects.toThrow('the server is away');
  away = false;
  expect(await desk.ask('key', '{}')).toEqual({ verdict: 'same' });
});

it('one trial after the other is answered, without a pause between them', async () => {
  const { desk } = deskWith([made, looks(['done', printAnswer({ verdict: 'none' })]), helpers(1)]);
  for (let i = 0; i < 5; i++) expect(await desk.ask(`key ${i}`, '{}')).toEqual({ verdict: 'none' });
});
