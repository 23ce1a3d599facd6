import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BugStore } from '../store/index.js';
import { type News, NewsHub, watchStore } from './events.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A store that holds what `bugs` says and counts how often it is looked at. */
function fakeStore() {
  const state = {
    bugs: [] as { id: string; count: number }[],
    looks: 0,
    broken: false,
    ignored: [] as object[],
  };
  const store = {
    list: async () => {
      state.looks++;
      if (state.broken) throw new Error('the disk is gone');
      return { bugs: structuredClone(state.bugs), problems: [] };
    },
    ignored: async () => state.ignored,
  };
  return { state, store: store as unknown as BugStore };
}

function listening(hub: NewsHub): News[] {
  const heard: News[] = [];
  hub.listen((news) => heard.push(news));
  return heard;
}

const second = () => vi.advanceTimersByTimeAsync(1000);

describe('news', () => {
  it('reach everybody who listens, and nobody who has stopped', () => {
    const hub = new NewsHub();
    const heard = listening(hub);
    const others: News[] = [];
    const stop = hub.listen((news) => others.push(news));
    hub.tell({ kind: 'hunt', id: '1' });
    stop();
    stop();
    hub.tell({ kind: 'bugs' });
    expect(heard).toEqual([{ kind: 'hunt', id: '1' }, { kind: 'bugs' }]);
    expect(others).toEqual([{ kind: 'hunt', id: '1' }]);
  });

  it('are heard while somebody listens', () => {
    const hub = new NewsHub();
    expect(hub.isHeard).toBe(false);
    const stop = hub.listen(() => undefined);
    expect(hub.isHeard).toBe(true);
    stop();
    expect(hub.isHeard).toBe(false);
  });
});

describe('a watched store', () => {
  it('is not looked at while nobody listens', async () => {
    const { state, store } = fakeStore();
    const stop = watchStore(store, new NewsHub());
    await second();
    await second();
    expect(state.looks).toBe(0);
    stop();
  });

  it.each<[string, (state: ReturnType<typeof fakeStore>['state']) => void]>([
    ['a bug comes', ({ bugs }) => bugs.push({ id: 'b', count: 1 })],
    ['a bug is seen again', ({ bugs }) => bugs.splice(0, 1, { id: 'a', count: 2 })],
    ['a bug goes', ({ bugs }) => bugs.pop()],
    ['a bug is passed over', ({ ignored }) => ignored.push({ what: 'a' })],
  ])('tells once that %s', async (_, change) => {
    const { state, store } = fakeStore();
    state.bugs.push({ id: 'a', count: 1 });
    const hub = new NewsHub();
    const heard = listening(hub);
    const stop = watchStore(store, hub);
    await second();
    await second();
    expect(heard).toEqual([]);
    change(state);
    await second();
    await second();
    expect(heard).toEqual([{ kind: 'bugs' }]);
    stop();
  });

  it('tells nothing because it could not be read for a moment', async () => {
    const { state, store } = fakeStore();
    const hub = new NewsHub();
    const heard = listening(hub);
    const stop = watchStore(store, hub);
    await second();
    state.broken = true;
    await second();
    state.broken = false;
    await second();
    expect(state.looks).toBe(3);
    expect(heard).toEqual([]);
    stop();
  });

  it('is left alone after the end', async () => {
    const { state, store } = fakeStore();
    const hub = new NewsHub();
    listening(hub);
    const stop = watchStore(store, hub);
    await second();
    stop();
    await second();
    expect(state.looks).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
