/** Generated cases on the real engines: their statements run, and the rows the generator predicts are there. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCaseFile, parseScript, type ScheduledCase } from '../src/cases/index.js';
import { IsoldeError } from '../src/errors.js';
import { runFree, runScheduled, SessionPool } from '../src/execute/index.js';
import {
  type Capabilities,
  capabilitiesOf,
  type Generated,
  generate,
  generateFromTemplate,
  learnFromHistory,
  learnFromSetup,
  profiles,
} from '../src/generate/index.js';
import type { History, Operation } from '../src/histories/index.js';
import { probeCases } from '../src/probe/index.js';
import { openTarget, type Scratch, type Target } from '../src/targets/index.js';
import { isolde } from './isolde.js';

/** Opens a target, or says why it cannot be had here. */
async function open(url: string): Promise<Target | string> {
  try {
    return await openTarget(url);
  } catch (error) {
    const missing = error instanceof IsoldeError && error.code === 'engine-missing';
    if (!missing || process.env.ISOLDE_REQUIRE_ENGINES === '1') throw error;
    return error.message;
  }
}

interface Lab {
  readonly target: Target;
  readonly scratch: Scratch;
  readonly serial: (generated: Generated) => Promise<History>;
  readonly run: (scheduled: ScheduledCase) => Promise<History>;
}

async function withLab(url: string, skip: (reason: string) => void, work: (lab: Lab) => Promise<void>) {
  const target = await open(url);
  if (typeof target === 'string') return skip(target);
  try {
    const scratch = await target.createScratch();
    const sessions = new SessionPool(scratch, { statementTimeoutMs: 10_000, lockTimeoutMs: 1_000 });
    const options = { target, sessions };
    await work({
      target,
      scratch,
      serial: ({ case: program, serial, tables }) =>
        runScheduled(
          scratch,
          { case: program, schedule: serial },
          { ...options, observe: tables.map(({ name }) => `SELECT rid FROM ${name}`) },
        ),
      run: (scheduled) =>
        scheduled.schedule === undefined
          ? runFree(scratch, scheduled.case, options)
          : runScheduled(scratch, scheduled, options),
    });
    await sessions.close();
  } finally {
    await target.close();
  }
}

const own = (history: History) => history.operations.filter(({ statement }) => statement !== undefined);
const failed = (operations: readonly Operation[]) => operations.filter(({ outcome }) => outcome !== 'ok');

function explain(operations: readonly Operation[]): string {
  return failed(operations)
    .slice(0, 10)
    .map(({ sql, error }) => `${error?.class}: ${error?.message}\n  ${sql}`)
    .join('\n');
}

const engines = ['duckdb:', 'sqlite:', 'turso:', 'postgres:', 'mariadb:'];

