/** Everything an adapter may get wrong is said by the field's name, and nothing else comes out of it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolError, readAnswer, readHello, readWaiting, shorten } from './protocol.js';

const hello = {
  name: 'toy',
  version: '1',
  dialect: 'sqlite',
  levels: [
    { level: 'read committed', contract: 'postgres:read-committed', begin: 'BEGIN' },
    { level: 'serializable', contract: 'postgres:serializable', begin: 'BEGIN ISOLATION LEVEL SERIALIZABLE' },
  ],
  defaultLevel: 'serializable',
  features: {
    ...{ conflicts: 'wait', counts: 'matched', lockingReads: true, savepoints: false },
    ...{ errorDoomsTransaction: false, transactionalDdl: true, cancel: false, maxSessions: 4 },
  },
};

/** The same with one field replaced, by its path. */
function replaced(path: string, value: unknown): unknown {
  const copy = structuredClone(hello) as Record<string, unknown>;
  const names = path.split('.');
  let at = copy as Record<string, unknown>;
  for (const name of names.slice(0, -1)) at = at[name] as Record<string, unknown>;
  if (value === undefined) delete at[names.at(-1)!];
  else at[names.at(-1)!] = value;
  return copy;
}

describe('hello', () => {
  it('is read with what may be left out', () => {
    expect(readHello(hello)).toEqual({ ...hello, reset: false, reopen: false, durable: false });
    const more = { ...hello, reset: true, reopen: true, durable: true, settings: { mode: 'x' } };
    expect(readHello({ ...more, unknown: 1 })).toEqual(more);
  });

  it.each([
    ['name', undefined, 'hello.name is missing; it must be a text'],
    ['version', 7, 'hello.version is 7; it must be a text'],
    [
      'dialect',
      'oracle',
      'hello.dialect is "oracle"; it must be one of "postgres", "mysql", "sqlite", "duckdb"',
    ],
    ['levels', {}, 'hello.levels is {}; it must be a list'],
    ['levels.0', null, 'hello.levels[0] is null; it must be an object'],
    ['levels.1.level', 'SERIALIZABLE', 'hello.levels[1].level is "SERIALIZABLE"; it must be one of'],
    ['levels.0.begin', undefined, 'hello.levels[0].begin is missing'],
    ['levels.0.contract', 1, 'hello.levels[0].contract is 1'],
    [
      'defaultLevel',
      'snapshot',
      'hello.defaultLevel is "snapshot"; it must be one of "read committed", "serializable"',
    ],
    ['features', undefined, 'hello.features is missing; it must be an object'],
    ['features.conflicts', 'none', 'hello.features.conflicts is "none"'],
    ['features.counts', undefined, 'hello.features.counts is missing'],
    ['features.cancel', 1, 'hello.features.cancel is 1; it must be true or false'],
    ['features.maxSessions', -1, 'hello.features.maxSessions is -1; it must be a whole number, 0 or more'],
    ['features.maxSessions', 1.5, 'hello.features.maxSessions is 1.5'],
    ['reset', 'yes', 'hello.reset is "yes"; it must be true or false'],
    ['settings', [], 'hello.settings is []; it must be an object'],
    ['settings', { a: 1 }, 'hello.settings.a is 1; it must be a text'],
  ])('with a wrong %s says so', (path, value, message) => {
    expect(() => readHello(replaced(path, value))).toThrow(ProtocolError);
    expect(() => readHello(replaced(path, value))).toThrow(message);
  });
});

describe('an answer', () => {
  it.each([
    [{ transaction: 'none' }],
    [{ transaction: 'open', columns: ['a'], rows: [[1], [null], ['x'], [true], [{ decimal: '1.50' }]] }],
    [{ transaction: 'none', matched: 0, changed: 0, ended: 'commit' }],
    [{ transaction: 'failed', error: { class: 'deadlock', message: 'x', code: '40P01' } }],
    [{ transaction: 'lost', error: { class: 'connection-lost', message: '' }, ended: 'unknown' }],
  ])('is read: %j', (answer) => {
    expect(readAnswer(answer)).toEqual(answer);
    // What is null is not there.
    expect(readAnswer({ error: null, rows: null, matched: null, ...answer })).toEqual(answer);
  });

  it.each([
    [{}, 'answer.transaction is missing'],
    [{ transaction: 'aborted' }, 'answer.transaction is "aborted"'],
    [{ transaction: 'none', rows: {} }, 'answer.rows is {}; it must be a list'],
    [{ transaction: 'none', rows: [{ a: 1 }] }, 'answer.rows[0] is {"a":1}; it must be a list'],
    [{ transaction: 'none', rows: [[1], [[]]] }, 'answer.rows[1][0] is []; it must be a value'],
    [{ transaction: 'none', rows: [[{ evil: 1 }]] }, 'answer.rows[0][0]'],
    [{ transaction: 'none', columns: [1] }, 'answer.columns[0] is 1'],
    [{ transaction: 'none', matched: '1' }, 'answer.matched is "1"'],
    [{ transaction: 'none', matched: 2 ** 60 }, 'answer.matched is'],
    [{ transaction: 'none', ended: 'maybe' }, 'answer.ended is "maybe"'],
    [{ transaction: 'none', error: 'x' }, 'answer.error is "x"; it must be an object'],
    [{ transaction: 'none', error: { class: 'x', message: '' } }, 'answer.error.class is "x"'],
    [{ transaction: 'none', error: { class: 'other' } }, 'answer.error.message is missing'],
    [null, 'answer is null'],
    [[], 'answer is []'],
  ])('that is wrong says where: %j', (answer, message) => {
    expect(() => readAnswer(answer)).toThrow(ProtocolError);
    expect(() => readAnswer(answer)).toThrow(message);
  });

  it('may be any JSON at all: it is read, or refused in one way', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (thing) => {
        for (const read of [readAnswer, readHello, readWaiting]) {
          try {
            read(thing);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
          }
        }
      }),
    );
  });
});

describe('what was said', () => {
  it('is shown on one line, with no control characters, and not at length', () => {
    expect(shorten('a\nb\u001b[31mc\u0000')).toBe('a·b·[31mc·');
    expect(shorten('ünï')).toBe('ünï');
    const long = shorten('x'.repeat(5000));
    expect(long.length).toBeLessThan(240);
    expect(long).toContain('(5000 characters)');
  });

  it('lists sessions that wait', () => {
    expect(readWaiting({ sessions: [0, 3] })).toEqual([0, 3]);
    expect(() => readWaiting({ sessions: ['0'] })).toThrow('waiting.sessions[0] is "0"');
    expect(() => readWaiting({})).toThrow('waiting.sessions is missing');
  });
});
