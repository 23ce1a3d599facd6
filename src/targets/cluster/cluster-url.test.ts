import { describe, expect, it } from 'vitest';
import { parseClusterUrl } from './cluster-url.js';

describe('parseClusterUrl', () => {
  it.each([
    ['cluster:postgres', 'standby', ['postgres:']],
    ['cluster:postgres:?work_mem=8MB', 'standby', ['postgres:?work_mem=8MB']],
    ['cluster:postgres@17.6', 'standby', ['postgres@17.6:']],
    ['Cluster:mariadb:', 'galera', ['mariadb:']],
    [
      'cluster:postgresql://u:p@h1/d?options=-c%20a=1,2,postgres://u:p@h2/d',
      'standby',
      ['postgresql://u:p@h1/d?options=-c%20a=1,2', 'postgres://u:p@h2/d'],
    ],
    [
      'cluster:mariadb://h1/,mariadb://h2/,mariadb://h3/',
      'galera',
      ['mariadb://h1/', 'mariadb://h2/', 'mariadb://h3/'],
    ],
  ])('%s', (url, kind, urls) => {
    expect(parseClusterUrl(url)).toMatchObject({ kind, urls });
  });

  it('shows no password', () => {
    const { shown } = parseClusterUrl('cluster:postgres://u:geheim@h1/d,postgres://u:heimlich@h2/d');
    expect(shown).toBe('cluster:postgres://u:***@h1/d,postgres://u:***@h2/d');
  });

  it.each([
    ['cluster:', /names no cluster/],
    ['cluster:duckdb', /names no cluster/],
    ['cluster:postgres://u:geheim@h/d', /names one server/],
    ['cluster:postgres://u:geheim@h/d,mariadb://h/', /names no cluster/],
    ['cluster:postgres:?a=1,postgres://u:geheim@h/d', /mixes private nodes and servers/],
  ])('refuses %s', (url, problem) => {
    expect(() => parseClusterUrl(url)).toThrow(problem);
    expect(() => parseClusterUrl(url)).not.toThrow(/geheim/);
  });
});