describe.each(engines)('generated cases on %s', (url) => {
  it('run one after another, 95 statements of 100 without any error, in every profile', async ({ skip }) => {
    await withLab(url, skip, async ({ target, serial }) => {
      const capabilities = capabilitiesOf(target);
      for (const profile of profiles) {
        const operations: Operation[] = [];
        for (let seed = 0; seed < 5; seed++) {
          operations.push(...own(await serial(generate(`v${seed}`, { capabilities, profile }))));
        }
        // Scenarios of contended keys are made to meet keys that are there.
        const meant = (operation: Operation) =>
          profile.name === 'races' && operation.error?.class === 'duplicate-key';
        const mistakes = failed(operations).filter((operation) => !meant(operation));
        const share = 1 - mistakes.length / operations.length;
        expect(share, `${profile.name}:\n${explain(operations)}`).toBeGreaterThanOrEqual(0.95);
      }
    });
  });

  it('run concurrently, with no error that is not a conflict in 95 statements of 100', async ({ skip }) => {
    await withLab(url, skip, async ({ target, run }) => {
      const capabilities = capabilitiesOf(target);
      const operations: Operation[] = [];
      for (let seed = 0; seed < 6; seed++) {
        for (const interleaving of ['free', 'random', 'conflict'] as const) {
          const made = generate(`c${seed}`, { capabilities, profile: 'contention', interleaving });
          operations.push(...own(await run(made)));
        }
      }
      const mistakes = operations.filter(({ error }) =>
        ['syntax', 'unsupported', 'data', 'constraint', 'other'].includes(error?.class ?? ''),
      );
      expect(mistakes.length / operations.length, explain(mistakes)).toBeLessThan(0.05);
    });
  });

  it('mutate the cases of probe into cases that run', async ({ skip }) => {
    await withLab(url, skip, async ({ target, run }) => {
      const operations: Operation[] = [];
      for (const { case: program, schedule } of probeCases.filter((_, i) => i % 3 === 0)) {
        for (let seed = 0; seed < 2; seed++) {
          const template = { case: program, schedule };
          const made = generateFromTemplate(String(seed), template, {
            dialect: target.dialect,
            boldness: 0.8,
          });
          operations.push(...own(await run(made)));
        }
      }
      const mistakes = operations.filter(({ error }) =>
        ['syntax', 'unsupported', 'data', 'constraint', 'other'].includes(error?.class ?? ''),
      );
      expect(mistakes.length / operations.length, explain(mistakes)).toBeLessThan(0.02);
      expect(operations.length).toBeGreaterThan(60);
    });
  });
});

describe.each(['duckdb:', 'sqlite:', 'postgres:', 'mariadb:'])('the shadow state of %s', (url) => {
  it('knows which rows are there after a serial run', async ({ skip }) => {
    await withLab(url, skip, async ({ target, serial }) => {
      const capabilities = capabilitiesOf(target);
      let [sure, doubtful] = [0, 0];
      for (const profile of profiles) {
        for (let seed = 0; seed < 8; seed++) {
          const generated = generate(`b${seed}`, { capabilities, profile, transactions: 3 });
          const history = await serial(generated);
          const seen = history.operations.filter(
            ({ statement, sql }) => statement === undefined && sql !== 'ROLLBACK',
          );
          generated.tables.forEach(({ name }, t) => {
            const real = seen.at(t - generated.tables.length)!.rows!.map(([rid]) => Number(rid));
            const predicted = generated.predicted[name]!;
            const where = `${profile.name} b${seed} ${name}`;
            expect(
              predicted.live.filter((rid) => !real.includes(rid)),
              `${where}: predicted, not there`,
            ).toEqual([]);
            // The shadow does not evaluate window functions, so it does not know what such copies insert.
            if (profile.windowedCopies > 0) return;
            const known = [...predicted.live, ...predicted.doubtful];
            expect(
              real.filter((rid) => !known.includes(rid)),
              `${where}: there, not predicted`,
            ).toEqual([]);
            sure += predicted.live.length;
            doubtful += predicted.doubtful.length;
          });
        }
      }
      expect(sure).toBeGreaterThan(500);
      expect(doubtful / (sure + doubtful)).toBeLessThan(0.02);
    });
  });
});

describe('learning from errors', () => {
  it('teaches an engine nobody declared until its statements run', async ({ skip }) => {
    await withLab('turso:', skip, async ({ target, serial }) => {
      let capabilities: Capabilities = { ...capabilitiesOf(target), unsupported: [] };
      const shares: number[] = [];
      for (let round = 0; round < 60; round++) {
        const generated = generate(`l${round}`, { capabilities, transactions: 2 });
        try {
          const history = await serial(generated);
          const operations = own(history);
          shares.push(1 - failed(operations).length / operations.length);
          capabilities = learnFromHistory(capabilities, history);
        } catch (error) {
          expect(error).toBeInstanceOf(IsoldeError);
          shares.push(0);
          capabilities = learnFromSetup(capabilities, generated.case.setup, (error as IsoldeError).message);
        }
      }
      const late = shares.slice(-15);
      expect(capabilities.unsupported).toContain('lock.update');
      expect(capabilities.unsupported).toContain('column.generated');
      expect(capabilities.unsupported).toContain('statement.merge');
      expect(capabilities.unsupported).not.toContain('statement.select');
      expect(late.reduce((sum, share) => sum + share, 0) / late.length).toBeGreaterThan(0.95);
      expect(shares.slice(0, 10).some((share) => share < 0.95)).toBe(true);
    });
  });
});

