import { describe, expect, it } from 'vitest';
import type { History, HistoryHeader, Operation } from '../histories/index.js';
import { refOf, type StepOptions, type Steps, stepsOf } from './steps.js';

/** An operation, short: what matters here is its kind, its transaction and how it ended. */
type Short = Partial<Operation> & Pick<Operation, 'kind'>;

function run(sessions: readonly (readonly Short[])[], header: Partial<HistoryHeader> = {}): History {
  let time = 0;
  const operations = sessions.flatMap((list, session) =>
    list.map((op): Omit<Operation, 'index'> => {
      const start = ++time * 10;
      const sql = `${op.kind} ${start}`;
      const outcome = op.error === undefined ? 'ok' : 'error';
      return { session, transaction: session, sql, start, end: start + 5, outcome, ...op };
    }),
  );
  return {
    header: { sessions: sessions.map((_, s) => `S${s}`), ...header },
    operations: operations.map((op, index) => ({ ...op, index })),
  };
}

const failed = (errorClass: NonNullable<Operation['error']>['class'], more: Partial<Operation> = {}) => ({
  error: { class: errorClass, message: errorClass },
  ...more,
});
const begin: Short = { kind: 'begin', sql: 'BEGIN' };
const update: Short = { kind: 'update', sql: 'UPDATE t' };
const commit: Short = { kind: 'commit', sql: 'COMMIT', ends: 'commit' };

function statements(history: History, options?: StepOptions): readonly string[] {
  return stepsOf(history, options).case.sessions[0]!.statements;
}

function leftOut({ leftOut: list }: Steps): string[] {
  return list.map(({ operation, why }) => `${operation}: ${why}`);
}

describe('the program of a history', () => {
  it('has the sessions, levels, dialect and set-up of its header', () => {
    const header: Partial<HistoryHeader> = {
      ...{
        sessions: ['reader', 'writer'],
        dialect: 'mysql',
        level: 'read committed',
        setup: ['CREATE TABLE t (a INT)'],
      },
      ...{ sessionLevels: { 1: 'serializable' }, case: 'skew' },
    };
    const { case: program } = stepsOf(run([[update], [update]], header));
    expect(program).toEqual({
      ...{ name: 'skew', dialect: 'mysql', level: 'read committed', setup: ['CREATE TABLE t (a INT)'] },
      sessions: [
        { name: 'reader', statements: ['UPDATE t'] },
        { name: 'writer', level: 'serializable', statements: ['UPDATE t'] },
      ],
    });
  });

  it.each([
    ['UPDATE t;', 'UPDATE t'],
    ['UPDATE t ; \n;', 'UPDATE t'],
    ["SELECT ';'", "SELECT ';'"],
  ])('sends %j as %j', (sql, sent) => {
    expect(statements(run([[{ kind: 'update', sql }]]))).toEqual([sent]);
  });

  it('spells transaction control that was recorded without text', () => {
    const bare = (kind: Short['kind']): Short => ({ kind, sql: undefined as unknown as string });
    expect(statements(run([[bare('begin'), bare('commit')]]))).toEqual(['BEGIN', 'COMMIT']);
    expect(() => stepsOf(run([[bare('select')]]))).toThrow(/operation 0 \(select\) has no SQL/);
  });

  it('puts the operations of a session in the order they were sent', () => {
    const later: Short = { ...update, sql: 'UPDATE later', start: 90, end: 95 };
    const sooner: Short = { ...update, sql: 'UPDATE sooner', start: 10, end: 15 };
    const steps = stepsOf(run([[later, sooner]]));
    expect(steps.case.sessions[0]!.statements).toEqual(['UPDATE sooner', 'UPDATE later']);
    expect([...steps.source]).toEqual([1, 0]);
  });

  it('refuses an operation of a session that the header does not name', () => {
    const history = run([[update], [update]], { sessions: ['only'] });
    expect(() => stepsOf(history)).toThrow('operation 1 names session 1; the history has 1');
  });

  it('numbers steps session by session, and transactions anew', () => {
    const other = { ...commit, transaction: 40 };
    const steps = stepsOf(
      run([
        [begin, commit, { ...begin, transaction: 40 }, other],
        [begin, commit],
      ]),
    );
    expect([...steps.firstOf]).toEqual([0, 4, 6]);
    expect([...steps.transaction]).toEqual([0, 0, 1, 1, 2, 2]);
    expect([...steps.endOf]).toEqual([1, 3, 5]);
    expect([0, 3, 5].map((step) => refOf(steps, step))).toEqual([
      [0, 0],
      [0, 3],
      [1, 1],
    ]);
  });

  it('lets what was never answered end never', () => {
    const steps = stepsOf(run([[{ ...update, end: null }]]));
    expect([...steps.end]).toEqual([Number.POSITIVE_INFINITY]);
    expect([...steps.endOf]).toEqual([-1]);
  });
});

