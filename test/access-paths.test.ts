/** Generated conditions really go through every kind of index: PostgreSQL's own plans say so. */
import { expect, it } from 'vitest';
import { findCapabilities, generate } from '../src/generate/index.js';
import { openTarget } from '../src/targets/index.js';
import { postgresAvailable } from '../src/targets/postgres/index.js';
import { enginesRequired } from './isolde.js';

/** What an index is, by the words of its CREATE INDEX. */
const kinds: readonly (readonly [string, RegExp])[] = [
  ['hash', /USING hash/i],
  ['brin', /USING brin/i],
  ['gin', /USING gin/i],
  ['gist', /USING gist/i],
  ['partial', /\) WHERE/i],
  ['expression', /v \+ 0/],
  ['covering', /\(v, k, rid\)/],
  ['secondary', /\(v\)$/],
];

const wanted: readonly string[] = [
  ...['secondary', 'partial', 'expression', 'hash', 'gist'].flatMap((kind) => [
    `${kind}: Bitmap`,
    `${kind}: Index Scan`,
  ]),
  ...['brin: Bitmap', 'gin: Bitmap', 'covering: Bitmap'],
  ...['covering: Index Only Scan', 'partial: Index Only Scan', 'secondary: Index Only Scan'],
];

it.skipIf(postgresAvailable() !== undefined && !enginesRequired)(
  'conditions of scenarios go through every kind of index, in every way that it can be read',
  { timeout: 60_000 },
  async () => {
    const target = await openTarget('postgres:');
    const scratch = await target.createScratch();
    const used = new Set<string>();
    for (let seed = 0; seed < 500 && !wanted.every((each) => used.has(each)); seed++) {
      const profile = seed % 2 === 0 ? 'races' : 'waits';
      const { setup, sessions } = generate(String(seed), {
        capabilities: findCapabilities('postgres')!,
        profile,
      }).case;
      const index = setup.find((sql) => sql.startsWith('CREATE INDEX'));
      if (index === undefined) continue;
      const kind = kinds.find(([, words]) => words.test(index))![0];
      await scratch.reset(setup);
      const level = target.defaultLevel;
      const session = await scratch.openSession({ level, statementTimeoutMs: 5000, lockTimeoutMs: 5000 });
      for (const sql of sessions.flatMap(({ statements }) => statements)) {
        if (sql.startsWith('SET ')) await session.execute(sql);
        if (!/^SELECT .* WHERE .*\bv\b/.test(sql)) continue;
        const { rows } = await session.execute(`EXPLAIN ${sql}`);
        const way = /(Index Only Scan|Index Scan) using i |(Bitmap) Index Scan on i /.exec(
          JSON.stringify(rows),
        );
        if (way !== null) used.add(`${kind}: ${way[1] ?? way[2]}`);
      }
      await session.close();
    }
    await target.close();
    expect(wanted.filter((each) => !used.has(each))).toEqual([]);
  },
);
