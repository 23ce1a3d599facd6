/**
 * Whether a finding is known, decided by running the cases of known bugs on the database it was found in: the live bugs of DuckDB and
 * MariaDB under other names, values and orders than their reports have; and what is in no report.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, serialOrder } from '../src/cases/index.js';
import { contractAt, Database, usualChoice } from '../src/judge/index.js';
import {
  type Build,
  candidateCount,
  isKnown,
  type KnownPlace,
  openKnown,
  type Repository,
} from '../src/known/index.js';
import { openTarget } from '../src/targets/index.js';
import { mariadbAvailable } from '../src/targets/mariadb/index.js';
import { enginesRequired, isolde } from './isolde.js';
import { mortal } from './mortal-target.js';

const repository = await openKnown();
const folder = mkdtempSync(join(tmpdir(), 'isolde-known-answers-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The answer about the first finding of a script's run; `builds`: others to compare on. */
async function ask(
  script: string,
  { target, observe }: KnownPlace,
  among: Repository = repository,
  builds: readonly Build[] = [],
) {
  const { case: program, schedule = serialOrder(program) } = parseScript(script, {
    file: 'asked.sql',
    dialect: target.dialect,
  });
  const level = program.level ?? target.defaultLevel;
  const contract = contractAt(usualChoice, target, level);
  const observed = await observe({ case: program, schedule, level, oracle: 'mechanism', contract });
  if (observed.kind !== 'ran' || observed.findings.length === 0)
    throw new Error(`nothing was found: ${observed.kind}`);
  const behaviour = { case: program, schedule, finding: observed.findings[0]!, history: observed.history };
  return isKnown(
    { target: target.stamp, level, behaviour },
    among,
    { target, observe },
    { builds: async () => builds },
  );
}

const names = ({ reports }: { readonly reports: readonly { readonly name: string }[] }) =>
  reports.map(({ name }) => name);
const without = (...ids: string[]): Repository => ({
  bugs: repository.bugs.filter(({ id }) => !ids.includes(id)),
  problems: [],
  weights: repository.weights,
});

const deletedThenUpdated = `
  CREATE TABLE account (owner INT, money INT);
  INSERT INTO account VALUES (7, 70), (8, 80), (9, 90);
  reader: BEGIN;
  reader: SELECT money FROM account WHERE owner = 8;
  remover: BEGIN;
  remover: DELETE FROM account WHERE owner = 8;
  remover: COMMIT;
  reader: UPDATE account SET money = 0 WHERE owner = 8;
  reader: COMMIT;`;

