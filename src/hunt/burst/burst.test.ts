import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { vendorContractAt } from '../../judge/index.js';
import { openTarget, parseFault, type Target, withFault } from '../../targets/index.js';
import { postgresAvailable } from '../../targets/postgres/index.js';
import { fragile } from '../fragile-target.case.js';
import { type BurstOptions, runBursts } from './burst.js';
import { burstCase, burstsOf } from './burst-form.js';
import type { BurstProgram } from './burst-program.js';
import { burstPrograms } from './burst-programs.js';

const named = (name: string) => burstPrograms.find((program) => program.name === name)!;

const ledger = ['drawn', 'upserts', 'merges', 'deletes', 'ensured', 'locked'];

describe('a fact is asked only of contracts that demand it', () => {
  it.each([
    ['postgres:read-committed', ['increments', 'transfers', 'keys', ...ledger]],
    ['postgres:repeatable-read', ['increments', 'transfers', 'keys', ...ledger]],
    [
      'postgres:serializable',
      ['pairs', 'increments', 'numbers', 'transfers', 'skew', 'absent', 'keys', ...ledger],
    ],
    ['mariadb:read-uncommitted', ['keys']],
  ])('%s', (id, expected) => {
    const contract = findContract(id)!;
    const asked = burstPrograms.filter((program) => program.clause(contract) !== undefined);
    expect(asked.map(({ name }) => name)).toEqual(expect.arrayContaining(expected));
    if (id.startsWith('postgres')) expect(asked.map(({ name }) => name)).toEqual(expected);
  });
});

/** Transactions of one statement each, as `[outcome, ends]`. */
function updates(...ends: (readonly [Operation['outcome'], Operation['ends']])[]): History {
  const operations = ends.map(([outcome, end], index) => ({
    ...{ index, session: 0, transaction: index, kind: 'update', start: index, end: index, outcome },
    ...(end === undefined ? {} : { ends: end }),
  })) as Operation[];
  return { header: { sessions: ['T1'] }, operations };
}

describe('what may have happened is allowed', () => {
  const history = updates(['ok', 'commit'], ['ok', 'commit'], ['error', 'rollback'], ['unknown', 'unknown']);
  const judge = (v: number) => named('increments').judge({ history, final: [[[v]]] });

  it('between what was acknowledged and what was sent', () => {
    expect([1, 2, 3, 4].map((v) => judge(v).kind)).toEqual(['broken', 'kept', 'kept', 'broken']);
    expect(judge(1).text).toBe('1 lost');
    expect(named('increments').judge({ history, final: undefined }).kind).toBe('unknown');
  });

  it('a sum may be a decimal, and what is no number says nothing', () => {
    const read = (sum: unknown) => {
      const [one] = updates(['ok', 'commit']).operations;
      const operations = [{ ...one!, kind: 'select', rows: [[sum]] }] as Operation[];
      const run = { history: { header: { sessions: ['T1'] }, operations }, final: [[[200]]] };
      return named('transfers').judge(run).kind;
    };
    expect([200, { decimal: '200' }, { decimal: '200.00' }, { int: '200' }].map(read)).toEqual(
      Array.from({ length: 4 }, () => 'kept'),
    );
    expect([199, { decimal: '199' }].map(read)).toEqual(['broken', 'broken']);
    expect([null, 'many', { decimal: '200.5' }].map(read)).toEqual(['unknown', 'unknown', 'unknown']);
  });

  it('a transfer of which only one half was accepted says nothing of the engine', () => {
    const half = updates(['error', undefined], ['ok', 'commit']);
    const one = { ...half, operations: half.operations.map((op) => ({ ...op, transaction: 0 as never })) };
    expect(named('transfers').judge({ history: one, final: [[[199]]] }).kind).toBe('unknown');
  });
});

describe('bursts on DuckDB', () => {
  const burst = async (url: string, name: string) => {
    const target = await openTarget(url);
    try {
      return await runBursts(target, {
        sessions: 4,
        repeats: 12,
        runs: 2,
        level: target.defaultLevel,
        contract: vendorContractAt(target, target.defaultLevel),
        programs: name === '' ? burstPrograms : [named(name)],
      });
    } finally {
      await target.close();
    }
  };

  it('keep what is promised', async () => {
    const result = await burst('duckdb:', '');
    expect(result.finding).toBeUndefined();
    expect(result.notAsked).toEqual(['numbers', 'skew', 'absent']);
    // The fact of `pairs` is not promised, but the graph judges it.
    expect(result.bursts).toBe(9);
    expect(result.lacking).toEqual(['locked']);
    expect(result.undecided).toEqual({});
  });

  it('show an update that is lost now and then, by its rate, and that one session shows it, too', async () => {
    const { finding } = await burst('duckdb:?fault=lost-update(every=5)', 'increments');
    expect(finding).toMatchObject({
      program: 'increments',
      clause: 'forbids lost-update-expression',
      verdict: 'not isolation',
    });
    expect(finding!.rate.broken).toBe(3);
    expect(finding!.reduced.sessions * finding!.reduced.repeats).toBeLessThan(4 * 12);
  });
});

