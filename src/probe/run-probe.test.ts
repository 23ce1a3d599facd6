import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { IsoldeError } from '../errors.js';
import type { Scratch, Target } from '../targets/index.js';
import { findProbeCases } from './cases/index.js';
import { probeJson } from './probe-json.js';
import { renderExplain } from './render-explain.js';
import { renderMarkdown } from './render-markdown.js';
import { renderMatrix } from './render-matrix.js';
import { type ProbeOptions, type ProbeReport, probeOutcome, runProbe } from './run-probe.js';
import { type Answers, answered } from './scripted-answers.case.js';

/** A database made of scripted answers: PostgreSQL's contracts, and whatever the stories say. */
function scriptedTarget(log: string[] = []): Target {
  const scratch: Scratch = {
    namespace: 'isolde_scripted',
    reset: async () => undefined,
    openSession: () => Promise.reject(new Error('scripted histories need no session')),
    waiting: async () => new Set(),
    drop: async () => {
      log.push('dropped');
    },
  };
  return {
    name: 'postgres',
    dialect: 'postgres',
    stamp: { name: 'postgres', version: '18.4', url: 'postgres:', settings: { fsync: 'off' } },
    levels: [
      { level: 'read committed', contract: 'postgres:read-committed', begin: 'BEGIN' },
      { level: 'repeatable read', contract: 'postgres:repeatable-read', begin: 'BEGIN' },
    ],
    defaultLevel: 'read committed',
    features: {
      conflicts: 'wait',
      counts: 'matched',
      lockingReads: true,
      savepoints: true,
      errorDoomsTransaction: true,
      transactionalDdl: true,
      cancel: true,
    },
    createScratch: async () => scratch,
    close: async () => undefined,
  };
}

const initial = {
  rows: [
    [1, 10],
    [2, 20],
  ],
} as const;
const skewed = {
  'T1 1': initial,
  'T2 1': initial,
  'after 0': {
    rows: [
      [1, 11],
      [2, 21],
    ],
  },
} as const;
const lost = {
  'T1 1': { rows: [[1, 10]] },
  'T2 1': { rows: [[1, 10]] },
  'after 0': { rows: [[1, 12]] },
} as const;
const refused = {
  'T2 1': {
    error: { class: 'serialization', message: 'could not serialize | <access>\nHINT: retry' },
    blocked: true,
  },
  'T2 2': 'not sent',
  'T2 3': 'not sent',
  'after 0': {
    rows: [
      [1, 11],
      [2, 21],
    ],
  },
} as const;

const stories: Readonly<Record<string, Answers>> = {
  'read committed G0': {
    'T2 1': { blocked: true },
    'after 0': {
      rows: [
        [1, 12],
        [2, 22],
      ],
    },
  },
  'repeatable read G0': refused,
  'read committed lost-update': lost,
  'repeatable read lost-update': lost,
  'read committed write-skew': skewed,
  'repeatable read write-skew': { 'T2 1': { error: { class: 'syntax', message: 'no IN here' } } },
};

const cases = ['G0', 'lost-update', 'write-skew'].map(
  (id) => findProbeCases(id).find((probe) => probe.id === id)!,
);

const execute: NonNullable<ProbeOptions['execute']> = async (_, scheduled, { level }) => {
  const probe = cases.find(({ id }) => id === scheduled.case.name)!;
  return answered(probe, stories[`${level} ${probe.id}`]);
};

const probeAnswered = (options: ProbeOptions = {}): Promise<ProbeReport> =>
  runProbe(scriptedTarget(), { cases, execute, ...options });

describe('runProbe', () => {
  it('judges every case at every level and compares it with the vendor’s contract', async () => {
    const report = await probeAnswered();
    const verdicts = report.levels.map(({ level, contract, results }) => [
      level,
      contract,
      ...results.map((result) => [result.case, result.verdict, result.forbidden, result.violation]),
    ]);
    expect(verdicts).toEqual([
      [
        'read committed',
        'postgres:read-committed',
        ['G0', 'blocked', true, false],
        ['lost-update', 'allowed', false, false],
        ['write-skew', 'allowed', false, false],
      ],
      [
        'repeatable read',
        'postgres:repeatable-read',
        ['G0', 'blocked', true, false],
        ['lost-update', 'allowed', true, true],
        ['write-skew', 'unknown', false, false],
      ],
    ]);
  });

  it('runs only the levels and anomalies asked for, and says how far it is', async () => {
    const progress: string[] = [];
    const report = await probeAnswered({
      levels: ['repeatable read'],
      anomalies: ['G0', 'write-skew'],
      onProgress: ({ level, case: id, done, total }) => progress.push(`${done}/${total} ${id} ${level}`),
    });
    expect(report.levels.map(({ level }) => level)).toEqual(['repeatable read']);
    expect(progress).toEqual(['0/2 G0 repeatable read', '1/2 write-skew repeatable read']);
  });

  it('refuses a level the target does not have, naming those it has', async () => {
    await expect(probeAnswered({ levels: ['snapshot'] })).rejects.toThrow(
      'postgres has no level "snapshot"; it has read committed, repeatable read',
    );
  });

  it('drops its scratch, also when the executor fails', async () => {
    const log: string[] = [];
    const broken = () => Promise.reject(new Error('disk full'));
    await expect(runProbe(scriptedTarget(log), { cases, execute: broken })).rejects.toThrow('disk full');
    expect(log).toEqual(['dropped']);
  });

  it('keeps what it has when it is stopped, and says that it was', async () => {
    const controller = new AbortController();
    const report = await probeAnswered({
      signal: controller.signal,
      onProgress: ({ done }) => {
        if (done === 2) controller.abort();
      },
    });
    expect(report.stopped).toBe(true);
    expect(report.levels.flatMap(({ results }) => results)).toHaveLength(2);
    expect(probeOutcome(report)).toBe('unknown');
    expect(renderMatrix(report)).toContain('Stopped early');
  });
});

