import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import { countIn, findRoute, maybeTextIn, NotFound, type Routes, textIn, textsIn } from './routes.js';

const routes: Routes = {
  'GET bugs': () => 'list',
  'GET bugs/:id': () => 'bug',
  'GET bugs/ignored': () => 'never reached: an id may be any word',
  'POST shrink/:id/try': () => 'try',
  'POST shrink/:id/:what': () => 'anything else',
};

describe('the route of a request', () => {
  it.each([
    ['GET', 'bugs', 'list', {}],
    ['GET', 'bugs/7', 'bug', { id: '7' }],
    ['GET', 'bugs/', 'bug', { id: '' }],
    ['GET', 'bugs/ignored', 'bug', { id: 'ignored' }],
    ['POST', 'shrink/7/try', 'try', { id: '7' }],
    ['POST', 'shrink/7/undo', 'anything else', { id: '7', what: 'undo' }],
    ['GET', 'bugs/%2e%2e%2f%2e%2e', 'bug', { id: '../..' }],
    ['GET', 'bugs/a%252Fb', 'bug', { id: 'a%2Fb' }],
    ['GET', 'bugs/%00', 'bug', { id: '\0' }],
    ['GET', 'bugs/__proto__', 'bug', { id: '__proto__' }],
    ['GET', 'b%75gs', 'list', {}],
  ])('%s %s is the first that fits: %s', async (method, path, answer, params) => {
    const found = findRoute(routes, method, path);
    expect(found?.params).toEqual(params);
    expect(await found?.answer({ params: {}, query: new URLSearchParams(), body: undefined })).toBe(answer);
  });

  it.each([
    ['POST', 'bugs'],
    ['get', 'bugs'],
    ['GET', ''],
    ['GET', '/bugs'],
    ['GET', 'bugs/7/8'],
    ['GET', 'Bugs'],
    ['GET', 'bugs%2F7'],
    ['DELETE', 'bugs/7'],
    ['GET', 'constructor'],
    ['GET', 'toString'],
  ])('%s %j has none', (method, path) => {
    expect(findRoute(routes, method, path)).toBeUndefined();
  });

  it('a name of a part that is no name of an object’s member does no harm', () => {
    const hostile: Routes = { 'GET :__proto__/:constructor': () => 1 };
    const { params } = findRoute(hostile, 'GET', 'a/b')!;
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
    expect(Object.hasOwn(params, 'constructor')).toBe(true);
  });
});

describe('members of a body', () => {
  const bodies: readonly unknown[] = [undefined, null, 7, 'text', [], true];

  it.each(bodies.map((body) => ({ body })))('$body has none', ({ body }) => {
    for (const read of [textIn, countIn, textsIn]) {
      expect(() => read(body, 'name')).toThrow(IsoldeError);
      expect(() => read(body, 'toString')).toThrow('"toString" must be');
    }
    expect(maybeTextIn(body, 'name')).toBeUndefined();
  });

  it('what an object inherits is not a member', () => {
    const body: unknown = Object.create({ name: 'inherited' });
    expect(() => textIn(body, 'name')).toThrow('"name" must be a text');
    expect(maybeTextIn(body, 'name')).toBeUndefined();
    expect(textIn(JSON.parse('{"__proto__": "own"}'), '__proto__')).toBe('own');
  });

  it.each([7, null, [], {}, true])('a text is not %j, though it may be left out', (value) => {
    expect(() => textIn({ name: value }, 'name')).toThrow('"name" must be a text');
    expect(() => maybeTextIn({ name: value }, 'name')).toThrow('"name" must be a text');
  });

  it('an empty text is one', () => {
    expect(textIn({ name: '' }, 'name')).toBe('');
  });

  it.each([0, 1, Number.MAX_SAFE_INTEGER])('%s is a count', (value) => {
    expect(countIn({ n: value }, 'n')).toBe(value);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53, '1', null, [1], Number.POSITIVE_INFINITY])('%j is none', (value) => {
    expect(() => countIn({ n: value }, 'n')).toThrow('"n" must be a whole number from 0 on');
  });

  it('a list of texts may be empty', () => {
    expect(textsIn({ list: [] }, 'list')).toEqual([]);
    expect(textsIn({ list: ['a', ''] }, 'list')).toEqual(['a', '']);
  });

  it.each([[['a', 1]], [{ 0: 'a', length: 1 }], [null], ['a']])('%j is none', (value) => {
    expect(() => textsIn({ list: value }, 'list')).toThrow('"list" must be a list of texts');
  });

  it('what is not there is told from what is wrong', () => {
    expect(new NotFound('no bug')).toBeInstanceOf(IsoldeError);
    expect(new NotFound('no bug').code).toBe('usage');
  });
});
