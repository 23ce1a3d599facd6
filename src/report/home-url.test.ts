import { expect, it } from 'vitest';
import { foundUrl, homeUrl } from './home-url.js';

const settings = { innodb_snapshot_isolation: 'OFF' };

it.each([
  ['mariadb@11.8:', 'mariadb@11.8:?innodb_snapshot_isolation=OFF'],
  ['mariadb:', 'mariadb:?innodb_snapshot_isolation=OFF'],
  ['mariadb://ci@host/', 'mariadb:?innodb_snapshot_isolation=OFF'],
  // A stranger's: no program of his choice, and no other engine.
  ['mariadb@11.8:?binary=/tmp/evil', 'mariadb@11.8:?innodb_snapshot_isolation=OFF'],
  ['mariadb@/tmp/evil:', 'mariadb:?innodb_snapshot_isolation=OFF'],
  ['exec@1.2:touch', 'mariadb:?innodb_snapshot_isolation=OFF'],
])('a bug found at %s is reproduced at %s', (url, found) => {
  const target = { name: 'mariadb', version: '11.8.3-MariaDB', url, settings };
  expect(foundUrl({ target })).toBe(found);
  // A rerun asks whether it is still there in the version at hand.
  expect(homeUrl({ target })).toBe('mariadb:?innodb_snapshot_isolation=OFF');
});

it('keeps version, mode and fault', () => {
  const target = {
    name: 'turso',
    version: '0.4.4',
    url: 'turso@0.4.4:?mode=mvcc',
    settings: { journal_mode: 'mvcc', fault: 'lost-update(nth=2)' },
  };
  expect(foundUrl({ target })).toBe('turso@0.4.4:?mode=mvcc&fault=lost-update(nth%3D2)');
});
