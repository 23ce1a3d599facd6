import { describe, expect, it } from 'vitest';
import { anomalies } from './anomaly.js';
import {
  everyAnomaly,
  itemLocks,
  noDirtyData,
  snapshotForPlainReads,
  snapshotIsolation,
  statementSnapshots,
} from './anomaly-sets.js';
import { levels } from './level.js';
import { contracts } from './table.js';

const within = (weaker: readonly string[], stronger: readonly string[]) =>
  weaker.filter((anomaly) => !stronger.includes(anomaly));

describe('the sets of anomalies', () => {
  it('grow from level to level', () => {
    const chain = [noDirtyData, statementSnapshots, snapshotForPlainReads, snapshotIsolation, everyAnomaly];
    for (let i = 1; i < chain.length; i++) {
      expect(within(chain[i - 1]!, chain[i]!)).toEqual([]);
      expect(chain[i]!.length).toBeGreaterThan(chain[i - 1]!.length);
    }
    expect(within(itemLocks, everyAnomaly)).toEqual([]);
  });

  it('keep the boundaries apart: write skew only beyond snapshots, phantoms only beyond item locks', () => {
    expect(snapshotIsolation).not.toContain('write-skew');
    expect(itemLocks).toContain('write-skew');
    expect(itemLocks).not.toContain('PMP');
    expect(snapshotForPlainReads).not.toContain('lost-update');
    expect(snapshotIsolation).toContain('lost-update');
    expect(everyAnomaly).toEqual(anomalies.map(({ id }) => id));
  });

  it('a stronger level of one vendor forbids all that a weaker one does', () => {
    for (const weaker of contracts)
      for (const stronger of contracts) {
        const comparable =
          weaker.kind === 'vendor' &&
          weaker.owner === stronger.owner &&
          JSON.stringify(weaker.settings) === JSON.stringify(stronger.settings) &&
          weaker.extends === undefined &&
          stronger.extends === undefined &&
          weaker.level !== undefined &&
          stronger.level === 'serializable' &&
          levels.indexOf(weaker.level) < levels.indexOf(stronger.level);
        if (comparable)
          expect([weaker.id, stronger.id, within(weaker.forbids, stronger.forbids)]).toEqual([
            weaker.id,
            stronger.id,
            [],
          ]);
      }
  });
});
