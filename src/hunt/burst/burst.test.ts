import { describe, expect, it } from 'vitest';
import { findContract } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import { vendorContractAt } from '../../judge/index.js';
import { openTarget } from '../../targets/index.js';
import { fragile } from '../fragile-target.case.js';
import { runBursts } from './burst.js';
import { type BurstProgram, burstPrograms } from './burst-program.js';

const named = (name: string) => burstPrograms.find((program) => program.name === name)!;

describe('a fact is asked only of contracts that demand it', () => {
  it.each([
    ['postgres:read-committed', ['increments', 'transfers', 'keys']],
    ['postgres:repeatable-read', ['increments', 'transfers', 'keys']],
    ['postgres:serializable', ['increments', 'transfers', 'skew', 'absent', 'keys']],
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
    expect(result.notAsked).toEqual(['skew', 'absent']);
    expect(result.bursts).toBe(3);
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