describe('a database that is lost on the way', () => {
  const dieAt = (n: number): typeof execute => {
    let count = 0;
    return async (scratch, scheduled, options) => {
      if (count++ === n) throw new IsoldeError('target', 'the server is gone');
      return execute(scratch, scheduled, options);
    };
  };

  it('ends the report early with what was judged', async () => {
    const report = await probeAnswered({ execute: dieAt(2) });
    expect(report).toMatchObject({ stopped: true, failure: 'the server is gone' });
    expect(report.levels.map(({ results }) => results.length)).toEqual([2, 0]);
    expect(probeOutcome(report)).toBe('unknown');
    expect(renderMatrix(report)).toContain('not every case was run (the server is gone).');
  });

  it('is an error when nothing was judged before', async () => {
    await expect(probeAnswered({ execute: dieAt(0) })).rejects.toThrow('the server is gone');
  });
});

describe('probeOutcome', () => {
  it('puts a violation before an unknown, and an unknown before nothing', async () => {
    expect(probeOutcome(await probeAnswered())).toBe('violation');
    expect(probeOutcome(await probeAnswered({ anomalies: ['G0', 'write-skew'] }))).toBe('unknown');
    expect(probeOutcome(await probeAnswered({ anomalies: ['G0'] }))).toBe('kept');
  });
});

describe('renderings', () => {
  it('draw the matrix with its violations, unknowns and legend', async () => {
    expect(renderMatrix(await probeAnswered())).toMatchSnapshot();
  });

  it('colour the matrix only when asked to', async () => {
    const report = await probeAnswered();
    const controlChar = String.fromCharCode(27);
    expect(renderMatrix(report)).not.toContain(controlChar);
    const coloured = renderMatrix(report, { colors: pc.createColors(true) });
    expect(coloured).toContain(`${controlChar}[7m`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(renderMatrix(report));
  });

  it('let no control character of a database through', async () => {
    const nasty = { class: 'other', message: '\u001b[2J\u0007gone' } as const;
    const report = await probeAnswered({
      execute: async () => answered(cases[0]!, { 'T2 1': { error: nasty } }),
    });
    for (const text of [renderMatrix(report), renderExplain(report)]) {
      expect(text).toContain('\\x1b[2J\\x07gone');
      expect(text).not.toContain('\u0007');
    }
  });

  it('write Markdown in which a database’s message cannot break the table', async () => {
    const markdown = renderMarkdown(await probeAnswered());
    expect(markdown).toMatchSnapshot();
    expect(markdown).not.toContain('<access>');
  });

  it('write Markdown in which no image, link, mention or tag of a database is alive', async () => {
    const nasty =
      '![i](https://evil.example/x.png) <img src=x> [l](http://evil.example) www.evil.example @all a@b.example `|`';
    const error = { class: 'other', message: nasty } as const;
    const report = await probeAnswered({
      execute: async () => answered(cases[0]!, { 'T2 1': { error } }),
    });
    const target = { name: 'duckdb', version: nasty, url: `duckdb:${nasty}`, settings: { [nasty]: nasty } };
    const markdown = renderMarkdown({ ...report, target });
    const outsideCode = markdown
      .replaceAll(/(`+)(?!`).*?(?<!`)\1(?!`)/g, '')
      .replaceAll(/\\[^\w\s]/g, '')
      .replaceAll('@<!-- -->', '');
    expect(outsideCode).toContain('evil.example');
    expect(outsideCode).not.toMatch(/[[\]<>!`@]|:\/\/|www\./);
  });

  it('explain a case with its interleaving and its argument', async () => {
    expect(
      renderExplain(await probeAnswered({ anomalies: ['G0', 'lost-update'] }), { width: 100 }),
    ).toMatchSnapshot();
  });

  it('give the whole report as JSON', async () => {
    const report = await probeAnswered();
    expect(JSON.parse(probeJson(report))).toEqual({
      format: 'isolde-probe/1',
      outcome: 'violation',
      ...JSON.parse(JSON.stringify(report)),
    });
  });

  it('say when a target names a contract Isolde does not know', async () => {
    const target = scriptedTarget();
    const unknown = { ...target, levels: [{ ...target.levels[0]!, contract: 'mydb:rc' }] };
    const report = await runProbe(unknown, { cases, execute });
    expect(report.levels[0]!.contractKnown).toBe(false);
    expect(renderMatrix(report)).toMatch(
      /no contract is known for .* \(mydb:rc\); nothing counts as forbidden/,
    );
  });
});