describe('isolde generate', () => {
  it('prints the same script every time, and isolde run takes it', async () => {
    const first = await isolde([
      'generate',
      '--seed',
      '3',
      '--profile',
      'simple',
      '--interleaving',
      'random',
    ]);
    const again = await isolde([
      'generate',
      '--seed',
      '3',
      '--profile',
      'simple',
      '--interleaving',
      'random',
    ]);
    expect(first).toEqual(again);
    expect(first.code).toBe(0);
    const folder = await mkdtemp(join(tmpdir(), 'isolde-generate-'));
    try {
      const file = join(folder, 'made.sql');
      await writeFile(file, first.out);
      const ran = await isolde(['run', file]);
      expect(ran.code).toBe(0);
      expect(ran.out).toContain('simple-3 on duckdb');
      const json = join(folder, 'made.case.json');
      await isolde([
        'generate',
        '--seed',
        '3',
        '--profile',
        'simple',
        '--interleaving',
        'random',
        '-o',
        json,
      ]);
      const stored = parseCaseFile(await readFile(json, 'utf8'), json);
      expect(stored).toEqual(parseScript(first.out, { file: 'made.sql' }));
      const mutated = await isolde([
        'generate',
        '--template',
        json,
        '--target',
        'postgresql://host/db',
        '--seed',
        '2',
      ]);
      expect(mutated.out).toContain('-- dialect: postgres');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('takes sizes and a profile of one’s own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'isolde-generate-'));
    try {
      const file = join(folder, 'mine.json');
      await writeFile(
        file,
        '{ "format": "isolde-profile", "version": 1, "name": "mine", "extends": "simple", "tables": 1 }',
      );
      const sizes = ['--sessions', '3', '--transactions', '2', '--statements', '4', '--json'];
      const { out } = await isolde(['generate', '--profile', file, '--dialect', 'mariadb', ...sizes]);
      const { case: program } = parseCaseFile(out, 'out');
      expect(program.name).toBe('mine-1');
      expect(program.sessions).toHaveLength(3);
      expect(program.setup.filter((sql) => sql.startsWith('CREATE TABLE'))).toHaveLength(1);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it.each([
    [['--profile', 'wild'], 'there is no profile "wild"; there are mixed'],
    [['--profile', './nowhere.json'], 'cannot read ./nowhere.json'],
    [['--sessions', '0'], '--sessions takes a whole number from 1'],
    [['--dialect', 'oracle'], 'nothing is known about "oracle"'],
    [['--target', 'exec:./engine'], 'nothing is known about "exec:./engine"'],
    [['--target', 'duckdb:', '--dialect', 'duckdb'], 'give one of them'],
    [['--interleaving', 'chaos'], '--interleaving takes free, random or conflict'],
    [['--out', '/no/such/folder/x.sql'], 'cannot write /no/such/folder/x.sql'],
  ])('refuses %j', async (args, problem) => {
    const { code, err } = await isolde(['generate', ...args]);
    expect(code).toBe(3);
    expect(err).toContain(problem);
  });

  it.each(['h2', 'h2:', 'jdbc:h2:mem:x'])('knows the engine of %s by its name or not at all', async (url) => {
    const { code, err } = await isolde(['generate', '--target', url]);
    expect([code, err]).toEqual(
      url.startsWith('h2') ? [0, ''] : [3, expect.stringContaining('nothing is known about "jdbc:h2')],
    );
  });

  it('lists profiles and features', async () => {
    const { out } = await isolde(['generate', '--list']);
    for (const { name } of profiles) expect(out).toContain(name);
    expect(out).toContain('where.in-query');
  });
});
