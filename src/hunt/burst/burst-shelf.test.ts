import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import type { BurstFinding } from './burst.js';
import { parseBurst, printBurst } from './burst-file.js';
import { burstNames, keepBurst, listBursts, reportBurst } from './burst-shelf.js';

const store = mkdtempSync(join(tmpdir(), 'isolde-bursts-'));
afterAll(() => rmSync(store, { recursive: true, force: true }));

const silent = { runs: 3, broken: 0, unknown: 0, outcomes: [{ text: 'as it must be', count: 3 }] };
const shown = { runs: 4, broken: 1, unknown: 0, outcomes: [{ text: '2 | not counted', count: 1 }] };
const found: BurstFinding = {
  ...{ program: 'pairs', form: 'statements', fact: 'a fact', level: 'serializable', verdict: 'confirmed' },
  target: { name: 'postgres', version: '18.4' },
  ...{ contract: 'postgres:serializable', clause: 'forbids write-skew' },
  size: { sessions: 8, repeats: 200 },
  ...{ rate: shown, serial: silent, reduced: { sessions: 4, repeats: 100, rate: shown } },
};
const at = '2026-01-31T12:00:00.000Z';
const keep = (finding: BurstFinding) => keepBurst(store, finding, { at, dialect: 'postgres' });

it('keeps a broken burst with its rates, and counts it when it is found again, in whatever form', async () => {
  const { id, isNew, folder } = await keep(found);
  expect([id, isNew]).toEqual([burstNames(found).id, true]);
  const report = readFileSync(join(folder, 'report.md'), 'utf8');
  expect(report).toMatch(/8 sessions × 200 \| 1 of 4 \| 1 × 2 \\\| not counted/);
  expect(report).toMatch(/one session, one after another \| 0 of 3 \| 3 × as it must be/);
  expect(report).toContain('UPDATE p1 SET v = (SELECT MAX(v) AS m FROM p1) + 1');
  expect(await keep({ ...found, form: 'block' })).toMatchObject({ id, isNew: false });
  const { kept, problems } = await listBursts(store);
  expect(problems).toEqual([]);
  expect(kept.map(({ file }) => file)).toEqual([{ ...found, count: 2, firstSeen: at, lastSeen: at }]);
});

it('is another one on another engine, by another fault or clause, and where one session is enough', () => {
  const others: BurstFinding[] = [
    { ...found, target: { name: 'mariadb', version: '1' } },
    { ...found, target: { ...found.target, settings: { fault: 'lost-update' } } },
    { ...found, clause: 'forbids G2' },
    { ...found, verdict: 'not isolation' },
  ];
  const ids = [found, ...others].map((each) => burstNames(each).id);
  expect(new Set(ids).size).toBe(ids.length);
});

it('trusts no file: programs and contracts must be known here, and sizes such as somebody would run', () => {
  const file = { ...found, count: 1, firstSeen: at, lastSeen: at };
  const parse = (changes: object) => () => parseBurst(printBurst({ ...file, ...changes }), 'burst.json');
  expect(parse({})()).toEqual(file);
  const reduced = { ...file.reduced, without: ['reads', 'begin'] };
  const more = { reduced, control: { by: 'postgres 17.6', ...silent } };
  expect(parse(more)()).toEqual({ ...file, ...more });
  const uncompared = { uncompared: 'could not be asked: it is gone' };
  expect(parse(uncompared)()).toEqual({ ...file, ...uncompared });
  expect(reportBurst('b', { ...file, ...uncompared }, 'postgres')).toContain(
    'no comparison with another database: could not be asked: it is gone.',
  );
  expect(parse({ reduced: { ...reduced, without: ['$(rm)'] } })).toThrow(/names of parts/);
  expect(parse({ program: 'rm -rf' })).toThrow(/program/);
  expect(parse({ form: 'shell' })).toThrow(/form/);
  expect(parse({ contract: 'nobody:nothing' })).toThrow(/contract/);
  expect(parse({ size: { sessions: 1_000_000, repeats: 1 } })).toThrow(/1 to 256/);
});

it.each(['statements', 'block', 'text'] as const)(
  'shows something of every kind of statement that a reduction has left (%s)',
  (form) => {
    const kinds = {
      add: 'UPDATE led',
      delete: 'DELETE FROM',
      absent: 'WHERE NOT EXISTS',
      merge: 'MERGE INTO',
    };
    const parts = ['begin', 'add', 'lock', 'upsert', 'merge', 'insert', 'delete', 'ensure', 'absent'];
    const shows = (left: readonly string[]) => {
      const without = parts.filter((part) => !left.includes(part));
      const reduced = { sessions: 4, repeats: 64, without, rate: shown };
      const file = { ...found, program: 'drawn', form, reduced, count: 1, firstSeen: at, lastSeen: at };
      const report = reportBurst('b', file, 'postgres');
      return Object.entries(kinds).flatMap(([kind, sql]) => (report.includes(sql) ? [kind] : []));
    };
    for (const kind of Object.keys(kinds)) expect(shows([kind])).toEqual([kind]);
    expect(shows(Object.keys(kinds))).toEqual(Object.keys(kinds));
    expect(shows(['delete', 'merge'])).toEqual(['delete', 'merge']);
  },
);

it('writes a folder anew that cannot be read', async () => {
  const { folder } = await keep(found);
  writeFileSync(join(folder, 'burst.json'), '{');
  expect((await listBursts(store)).problems).toHaveLength(1);
  expect((await keep(found)).isNew).toBe(true);
  expect((await listBursts(store)).problems).toEqual([]);
});
