/** Two faults that break one case alike are told apart by other builds and by experiments; two views of one fault come together. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseScript, serialOrder } from '../cases/index.js';
import { contractAt, Database, type Observed, usualChoice } from '../judge/index.js';
import { openTarget, parseFault, type Target, withFault } from '../targets/index.js';
import { type IsKnownOptions, isKnown } from './answer.js';
import type { AskedBug } from './candidate.js';
import { foundReport, repositoryOf } from './found-report.js';
import { type Build, seenOn } from './runnable.js';

let engine: Target;
const opened: Database[] = [];
beforeAll(async () => {
  engine = await openTarget('duckdb:');
});
afterAll(async () => {
  for (const database of opened) await database.close();
  await engine.close();
});

/** A release of an engine, with a fault that its stamp does not tell; the engine stays open when a release is closed. */
async function release(version: string, fault?: string): Promise<Build & Required<Pick<Build, 'stamp'>>> {
  const { dialect, levels, defaultLevel, features } = engine;
  const stamp = { name: engine.name, version };
  const shared: Target = {
    ...{ name: engine.name, dialect, stamp: engine.stamp, levels, defaultLevel, features },
    createScratch: () => engine.createScratch(),
    close: async () => undefined,
  };
  const open = async () => (fault === undefined ? shared : withFault(shared, parseFault(fault)));
  const database = await Database.open({ open });
  opened.push(database);
  const observe: Build['observe'] = (request) => database.observe(request, 0);
  return { name: version, stamp, target: database.target, observe };
}

/** What a script shows in a release. */
async function found(
  script: string,
  { target, observe, stamp }: Awaited<ReturnType<typeof release>>,
): Promise<AskedBug> {
  const { case: program, schedule = serialOrder(program) } = parseScript(script, {
    file: 'x.sql',
    dialect: 'duckdb',
  });
  const level = target.defaultLevel;
  const contract = contractAt(usualChoice, target, level);
  const observed = await observe({ case: program, schedule, level, oracle: 'mechanism', contract });
  if (observed.kind !== 'ran' || observed.findings.length === 0) throw new Error('nothing was found');
  const { findings, history } = observed;
  return { target: stamp, level, behaviour: { case: program, schedule, finding: findings[0]!, history } };
}

interface Question {
  /** The fault of 4.0, where the bug was found, and of 2.0, where the report was filed. */
  readonly faults: readonly [string, string];
  /** The bug’s case, and the report’s. */
  readonly scripts: readonly [string, string];
  /** Releases that can be run besides; all others have no fault. */
  readonly releases: readonly string[];
}

async function ask({ faults, scripts, releases }: Question, options: IsKnownOptions = {}) {
  const [here, there] = [await release('4.0', faults[0]), await release('2.0', faults[1])];
  const bug = await found(scripts[0], here);
  const report = foundReport(await found(scripts[1], there), { id: 'filed' });
  const builds: Build[] = [];
  for (const version of releases) builds.push(version === '2.0' ? there : await release(version));
  return isKnown(bug, repositoryOf([report]), here, { builds: async () => builds, ...options });
}

const deleted =
  'CREATE TABLE t (a INT);\nINSERT INTO t VALUES (0);\nT1: DELETE FROM t;\nT1: SELECT * FROM t;';

describe('a case that two faults break alike', () => {
  const scripts = [deleted, deleted] as const;

  it('is no duplicate: one change of it is answered otherwise where the report was filed', async () => {
    const faults = ['visible-committed-delete', 'resurrected-row'] as const;
    const answer = await ask({ faults, scripts, releases: ['2.0', '3.0'] });
    expect(answer.verdict).toBe('unique');
    expect(answer.candidates[0]).toMatchObject({
      ...{ match: 'different', ruledOut: true },
      why: expect.stringMatching(
        /^a change of this bug \(every row updated when all is over\) and of the report’s case .* is answered otherwise on 2\.0, where it was filed$/,
      ),
    });
  });

  it('is a duplicate where both releases have the one fault, and says on what it rests', async () => {
    const faults = ['resurrected-row', 'resurrected-row'] as const;
    const answer = await ask({ faults, scripts, releases: ['2.0', '3.0'] });
    expect(answer.verdict).toBe('duplicate');
    expect(answer.why).toContain(
      'they show together on the bug’s own build, 2.0 and are gone together on 3.0',
    );
  });
});

describe('a report of which the bug’s own build breaks the case for another reason', () => {
  it('is judged by who finds it wrong where it was filed', async () => {
    const twice = 'CREATE TABLE t (k INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (0, 0);\n';
    const [here, there] = [await release('4.0', 'lost-update'), await release('2.0')];
    // Nothing that the engine answers tells this report's bug: only one oracle would, where it was filed.
    const script = `${twice}T1: BEGIN;\nT1: UPDATE t SET v = 1;\nT2: UPDATE t SET v = 1;\nT1: COMMIT;`;
    const bug = await found(script, here);
    const filed: Build = {
      ...there,
      observe: async (request) => {
        const observed = await there.observe(request);
        const isIt = request.oracle === 'dependency-graph' && observed.kind === 'ran' && isReport(request);
        return isIt
          ? ({ ...(await here.observe(request)), findings: [bug.behaviour.finding] } as Observed)
          : observed;
      },
    };
    const isReport = ({ case: { sessions } }: { case: { sessions: readonly { name: string }[] } }) =>
      sessions[0]?.name === 'A';
    const report = foundReport(await found(script.replaceAll('T1:', 'A:'), here), {
      ...{ id: 'filed', affected: ['2.0'] },
    });
    const builds = async () => [filed, await release('3.0')];
    const answer = await isKnown(bug, repositoryOf([report]), here, { builds });
    expect(answer.candidates[0]).toMatchObject({ match: 'different', ruledOut: true });
    expect(answer.verdict).toBe('unique');
  });
});