describe('DuckDB', () => {
  let database: Database;
  let place: KnownPlace;
  beforeAll(async () => {
    database = await Database.open({ open: () => openTarget('duckdb:') });
    place = { target: database.target, observe: (request) => database.observe(request, 0) };
  });
  afterAll(() => database.close());

  it('knows a bug again that shows with its sessions one after another, too', async () => {
    const { case: program, schedule = serialOrder(program) } = parseScript(deletedThenUpdated, {
      file: 'asked.sql',
      dialect: 'duckdb',
    });
    const level = place.target.defaultLevel;
    const contract = contractAt(usualChoice, place.target, level);
    const observed = await place.observe({ case: program, schedule, level, oracle: 'mechanism', contract });
    if (observed.kind !== 'ran') throw new Error(observed.kind);
    const { findings, history } = observed;
    const behaviour = {
      case: program,
      schedule,
      finding: findings[0]!,
      history,
      notIsolation: true,
    } as const;
    const known = repository.bugs.find(({ id }) => id === 'duckdb-17223')!;
    const case_ = { ...known.case!, case: program, schedule };
    const among: Repository = { ...without(), bugs: [{ ...known, case: case_ }] };
    const asked = { target: place.target.stamp, level, behaviour };
    expect((await isKnown(asked, among, place)).candidates[0]!.match).toBe('same-form');
  });

  it('knows #17223, and says why', async () => {
    const answer = await ask(deletedThenUpdated, place);
    expect(answer.verdict).toBe('duplicate');
    expect(names(answer)).toEqual(['DuckDB #17223']);
    expect(answer.reports[0]).toMatchObject({ url: 'https://github.com/duckdb/duckdb/issues/17223' });
    expect(answer.why).toMatch(/its case shows the same .* here/);
    const others = answer.candidates.filter(({ match }) => match === 'different').map(({ id }) => id);
    expect(others).toContain('isolde-duckdb-other-columns');
  });

  it.each([
    ['RETURNING', 'money = 0', 'WHERE owner = 8 RETURNING owner'],
    ['to NULL', 'money = NULL', 'WHERE owner = 8'],
  ])('names #17223 with its link for the form %s, which is filed nowhere itself', async (_, set, rest) => {
    const form = deletedThenUpdated.replace('SET money = 0 WHERE owner = 8', `SET ${set} ${rest}`);
    const { verdict, reports, why } = await ask(form, place);
    expect(verdict).toBe('duplicate');
    expect(reports.map(({ name, url }) => [name, url])).toEqual([
      ['DuckDB #17223', 'https://github.com/duckdb/duckdb/issues/17223'],
      [expect.stringContaining('(not filed)'), undefined],
    ]);
    expect(why).toMatch(
      /^it has the root cause of “DuckDB, .* \(not filed\)”: its case shows the same (behaviour|cause) here/,
    );
  });

  it('compares with the nearest 16, and with others only by running their cases', async () => {
    const { case: _, ...entry } = repository.bugs.find(({ id }) => id === 'duckdb-17223')!;
    const told = Array.from({ length: 30 }, (__, i) => ({ ...entry, id: `a-${i}` }));
    const among = { ...without(), bugs: [...told, ...repository.bugs] };
    const { candidates } = await ask(deletedThenUpdated, place, among);
    // A crash is only compared with crashes.
    const withCase = repository.bugs.filter(
      (bug) => bug.engine === 'duckdb' && bug.case !== undefined && bug.symptom !== 'crash',
    );
    expect(candidateCount).toBe(16);
    expect(candidates.filter(({ run }) => run === undefined)).toHaveLength(candidateCount);
    expect(candidates.filter(({ run }) => run !== undefined)).toHaveLength(withCase.length);
  });

  it('calls it not known when the reports of its root cause are taken away', async () => {
    const family = repository.bugs.filter(({ bug }) => bug === 'duckdb-update-of-deleted-row');
    expect(family.map(({ id }) => id)).toContain('duckdb-17223');
    const answer = await ask(deletedThenUpdated, place, without(...family.map(({ id }) => id)));
    expect(answer).toMatchObject({ verdict: 'unique', reports: [] });
  });

  it('goes on when the case of a candidate cannot be run', async () => {
    const broken = {
      ...without(),
      bugs: repository.bugs.map((bug) =>
        bug.id === 'isolde-duckdb-to-null'
          ? { ...bug, case: { ...bug.case!, case: { ...bug.case!.case, setup: ['CREATE TABLE oops ('] } } }
          : bug,
      ),
    };
    const answer = await ask(deletedThenUpdated, place, broken);
    expect(answer.verdict).toBe('duplicate');
    expect(answer.candidates.find(({ id }) => id === 'isolde-duckdb-to-null')).toMatchObject({
      match: 'not-run',
      why: expect.stringContaining('its set-up fails'),
    });
  });

  it('goes on when the case of a candidate kills the server', async () => {
    let deaths = 0;
    const fragile = await Database.open({ open: () => mortal(/^DROP TABLE doomed/i, () => deaths++) });
    try {
      const where: KnownPlace = { target: fragile.target, observe: (request) => fragile.observe(request, 0) };
      const killing = parseScript('CREATE TABLE doomed (a INT);\nT1: DROP TABLE doomed', {
        file: 'killer.sql',
      });
      const known = repository.bugs.find(({ id }) => id === 'isolde-duckdb-to-null')!;
      const killer = {
        ...known,
        id: 'killer',
        case: { ...known.case!, case: killing.case, schedule: serialOrder(killing.case) },
      };
      const answer = await ask(deletedThenUpdated, where, {
        ...without(),
        bugs: [killer, ...repository.bugs],
      });
      expect(deaths).toBeGreaterThan(0);
      expect(answer.candidates.find(({ id }) => id === 'killer')).toMatchObject({
        match: 'not-run',
        why: expect.stringMatching(/its case makes the server go away: the server is gone/),
      });
      expect(answer.verdict).toBe('duplicate');
      expect(names(answer)[0]).toBe('DuckDB #17223');
    } finally {
      await fragile.close();
    }
  });

  it('takes no injected fault for somebody’s report', async () => {
    const target = { ...place.target, stamp: { ...place.target.stamp, settings: { fault: 'lost-update' } } };
    const answer = await ask(deletedThenUpdated, { ...place, target });
    expect(answer).toMatchObject({ verdict: 'unique', why: expect.stringContaining('injected fault') });
  });

  it('answers on the command line: a case, a pasted report, a text without sessions', async () => {
    const file = join(folder, 'asked.sql');
    writeFileSync(file, deletedThenUpdated);
    const args = ['--known', join(folder, 'known')];
    const known = await isolde(['dedupe', file, '-t', 'duckdb:', '--explain', ...args]);
    expect(known.code).toBe(1);
    expect(known.out).toContain('duplicate of DuckDB #17223 <https://github.com/duckdb/duckdb/issues/17223>');
    expect(known.out).toMatch(/features, by weight\n {2}0\.\d+ {2}\w/);
    const text = join(folder, 'issue.json');
    writeFileSync(text, JSON.stringify({ title: 'odd', body: 'update t set a = 1\nIt is odd.' }));
    const vague = await isolde(['dedupe', text, '--engine', 'sqlite', '--json', ...args]);
    expect([0, 2]).toContain(vague.code);
    expect(JSON.parse(vague.out).candidates.length).toBeGreaterThan(0);
    expect((await isolde(['dedupe', 'no-such-bug', '--store', folder, ...args])).code).toBe(3);
  });

  it('hunts put the answer into reports, and --only-new passes over what is known', async () => {
    const args = ['duckdb:', '--rounds', '0..0', '--known', join(folder, 'known'), '--json'];
    const store = join(folder, 'store');
    const hunted = await isolde(['hunt', ...args, '--store', store, '--only-new']);
    const { bugs } = JSON.parse(hunted.out) as { bugs: { id: string; known: { verdict: string } }[] };
    expect(bugs.map(({ known }) => known.verdict)).toEqual(['duplicate']);
    expect(hunted.code).toBe(0);
    const report = readFileSync(join(store, 'bugs', bugs[0]!.id, 'report.md'), 'utf8');
    expect(report).toContain('Known as DuckDB \\#17223 <https://github.com/duckdb/duckdb/issues/17223>');
    const again = await isolde(['hunt', ...args, '--store', join(folder, 'other')]);
    expect(again.code).toBe(1);
    const asked = await isolde(['dedupe', bugs[0]!.id, '--store', store, '--known', join(folder, 'known')]);
    expect(asked.out).toContain('duplicate of DuckDB #17223');
    const added = await isolde([
      'known',
      'add',
      bugs[0]!.id,
      '--store',
      store,
      '--known',
      join(folder, 'mine'),
    ]);
    expect(added.code).toBe(0);
    const mine = await isolde([
      'known',
      'run',
      bugs[0]!.id,
      '-t',
      'duckdb:',
      '--known',
      join(folder, 'mine'),
    ]);
    expect(mine.code).toBe(1);
  });

  it('--only-new tells a bug that is not known, once', async () => {
    const store = join(folder, 'not-known');
    const args = ['duckdb:?fault=lost-update', '--rounds', '0..0', '--store', store, '--only-new', '--json'];
    const codes: number[] = [];
    for (const isNew of [true, false]) {
      const { code, out } = await isolde(['hunt', ...args]);
      codes.push(code);
      expect(JSON.parse(out)).toMatchObject({ bugs: [{ isNew, known: { verdict: 'unique' } }] });
    }
    expect(codes).toEqual([1, 0]);
    const [id] = readdirSync(join(store, 'bugs')).filter((name) => name.startsWith('duckdb-'));
    expect(readFileSync(join(store, 'bugs', id!, 'report.md'), 'utf8')).toContain('Not known');
  });
});