describe('statements whose outcome timing decided', () => {
  it.each(['deadlock', 'lock-timeout', 'statement-timeout', 'cancelled'] as const)(
    '%s: not sent again',
    (why) => {
      const history = run([[begin, { ...update, ...failed(why) }, commit]]);
      expect(statements(history)).toEqual(['BEGIN', 'COMMIT']);
      expect(leftOut(stepsOf(history))).toEqual([`1: it ended by timing (${why})`]);
      expect(statements(history, { keepTimed: true })).toEqual(['BEGIN', 'UPDATE t', 'COMMIT']);
    },
  );

  it.each(['serialization', 'duplicate-key'] as const)('%s: sent again, for an order decided it', (why) => {
    const history = run([[begin, { ...update, ...failed(why) }, commit]]);
    expect(statements(history)).toEqual(['BEGIN', 'UPDATE t', 'COMMIT']);
    const spared = stepsOf(history, { spared: new Set([1]) });
    expect(leftOut(spared)).toEqual([`1: its failure is taken as recorded (${why})`]);
  });

  it('give their place to a ROLLBACK where they ended their transaction', () => {
    const victim = { ...update, ...failed('deadlock', { ends: 'rollback' }) };
    const steps = stepsOf(run([[begin, victim, { ...begin, transaction: 7 }]]));
    expect(steps.case.sessions[0]!.statements).toEqual(['BEGIN', 'ROLLBACK', 'BEGIN']);
    expect([...steps.replaced]).toEqual([0, 1, 0]);
    expect([...steps.endOf]).toEqual([1, -1]);
  });

  it('and not where there was no transaction but their own', () => {
    const victim = { ...update, ...failed('deadlock', { ends: 'rollback' }) };
    expect(statements(run([[victim]]))).toEqual([]);
  });

  it('turn the COMMIT of a transaction they doomed into the ROLLBACK it was', () => {
    const doomed = run([[begin, { ...update, ...failed('deadlock') }, { ...commit, ends: 'rollback' }]]);
    expect(statements(doomed)).toEqual(['BEGIN', 'ROLLBACK']);
    const saved = run([[begin, { ...update, ...failed('deadlock') }, commit]]);
    expect(statements(saved)).toEqual(['BEGIN', 'COMMIT']);
  });

  it('are sent again to be cancelled, if asked for, with a ROLLBACK behind', () => {
    const victim = { ...update, ...failed('deadlock', { ends: 'rollback' }) };
    const steps = stepsOf(run([[begin, victim]]), { resent: true });
    expect(steps.case.sessions[0]!.statements).toEqual(['BEGIN', 'UPDATE t', 'ROLLBACK']);
    expect([...steps.cancelled]).toEqual([0, 1, 0]);
  });

  it.each([
    ['1s', 1e9],
    ['50ms', 50e6],
    ['50', 50e6],
    ['soon', 0],
  ])('failed not before the database looked for deadlocks (%s)', (setting, after) => {
    const victim = { ...update, ...failed('deadlock', { ends: 'rollback' }), start: 20, end: 5e9 };
    const target = { name: 'postgres', version: '18', settings: { deadlock_timeout: setting } };
    const { start } = stepsOf(run([[begin, victim]], { target }));
    expect(start[1]).toBe(20 + after);
  });
});

describe('what executors and databases add', () => {
  it('the ROLLBACK after a COMMIT that failed is left out', () => {
    const rollback: Short = { kind: 'rollback', sql: 'ROLLBACK', ends: 'rollback' };
    const refused: Short = { kind: 'commit', sql: 'COMMIT', ...failed('serialization') };
    const steps = stepsOf(run([[begin, refused, rollback]]));
    expect(steps.case.sessions[0]!.statements).toEqual(['BEGIN', 'COMMIT']);
    expect(leftOut(steps)).toEqual(['2: the executor rolled back after a COMMIT that failed']);
  });

  it.each([
    ['a ROLLBACK stands where a session went on without BEGIN', update, true],
    ['and not where it began anew', begin, false],
  ])('%s', (_, next, added) => {
    const ended = { ...update, ...failed('serialization', { ends: 'rollback' }) };
    const steps = stepsOf(run([[begin, ended, { ...next, transaction: 9 }]]));
    expect(steps.case.sessions[0]!.statements.includes('ROLLBACK')).toBe(added);
    expect([...steps.source].includes(-1)).toBe(added);
  });

  it.each([
    ['the rest of a transaction is left out where a failure ends it', [], true],
    ['and sent where a savepoint saved it', [{ kind: 'rollback-to', sql: 'ROLLBACK TO s' } as Short], false],
  ])('%s', (_, saving, over) => {
    const victim = { ...update, ...failed('lock-timeout') };
    const history = run([[begin, victim, ...saving, { ...update, sql: 'UPDATE rest' }, commit]]);
    expect(statements(history, { failureRollsBack: true }).includes('UPDATE rest')).toBe(!over);
    expect(statements(history).includes('UPDATE rest')).toBe(true);
  });
});

describe('chained transactions', () => {
  const chain: Short = { kind: 'commit', sql: 'COMMIT AND CHAIN', ends: 'commit' };
  const second = { transaction: 1 };

  it('are sent as they were', () => {
    const history = run([[begin, chain, { ...update, ...second }, { ...commit, ...second }]]);
    expect(statements(history)).toEqual(['BEGIN', 'COMMIT AND CHAIN', 'UPDATE t', 'COMMIT']);
  });

  it('are ended where the database ended them, and go on where a doomed one was ended', () => {
    const victim: Short = { ...update, ...second, ...failed('deadlock', { ends: 'rollback' }) };
    expect(statements(run([[begin, chain, victim]]))).toEqual(['BEGIN', 'COMMIT AND CHAIN', 'ROLLBACK']);
    const doomed: Short = { ...update, ...failed('lock-timeout') };
    const ended: Short = { ...chain, ends: 'rollback' };
    expect(statements(run([[begin, doomed, ended, { ...commit, ...second }]]))).toEqual([
      'BEGIN',
      'ROLLBACK AND CHAIN',
      'COMMIT',
    ]);
  });
});