describe('two views of one fault', () => {
  const own = 'CREATE TABLE t (a INT);\nT1: BEGIN;\nT1: INSERT INTO t VALUES (0);\nT1: SELECT * FROM t;';
  const later = 'CREATE TABLE t (a INT);\nT1: INSERT INTO t VALUES (0);\nT2: UPDATE t SET a = 1;';
  const faults = ['lost-insert', 'lost-insert'] as const;

  it('are one bug by the releases they come and go with, though their signatures differ', async () => {
    const answer = await ask({ faults, scripts: [own, later], releases: ['2.0', '3.0'] });
    expect(answer).toMatchObject({ verdict: 'duplicate', candidates: [{ match: 'same-builds' }] });
  });

  it('are not one bug by a single release without them', async () => {
    const answer = await ask({ faults, scripts: [own, later], releases: ['3.0'] });
    expect(answer.candidates[0]!.match).not.toBe('same-builds');
  });

  it('are one bug whichever oracle sees the one and the other', async () => {
    const twice =
      'CREATE TABLE t (k INT PRIMARY KEY);\nINSERT INTO t VALUES (0);\nT1: BEGIN;\nT1: INSERT INTO t VALUES (0);\nT1: COMMIT;';
    const here = await release('4.0', faults[0]);
    expect((await found(twice, here)).behaviour.finding.oracle).toBe('constraints');
    for (const scripts of [[twice, later] as const, [later, twice] as const]) {
      const answer = await ask({ faults, scripts, releases: ['2.0', '3.0'] });
      expect(answer).toMatchObject({ verdict: 'duplicate', candidates: [{ match: 'same-builds' }] });
    }
  });

  it('come before a report that only behaves alike, where no build could be run that it names', async () => {
    const [here, there] = [await release('4.0', faults[0]), await release('2.0', faults[1])];
    const alike = foundReport(await found(own, here), { id: 'alike', affected: ['1.0'] });
    const confirmed = foundReport(await found(later, there), { id: 'confirmed' });
    const builds = async ({ id }: { readonly id: string }) =>
      id === 'alike' ? [] : [there, await release('3.0')];
    const answer = await isKnown(await found(own, here), repositoryOf([alike, confirmed]), here, { builds });
    expect(answer.candidates.map(({ id, match }) => [id, match])).toEqual([
      ['confirmed', 'same-builds'],
      ['alike', 'same-form'],
    ]);
  });

  const missed = `${own.replace('SELECT * FROM t', 'COMMIT')}\nT2: SELECT * FROM t;`;

  it('are left open by that for whoever lets known bugs go', async () => {
    const question = { faults, scripts: [own, missed], releases: [] } as const;
    const answer = await ask(question, { withReads: 'undecided' });
    expect(answer).toMatchObject({
      ...{ verdict: 'undecided', candidates: [{ match: 'same-with-reads' }] },
      reports: [{ id: 'filed', why: expect.stringContaining('with reads added, shows here what') }],
    });
    const certain = await ask({ ...question, scripts: [own, own] }, { withReads: 'undecided' });
    expect(certain.verdict).toBe('duplicate');
  });

  it('are one bug if the one shows what the other shows, with reads added', async () => {
    const answer = await ask({ faults, scripts: [own, missed], releases: [] });
    expect(answer).toMatchObject({
      verdict: 'duplicate',
      candidates: [
        { match: 'same-with-reads', why: expect.stringContaining('with reads added, shows here what') },
      ],
    });
  });
});

describe('a change of a case', () => {
  it('is answered otherwise where a statement waits on the one build only, in two runs', async () => {
    const { case: program, schedule = serialOrder(program) } = parseScript(
      'CREATE TABLE t (a INT);\nT1: BEGIN;\nT1: UPDATE t SET a = 0;\nT2: DELETE FROM t;',
      { file: 'x.sql' },
    );
    const bug = await found(deleted, await release('4.0', 'resurrected-row'));
    const { finding } = bug.behaviour;
    /** Whether T2 waits is all that this build does otherwise; `once`: in the first run of a request only. */
    const build = (waits: (sql: string) => boolean, once = false): Build => ({
      ...{ name: 'x', target: engine },
      observe: async ({ case: { sessions } }, again) => {
        const blocked = waits(sessions[0]!.statements.join()) && !(once && again !== undefined);
        const operation = { index: 0, session: 1, kind: 'delete', outcome: 'ok', statement: [1, 0], blocked };
        const history = { header: { sessions: ['T1', 'T2'] }, operations: [operation] };
        return { kind: 'ran', findings: blocked ? [] : [finding], history } as unknown as Observed;
      },
    });
    const never = build(() => false);
    const runnable = {
      request: { case: program, schedule, oracle: 'mechanism' },
      shows: (observed: Observed) => observed.kind === 'ran' && observed.findings.length > 0,
    };
    const otherValue = (sql: string) => sql.includes('77');
    expect(await seenOn(runnable, never, never)).toEqual({ shows: true });
    expect(await seenOn(runnable, build(otherValue), never)).toEqual({
      ...{ shows: true, otherwise: 'T1.2 with another value' },
    });
    expect(await seenOn(runnable, build(otherValue, true), never)).toEqual({ shows: true });
  });
});
