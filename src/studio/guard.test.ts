import { describe, expect, it } from 'vitest';
import { admitRequest, type Knock, newToken, securityHeaders } from './guard.js';

const door = { port: 7777, token: 'aToken_of-some_length' };
const knock = (more: Partial<Knock> = {}, headers: Knock['headers'] = {}): Knock => ({
  method: 'GET',
  url: `/${door.token}/api/bugs?x=1`,
  ...more,
  headers: { host: '127.0.0.1:7777', ...headers },
});

describe('a request to the studio', () => {
  it.each<[string, Partial<Knock>, Knock['headers']]>([
    ['of the browser itself', {}, {}],
    ['by the other name of this machine', {}, { host: 'localhost:7777' }],
    ['from the studio’s own page', {}, { origin: 'http://127.0.0.1:7777', 'sec-fetch-site': 'same-origin' }],
    ['typed into the address line', {}, { 'sec-fetch-site': 'none' }],
    [
      'that changes something and says where it comes from',
      { method: 'POST' },
      { origin: 'http://127.0.0.1:7777' },
    ],
    ['for the head only', { method: 'HEAD' }, {}],
  ])('is answered: %s', (_, more, headers) => {
    expect(admitRequest(knock(more, headers), door)).toEqual({ path: 'api/bugs' });
  });

  it.each<[string, Partial<Knock>, Knock['headers'], string]>([
    ['a name that points here', {}, { host: 'evil.example:7777' }, 'another Host'],
    ['no Host', {}, { host: undefined }, 'another Host'],
    ['another port', {}, { host: '127.0.0.1:80' }, 'another Host'],
    ['no port', {}, { host: '127.0.0.1' }, 'another Host'],
    ['a Host that begins so', {}, { host: '127.0.0.1:7777.evil.example' }, 'another Host'],
    ['several Hosts', {}, { host: ['127.0.0.1:7777', 'evil'] }, 'another Host'],
    ['another site', {}, { origin: 'http://evil.example' }, 'another Origin'],
    ['a sandboxed page', {}, { origin: 'null' }, 'another Origin'],
    ['the other name of this machine', {}, { origin: 'http://localhost:7777' }, 'another Origin'],
    ['another scheme', {}, { origin: 'https://127.0.0.1:7777' }, 'another Origin'],
    ['a page of another site without Origin', {}, { 'sec-fetch-site': 'cross-site' }, 'another site'],
    ['a page of a neighbour', {}, { 'sec-fetch-site': 'same-site' }, 'another site'],
    ['a change from nowhere', { method: 'POST' }, {}, 'no Origin'],
    ['a deletion from nowhere', { method: 'DELETE' }, {}, 'no Origin'],
    ['a method nobody knows', { method: 'BREW' }, {}, 'no Origin'],
    ['no token', { url: '/api/bugs' }, {}, 'no token'],
    ['a part of the token', { url: `/${door.token.slice(0, -1)}/api` }, {}, 'no token'],
    ['more than the token', { url: `/${door.token}x/api` }, {}, 'no token'],
    ['the token in the query', { url: `/?${door.token}/api` }, {}, 'no token'],
    ['an empty token', { url: '//api' }, {}, 'no token'],
    ['a whole URL', { url: `http://127.0.0.1:7777/${door.token}/api` }, {}, 'no token'],
    ['the token in another form', { url: `/${encodeURIComponent(`${door.token}é`)}/api` }, {}, 'no token'],
  ])('is refused: %s', (_, more, headers, refused) => {
    expect(admitRequest(knock(more, headers), door)).toEqual({ refused });
  });

  it('has a new token each time, which needs no escaping', () => {
    const tokens = new Set(Array.from({ length: 50 }, newToken));
    expect(tokens.size).toBe(50);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{32}$/);
  });

  it('is answered with headers that let nothing else in', () => {
    const policy = securityHeaders['content-security-policy']!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http:|data:/);
  });
});
