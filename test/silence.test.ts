/** No false alarm, at a small count; `npm run check:silence` listens for longer. */
import { describe, expect, it } from 'vitest';
import { listenForAlarms, silentTargets } from '../src/bench/silence.js';
import { explain } from '../src/check/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { sqliteAvailable } from '../src/targets/sqlite/index.js';
import { tursoAvailable } from '../src/targets/turso/index.js';
import { enginesRequired } from './isolde.js';

const missing: Readonly<Record<string, string | undefined>> = {
  'postgres:': postgresAvailable(),
  'mariadb:': mariadbAvailable(),
  'sqlite:': sqliteAvailable(),
  'sqlite:?journal=delete': sqliteAvailable(),
  'turso:': tursoAvailable(),
  'turso:?mode=mvcc': tursoAvailable(),
};
// Fixed, so that a red run is the change's doing; ISOLDE_SEED tries another.
const seed = process.env.ISOLDE_SEED ?? '2026';

// MyRocks has alarms that nobody has explained yet (docs/stages/hunt-releases.md): a longer run listens to it, this one does not.
for (const { url, levels } of silentTargets.filter((each) => !each.url.includes('rocksdb'))) {
  const reason = missing[url];
  describe.skipIf(reason !== undefined && !enginesRequired)(
    `${url} under its own contract${reason ? ` (${reason})` : ''}`,
    () => {
      it.each(levels)(`raises no alarm at %s (seed ${seed})`, async (level) => {
        const listen = async () => {
          const { alarms, ...counts } = await listenForAlarms({ url, level, transactions: 400, seed });
          const texts = alarms.map(
            ({ finding, replay }) => `${finding.kind}: ${explain(finding)}\n${replay}`,
          );
          return { ...counts, texts };
        };
        const first = await listen();
        // Rounds that run freely depend on timing. An alarm is always printed; like a finding, it counts if it comes back.
        if (first.texts.length > 0) console.error(`alarm on ${url} at ${level}:\n${first.texts.join('\n')}`);
        const { texts, transactions, readsJudged } = first.texts.length > 0 ? await listen() : first;
        expect(texts).toEqual([]);
        expect(transactions).toBeGreaterThanOrEqual(400);
        expect(readsJudged).toBeGreaterThan(10);
      });
    },
  );
}
