import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { vendorContractAt } from '../../judge/index.js';
import { openTarget, parseFault, withFault } from '../../targets/index.js';
import { postgresAvailable } from '../../targets/postgres/index.js';
import { fragile } from '../fragile-target.case.js';
import { runBursts } from './burst.js';
import { burstCase, burstsOf } from './burst-form.js';
import type { BurstProgram } from './burst-program.js';
import { burstPrograms } from './burst-programs.js';

const named = (name: string) => burstPrograms.find((program) => program.name === name)!;

describe('a fact is asked only of contracts that demand it', () => {
  it.each([
    ['postgres:read-committed', ['increments', 'transfers', 'keys']],
    ['postgres:repeatable-read', ['increments', 'transfers', 'keys']],
    ['postgres:serializable', ['pairs', 'increments', 'numbers', 'transfers', 'skew', 'absent', 'keys']],
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
    expect(result.bursts).toBe(4);
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
  const formsOf = (name: string) =>
    burstsOf([named(name)], { dialect: 'postgres', features }).map(({ form }) => form);

  it('are those the target has, and procedures only where a few are enough', () => {
    expect(formsOf('pairs')).toEqual(['statements', 'block', 'procedure', 'text']);
    expect(formsOf('keys')).toEqual(['statements', 'block', 'text']);
    expect(burstsOf([named('pairs')], { dialect: 'sqlite', features: {} as never })).toHaveLength(1);
  });

  it.each([
    ['block', /^DO \$\$ BEGIN PERFORM id, w FROM p1; UPDATE p1 SET .*; END \$\$$/],
    ['procedure', /^CALL burst_0\(\)$/],
    ['text', /^SELECT id, w FROM p1; UPDATE p1 SET .* WHERE id = 1$/],
  ] as const)('%s: a transaction is one request', (form, expected) => {
    const burst = { program: named('pairs'), form };
    const { sessions, setup } = burstCase(burst, { dialect: 'postgres' }, { sessions: 2, repeats: 3 }, false);
    expect(sessions.map(({ statements }) => statements.length)).toEqual([3, 3]);
    expect(sessions[0]!.statements[0]).toMatch(expected);
    expect(setup.filter((sql) => /PROCEDURE/.test(sql))).toHaveLength(form === 'procedure' ? 2 : 0);
  });

  it('leave transactions that only read as they are', () => {
    const burst = { program: named('transfers'), form: 'block' } as const;
    const { sessions } = burstCase(burst, { dialect: 'postgres' }, { sessions: 3, repeats: 1 }, false);
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
        expect(silent).toMatchObject({ finding: undefined, undecided: {}, bursts: 26 });
      } finally {
        await target.close();
      }
    },
    60_000,
  );
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
