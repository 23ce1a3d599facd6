/** A connection that is shared: one statement at a time, in the order they were asked, and what is sent in between. */
import { expect, it } from 'vitest';
import type { Answer } from '../target.js';
import { Channel } from './channel.js';

/** A session whose answers come when they are told to. */
function lab() {
  const sent: string[] = [];
  const waiting: ((transaction: Answer['transaction']) => void)[] = [];
  const execute = (sql: string) =>
    new Promise<Answer>((resolve) => {
      sent.push(sql);
      waiting.push((transaction) => resolve({ transaction }));
    });
  const channel = new Channel({ execute } as unknown as ConstructorParameters<typeof Channel>[0]);
  const answer = async (transaction: Answer['transaction']) => {
    waiting.shift()!(transaction);
    await turnOver();
  };
  return { channel, sent, answer };
}

/** Until everything that can go on has gone on. */
const turnOver = () => new Promise((resolve) => setImmediate(resolve));

it('sends one statement at a time, in order', async () => {
  const { channel, sent, answer } = lab();
  const all = Promise.all(['a', 'b', 'c'].map((sql) => channel.send(sql)));
  await turnOver();
  expect([sent, channel.busy]).toEqual([['a'], true]);
  await answer('open');
  expect(sent).toEqual(['a', 'b']);
  await answer('open');
  await answer('none');
  await all;
  expect([sent, channel.busy, channel.state]).toEqual([['a', 'b', 'c'], false, 'none']);
});

it.each<[Answer['transaction'], boolean, boolean]>([
  ['open', false, true],
  ['open', true, false],
  ['none', false, false],
  ['failed', false, false],
  ['lost', false, false],
])(
  'sends in between only inside a transaction (%s), and not if it was called off: %j',
  async (state, off, goes) => {
    const { channel, sent, answer } = lab();
    const running = channel.send('BEGIN');
    const between = channel.sendInside('SELECT 1', () => off);
    await turnOver();
    await answer(state);
    await running;
    expect(sent).toEqual(goes ? ['BEGIN', 'SELECT 1'] : ['BEGIN']);
    if (goes) await answer('open');
    expect((await between) !== undefined).toBe(goes);
    expect(channel.state).toBe(state);
  },
);

it('looks whether it was called off only when its turn has come', async () => {
  const { channel, sent, answer } = lab();
  let off = false;
  const running = channel.send('BEGIN');
  const between = channel.sendInside('SELECT 1', () => off);
  off = true;
  await turnOver();
  await answer('open');
  await Promise.all([running, between]);
  expect(sent).toEqual(['BEGIN']);
});

it.each<[Answer['transaction'], boolean]>([
  ['open', true],
  ['failed', true],
  ['none', false],
  ['lost', false],
])('ends a transaction that is %s: %j', async (state, ends) => {
  const { channel, sent, answer } = lab();
  const running = channel.send('BEGIN');
  await turnOver();
  await answer(state);
  await running;
  const ended = channel.rollback();
  await turnOver();
  if (ends) await answer('none');
  await ended;
  expect(sent).toEqual(ends ? ['BEGIN', 'ROLLBACK'] : ['BEGIN']);
});