describe('programs that conflict nearly always', () => {
  /** A snapshot does not make transactions serializable: DuckDB, held to more than it promises. */
  const beyond = async (name: string) => {
    const target = await openTarget('duckdb:');
    try {
      const contract = findContract('adya:PL-3')!;
      const base = { sessions: 4, repeats: 25, runs: 2, level: target.defaultLevel, contract };
      return (await runBursts(target, { ...base, programs: [named(name)] })).finding;
    } finally {
      await target.close();
    }
  };

  it('show write skew by the count and by the graph, and not in one session', async () => {
    const finding = await beyond('pairs');
    expect(finding).toMatchObject({ verdict: 'confirmed', form: 'statements', serial: { broken: 0 } });
    expect(finding!.rate.outcomes[0]!.text).toMatch(/not counted, .*write skew.* in the graph/i);
  });

  it('show a number that was given twice', async () => {
    const finding = await beyond('numbers');
    expect(finding).toMatchObject({ verdict: 'confirmed', clause: 'forbids G2', serial: { broken: 0 } });
    expect(finding!.rate.outcomes[0]!.text).toMatch(/given twice/);
  });
});

describe('forms', () => {
  const features = { oneRequest: ['block', 'procedure', 'text'] } as never;
  const small = { sessions: 4, repeats: 20 };
  const formsOf = (name: string, size = small) =>
    burstsOf([named(name)], { name: 'postgres', dialect: 'postgres', features }, size).map(
      ({ form }) => form,
    );

  it('are those the target has, and procedures only where a few are enough', () => {
    expect(formsOf('pairs')).toEqual(['statements', 'block', 'procedure', 'text']);
    expect(formsOf('keys')).toEqual(['statements', 'block', 'text']);
    // One procedure for every other transaction of a session: at a hunt's size too many.
    expect(formsOf('upserts')).toContain('procedure');
    expect(formsOf('upserts', { sessions: 8, repeats: 200 })).not.toContain('procedure');
    expect(formsOf('deletes', { sessions: 8, repeats: 200 })).toContain('procedure');
    expect(
      burstsOf([named('pairs')], { name: 'sqlite', dialect: 'sqlite', features: {} as never }, small),
    ).toHaveLength(1);
  });

  it.each([
    ['block', /^DO \$\$ BEGIN PERFORM id, w FROM p1; UPDATE p1 SET .*; END \$\$$/],
    ['procedure', /^CALL burst_0\(\)$/],
    ['text', /^SELECT id, w FROM p1; UPDATE p1 SET .* WHERE id = 1$/],
  ] as const)('%s: a transaction is one request', (form, expected) => {
    const burst = { program: named('pairs'), form };
    const { sessions, setup } = burstCase(
      burst,
      { name: 'postgres', dialect: 'postgres' },
      { sessions: 2, repeats: 3 },
      false,
    );
    expect(sessions.map(({ statements }) => statements.length)).toEqual([3, 3]);
    expect(sessions[0]!.statements[0]).toMatch(expected);
    expect(setup.filter((sql) => /PROCEDURE/.test(sql))).toHaveLength(form === 'procedure' ? 2 : 0);
  });

  it('a hunt sends none that makes more procedures than a few', () => {
    const size = { sessions: 8, repeats: 200 };
    const target = { name: 'mariadb', dialect: 'mysql', features } as const;
    const made = burstsOf(burstPrograms, target, size)
      .filter(({ form }) => form === 'procedure')
      .map((burst) => burstCase(burst, target, size, false).setup);
    expect(made.length).toBeGreaterThan(3);
    for (const setup of made)
      expect(setup.filter((sql) => sql.startsWith('CREATE PROCEDURE')).length).toBeLessThanOrEqual(16);
  });

  it.each(['drawn', 'locked', 'ensured'])(
    '%s: every session commits and rolls back, however many there are',
    (name) => {
      const endsIn = (sessions: number) =>
        burstCase(
          { program: named(name), form: 'statements' },
          { name: 'postgres', dialect: 'postgres' },
          { sessions, repeats: 200 },
          false,
        ).sessions.map(({ statements }) =>
          statements.filter((sql) => /^(?:COMMIT|ROLLBACK)$/.test(sql)).join(' '),
        );
      const all = endsIn(8);
      for (const ends of all) {
        expect(ends).toMatch(/ROLLBACK/);
        expect(ends).toMatch(/COMMIT/);
      }
      // So that a smaller burst is a part of the larger one.
      expect(endsIn(3)).toEqual(all.slice(0, 3));
    },
  );

  it('leave out the parts that they are told to, and transactions that nothing is left of', () => {
    const of = (name: string, without: string[]) => {
      const burst = { program: named(name), form: 'statements', without } as const;
      const size = { sessions: 1, repeats: 2 };
      return burstCase(burst, { name: 'postgres', dialect: 'postgres' }, size, false).sessions[0]!.statements;
    };
    const update = 'UPDATE c SET v = v + 1 WHERE id = 1';
    expect(of('increments', [])).toEqual([update, 'BEGIN', update, 'COMMIT']);
    expect(of('increments', ['begin'])).toEqual([update, update]);
    expect(of('transfers', ['reads'])).toHaveLength(4);
    expect(of('locked', ['lock', 'add'])).toEqual([]);
  });

  it('leave transactions that only read as they are', () => {
    const burst = { program: named('transfers'), form: 'block' } as const;
    const { sessions } = burstCase(
      burst,
      { name: 'postgres', dialect: 'postgres' },
      { sessions: 3, repeats: 1 },
      false,
    );
    expect(sessions[0]!.statements).toEqual(['SELECT SUM(v) FROM a']);
  });
});

