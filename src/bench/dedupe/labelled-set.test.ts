import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { scheduleProblem } from '../../cases/index.js';
import { labelledCauses } from './causes.js';
import { itemId, readSet } from './labelled-set.js';

const folder = mkdtempSync(join(tmpdir(), 'isolde-labelled-set-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a file of the labelled set', () => {
  const miss = (seed: number) =>
    `${JSON.stringify({ cause: labelledCauses[0]!.id, seed, missed: 'nothing' })}\n`;

  it.each([
    ['set.jsonl', (text: string) => text],
    ['set.jsonl.gz', (text: string) => gzipSync(text)],
  ])('%s is read as it grew, without a line that was cut off', async (name, packed) => {
    const file = join(folder, name);
    writeFileSync(file, packed(miss(1)));
    appendFileSync(file, packed(miss(2)));
    appendFileSync(file, packed(miss(3).slice(0, 20)));
    const { items, misses } = await readSet(file, labelledCauses);
    expect([items.length, misses.map(({ seed }) => seed)]).toEqual([0, [1, 2]]);
  });

  it('that is not there is empty', async () => {
    expect(await readSet(join(folder, 'none.jsonl'), labelledCauses)).toEqual({ items: [], misses: [] });
  });
});

describe('the set of the published figures', async () => {
  const { items } = await readSet('src/bench/dedupe/labelled-set.jsonl.gz', labelledCauses);

  it('has more than 150 bugs of more than 25 causes, on two engines, each seed once', () => {
    const causes = new Set(items.map(({ cause }) => cause));
    expect(items.length).toBeGreaterThan(150);
    for (const engine of ['duckdb/', 'postgres/'])
      expect([...causes].filter((cause) => cause.startsWith(engine)).length).toBeGreaterThan(20);
    expect(new Set(items.map(itemId)).size).toBe(items.length);
  });

  it('has the fault that was injected for its label, and cases that can be run', () => {
    for (const { cause, target, level, case: program, schedule } of items) {
      const labelled = labelledCauses.find(({ id }) => id === cause)!;
      expect([cause, target.settings?.fault, level]).toEqual([cause, labelled.fault, labelled.level]);
      expect(scheduleProblem(program, schedule)).toBeUndefined();
    }
  });
});