const missing = mariadbAvailable();
const skip = missing !== undefined && !enginesRequired;

describe.skipIf(skip)(`MariaDB at REPEATABLE READ${skip ? ` (${missing})` : ''}`, () => {
  let database: Database;
  let place: KnownPlace;
  beforeAll(async () => {
    database = await Database.open({ open: () => openTarget('mariadb:') });
    place = { target: database.target, observe: (request) => database.observe(request, 0) };
  });
  afterAll(() => database.close());

  const tables =
    'CREATE TABLE stock (item INT PRIMARY KEY, left_over INT);\nINSERT INTO stock VALUES (4, 40), (5, 50);\n';
  const asks = [
    {
      bug: 'the no-op update',
      script: `${tables}A: BEGIN;\nA: SELECT * FROM stock;\nB: UPDATE stock SET left_over = 3;\nA: UPDATE stock SET left_over = 3;\nA: SELECT * FROM stock;\nA: COMMIT;`,
      reports: ['MDEV-26642', 'MySQL #100328'],
    },
    {
      bug: 'stale rows after a delete',
      script: `${tables}A: BEGIN;\nA: SELECT * FROM stock;\nB: DELETE FROM stock;\nA: DELETE FROM stock;\nA: SELECT * FROM stock;\nA: COMMIT;`,
      reports: ['MySQL #105670', 'MySQL #107887'],
    },
    {
      bug: 'the predicate mismatch',
      script: `${tables}CREATE TABLE bound (b INT);\nINSERT INTO bound VALUES (45);\nA: BEGIN;\nA: SELECT * FROM stock WHERE left_over < (SELECT MIN(b) FROM bound);\nB: INSERT INTO bound VALUES (1);\nA: UPDATE stock SET left_over = 0 WHERE left_over < (SELECT MIN(b) FROM bound);\nA: COMMIT;`,
      reports: ['MySQL #108528'],
    },
    {
      bug: 'a row under two keys',
      script: `${tables}A: BEGIN;\nA: SELECT * FROM stock;\nB: UPDATE stock SET item = 9 WHERE item = 5;\nA: UPDATE stock SET left_over = 0;\nA: SELECT * FROM stock;\nA: COMMIT;`,
      reports: ['MySQL #113228'],
    },
  ];
  it.each(asks)('knows $bug', async ({ script, reports }) => {
    const answer = await ask(script, place);
    expect(answer.verdict).toBe('duplicate');
    expect(names(answer)).toEqual(expect.arrayContaining(reports));
    expect(reports).toContain(names(answer)[0]);
    expect(answer.reports[0]!.url).toMatch(
      /^https:\/\/(jira\.mariadb\.org\/browse\/MDEV-|bugs\.mysql\.com\/)/,
    );
  });

  it('takes no two of them for one because one setting mends them all', async () => {
    const on = await Database.open({ open: () => openTarget('mariadb:?innodb_snapshot_isolation=ON') });
    try {
      const observe: Build['observe'] = (request) => on.observe(request, 0);
      const build = { name: 'mariadb, innodb_snapshot_isolation=ON', target: on.target, observe };
      for (const { script, reports } of asks) {
        const [alone, beside] = [await ask(script, place), await ask(script, place, repository, [build])];
        expect(beside.verdict).toBe('duplicate');
        expect(reports).toContain(names(beside)[0]);
        expect(names(beside)).toEqual(names(alone));
        expect(beside.candidates.map(({ match }) => match)).not.toContain('same-builds');
        expect(beside.why).toContain('are gone together on mariadb, innodb_snapshot_isolation=ON');
      }
    } finally {
      await on.close();
    }
  }, 60_000);

  it('does not mix up the no-op update with a row under two keys', async () => {
    expect(names(await ask(asks[0]!.script, place))).not.toContain('MySQL #113228');
    expect(names(await ask(asks[3]!.script, place))).not.toContain('MDEV-26642');
  });
});