describe('a burst on PostgreSQL', () => {
  const skip = postgresAvailable() !== undefined && process.env.ISOLDE_REQUIRE_ENGINES !== '1';

  it.skipIf(skip)(
    'finds a certifier that misses some transactions, and nothing else, in any form',
    async () => {
      const target = await openTarget('postgres:');
      try {
        const level = 'serializable';
        const contract = vendorContractAt(target, level);
        const base = { sessions: 4, repeats: 20, runs: 2, level, contract } as const;
        const { finding } = await runBursts(withFault(target, parseFault('missed-certification(every=20)')), {
          ...base,
          programs: [named('pairs')],
        });
        expect(finding).toMatchObject({ verdict: 'confirmed', serial: { broken: 0 } });
        const silent = await runBursts(target, { ...base, programs: burstPrograms });
        expect(silent).toMatchObject({ finding: undefined, undecided: {}, bursts: 48 });
      } finally {
        await target.close();
      }
    },
    120_000,
  );
});

describe('a burst is reduced', () => {
  /** Whether a run breaks it depends on nothing but its text and size. */
  const reducedOf = async (breaks: (history: History) => boolean, target: Target) => {
    const guarded: BurstProgram = {
      ...named('increments'),
      transaction: () => ['BEGIN', 'SELECT 1 AS guard', 'UPDATE c SET v = v + 1 WHERE id = 2', 'COMMIT'],
      parts: { guard: /guard/, begin: /^(?:BEGIN|COMMIT)$/ },
      judge: ({ history }) => ({ kind: breaks(history) ? 'broken' : 'kept', text: 'x' }),
    };
    const contract = vendorContractAt(target, target.defaultLevel);
    const base = { sessions: 2, repeats: 8, runs: 2, level: target.defaultLevel, contract };
    return (await runBursts(target, { ...base, programs: [guarded] })).finding!;
  };
  const has = ({ operations }: History, word: RegExp) => operations.some(({ sql = '' }) => word.test(sql));
  const isAlone = ({ header }: History) => !header.sessions.includes('T2');
  const withDuckdb = async (use: (target: Target) => Promise<void>) => {
    const target = await openTarget('duckdb:');
    await use(target).finally(() => target.close());
  };

  it('without a statement only where one session alone still keeps the fact', () =>
    withDuckdb(async (target) => {
      const found = await reducedOf((history) => !isAlone(history) || !has(history, /guard/), target);
      expect(found).toMatchObject({ verdict: 'confirmed', reduced: { repeats: 4, without: ['begin'] } });
    }));

  it('to the last size that breaks it again, not to one that did so once', () =>
    withDuckdb(async (target) => {
      let lucky = 1;
      const found = await reducedOf((history) => {
        if (isAlone(history)) return false;
        if (has(history, /guard/)) return has(history, /BEGIN/);
        return lucky-- > 0;
      }, target);
      expect(found.reduced).toMatchObject({ repeats: 4, rate: { broken: 2, runs: 2 } });
      expect(found.reduced).not.toHaveProperty('without');
    }));

  it('with BEGIN, where a plain one is another', () =>
    withDuckdb(async (target) => {
      const levels = target.levels.map((each) => ({ ...each, plainBeginDiffers: true as const }));
      const found = await reducedOf((history) => !isAlone(history), { ...target, levels });
      expect(found.reduced.without).toEqual(['guard']);
    }));
});

