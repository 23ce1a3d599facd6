import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cell, CellResult } from './cell.js';
import { readJournal, writeJournal } from './journal.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'isolde-journal-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});
const file = () => join(folder, 'runs', 'matrix.jsonl');

const result: CellResult = {
  ...{ outcome: 'shows', why: 'a "lost" update\nof row 1', shown: 2, runs: 3 },
  target: { name: 'duckdb', version: '1.1.3', url: 'duckdb@1.1.3:', settings: { mode: 'x' } },
  behaviours: ['lost-update'],
};
const cell = (more: Partial<CellResult> = {}, version: string | undefined = '1.1.3'): Cell => ({
  subject: 'a',
  place: { url: 'duckdb:', engine: 'duckdb', settings: '', ...(version !== '' && { version }) },
  result: { ...result, ...more },
});

async function read(): Promise<{ found: Map<string, CellResult>; problems: string[] }> {
  const problems: string[] = [];
  return { found: await readJournal(file(), (why) => problems.push(why)), problems };
}

describe('the journal of a matrix', () => {
  it('gives back what was written, but for the time it took', async () => {
    await writeJournal(file(), 'k1', cell({ seconds: 4 }));
    await writeJournal(file(), 'k2', cell({ outcome: 'undecided', shown: 0 }));
    const { found, problems } = await read();
    expect(problems).toEqual([]);
    expect(found).toEqual(
      new Map([
        ['k1', result],
        ['k2', { ...result, outcome: 'undecided', shown: 0 }],
      ]),
    );
  });

  it('holds the last result of a cell', async () => {
    await writeJournal(file(), 'k', cell({ shown: 1 }));
    await writeJournal(file(), 'k', cell({ shown: 3 }));
    expect((await read()).found.get('k')?.shown).toBe(3);
  });

  it('is empty where there is none', async () => {
    expect((await read()).found.size).toBe(0);
  });

  it('keeps nothing that another version may answer tomorrow, and nothing that was not opened', async () => {
    await writeJournal(file(), 'installed', cell({}, ''));
    const { target: _, ...unopened } = result;
    await writeJournal(file(), 'unopened', { ...cell(), result: unopened });
    expect((await read()).found.size).toBe(0);
  });

  it.each([
    ['is no JSON', '{"key": "k", "outcome'],
    [
      'has an outcome nobody knows',
      '{"key":"k","outcome":"maybe","why":"","shown":0,"runs":1,"target":{"name":"a","version":"1"}}',
    ],
    [
      'counts below nothing',
      '{"key":"k","outcome":"shows","why":"","shown":-1,"runs":1,"target":{"name":"a","version":"1"}}',
    ],
    ['has no target', '{"key":"k","outcome":"shows","why":"","shown":1,"runs":1}'],
    [
      'has a member of something else',
      '{"key":"k","outcome":"shows","why":"","shown":1,"runs":1,"target":{"name":"a","version":"1"},"run":"x"}',
    ],
    ['is a list', '[]'],
  ])('leaves a line out that %s, says where, and reads on', async (_, line) => {
    await writeJournal(file(), 'before', cell());
    appendFileSync(file(), `${line}\n`);
    await writeJournal(file(), 'after', cell());
    const { found, problems } = await read();
    expect([...found.keys()]).toEqual(['before', 'after']);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('matrix.jsonl:2');
  });

  it('loses a line that was cut off, and not the next that is written', async () => {
    await writeJournal(file(), 'whole', cell());
    const text = readFileSync(file(), 'utf8');
    writeFileSync(file(), text + text.slice(0, 30));
    await writeJournal(file(), 'next', cell());
    const { found, problems } = await read();
    expect([...found.keys()]).toEqual(['whole', 'next']);
    expect(problems).toHaveLength(1);
  });

  it('says so where it cannot be written', async () => {
    writeFileSync(join(folder, 'runs'), '');
    await expect(writeJournal(file(), 'k', cell())).rejects.toMatchObject({ code: 'file-system' });
  });
});
