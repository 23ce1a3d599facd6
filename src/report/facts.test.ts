import { describe, expect, it } from 'vitest';
import type { Bug, VersionTried } from './bug.js';
import { affectedOf, versionsOf } from './facts.js';

type Outcome = VersionTried['outcome'];

function tried(version: string, outcome: Outcome, settings: Record<string, string> = {}): VersionTried {
  const target = { name: 'duckdb', version, settings };
  return { target, outcome, shown: outcome === 'alive' ? 3 : 0, runs: 3, at: '2026-01-31T12:00:00.000Z' };
}

/** What these facts look at. */
function bugOf(settings: Record<string, string>, ...versions: readonly VersionTried[]): Bug {
  const { target, at } = tried('1.5.5', 'alive', settings);
  return { target, reproduced: { shown: 3, runs: 3 }, firstSeen: at, versions } as unknown as Bug;
}

describe('the versions that a bug affects', () => {
  it('are those of one engine wherever it runs: in this process or in one of its own', () => {
    const own = { threads: '1', process: 'own' };
    const bug = bugOf({ threads: '1' }, tried('1.3.2', 'fixed', own), tried('1.4.4', 'alive', own));
    expect(affectedOf(bug)).toEqual([
      expect.stringMatching(/^DuckDB, threads=1: first bad 1\.4\.4 after 1\.3\.2, still in 1\.5\.5$/),
    ]);
  });

  it('are told for each setting that changes what an engine does', () => {
    const four = { threads: '4' };
    const bug = bugOf({ threads: '1' }, tried('1.3.2', 'fixed', four), tried('1.4.4', 'alive', four));
    expect(affectedOf(bug)).toEqual([expect.stringMatching(/^DuckDB, threads=4: first bad 1\.4\.4/)]);
  });

  it('of several tries on one version, wherever it ran, the last counts', () => {
    const bug = bugOf({}, tried('1.4.4', 'alive', { process: 'own' }), tried('1.4.4', 'fixed'));
    expect(versionsOf(bug).map(({ outcome }) => outcome)).toEqual(['alive', 'fixed']);
  });
});