describe('what is broken is compared with a control', () => {
  const brokenWith = async (control: BurstOptions['control']) => {
    const target = await openTarget('duckdb:?fault=lost-update(every=2)');
    const contract = vendorContractAt(target, target.defaultLevel);
    const base = { sessions: 2, repeats: 4, runs: 1, level: target.defaultLevel, contract, control };
    try {
      return (await runBursts(target, { ...base, programs: [named('increments')] })).finding;
    } finally {
      await target.close();
    }
  };

  it('and is kept, with the reason, where the control is gone or cannot be asked', async () => {
    const closed = await openTarget('duckdb:');
    await closed.close();
    expect(await brokenWith(closed)).toMatchObject({
      uncompared: 'could not be asked: The DuckDB target is closed',
    });
    const failing = async () => {
      throw new Error('no such server');
    };
    expect(await brokenWith(failing)).toMatchObject({ uncompared: 'could not be asked: no such server' });
    const unable = { ...closed, stamp: closed.stamp, levels: [] } as Target;
    expect((await brokenWith(unable))!.uncompared).toMatch(/^duckdb \S+ promises nothing at snapshot$/);
    expect(await brokenWith(async () => undefined)).not.toHaveProperty('uncompared');
  }, 60_000);
});

describe('a burst goes through the one function that runs and judges', () => {
  const place = async (url: string) => {
    const target = await openTarget(url);
    const contract = vendorContractAt(target, target.defaultLevel);
    const base = { sessions: 3, repeats: 6, runs: 1, level: target.defaultLevel, contract };
    return { target, base };
  };

  it('so that a declared key that is broken is a finding, whatever the program looks at', async () => {
    const { target, base } = await place('duckdb:?fault=duplicate-key-accepted');
    // A program that never looks at its rows.
    const blind: BurstProgram = {
      ...named('keys'),
      name: 'blind',
      final: ['SELECT 1'],
      judge: () => ({ kind: 'kept', text: 'x' }),
    };
    try {
      const { finding } = await runBursts(target, { ...base, programs: [blind] });
      expect(finding).toMatchObject({ program: 'blind', clause: expect.stringMatching('primary key') });
    } finally {
      await target.close();
    }
  });

  it('so that a server that dies is a finding, seen once, and nothing is run on it any more', async () => {
    const target = await fragile();
    const contract = vendorContractAt(target, target.defaultLevel);
    const base = { sessions: 3, repeats: 6, runs: 3, level: target.defaultLevel, contract };
    try {
      const { finding, bursts } = await runBursts(target, { ...base, programs: [named('increments')] });
      expect(bursts).toBe(1);
      expect(finding).toMatchObject({ verdict: 'once', fact: 'an answer', rate: { runs: 1, broken: 1 } });
    } finally {
      await target.close();
    }
  });
});

describe('on engines that read no constants without a FROM', () => {
  const sent = (program: string, name: string) => {
    const burst = { program: named(program), form: 'statements' } as const;
    return JSON.stringify(
      burstCase(burst, { name, dialect: 'postgres' }, { sessions: 2, repeats: 40 }, true),
    );
  };

  it('queries of constants that have a condition get one', () => {
    for (const name of ['hsqldb', 'derby'])
      for (const program of ['absent', 'ensured', 'drawn']) {
        expect(sent(program, name), name).toMatch(/FROM \(VALUES \(1\)\) AS d \(one\) WHERE NOT EXISTS/);
        expect(sent(program, name), name).not.toMatch(/SELECT [\d, ]+ WHERE/);
      }
    expect(sent('absent', 'postgres')).toMatch(/SELECT 0, 0 WHERE NOT EXISTS/);
  });

  it('programs of statements that are lacking are not offered', () => {
    const offered = (name: string) =>
      burstsOf(
        burstPrograms,
        { name, dialect: 'postgres', features: {} as Target['features'] },
        { sessions: 2, repeats: 4 },
      ).map(({ program }) => program.name);
    expect(offered('hsqldb')).toContain('merges');
    expect(offered('derby')).not.toContain('merges');
    expect(sent('drawn', 'derby')).not.toContain('MERGE');
  });
});
