import { describe, expect, it } from 'vitest';
import { type TursoDatabase, type TursoModule, tursoAbilities, tursoEngine } from './turso-engine.js';

/**
 * A driver as old as 0.4: it never says that a transaction is open, counts no rows, knows MVCC by its old name, and takes a
 * BEGIN inside BEGIN CONCURRENT. `script`: statements that fail, and whether they take the transaction with them.
 */
function oldTurso(
  script: Readonly<Record<string, readonly [message: string, ends: boolean]>>,
  seen: string[] = [],
): TursoModule {
  const connect = (): TursoDatabase => {
    let mvcc = false;
    let open = false;
    const answer = async (sql: string) => {
      seen.push(sql);
      const [failure, ends = false] = script[sql] ?? [];
      if (ends) open = false;
      if (failure !== undefined) throw new Error(failure);
      if (open && sql === 'PRAGMA wal_checkpoint') throw new Error('database table is locked');
      if (open && !mvcc && sql === 'BEGIN')
        throw new Error('cannot start a transaction within a transaction');
      if (sql.startsWith('BEGIN')) open = true;
      if (sql === 'COMMIT' || sql === 'ROLLBACK') open = false;
      if (sql !== "PRAGMA journal_mode = 'experimental_mvcc'") return [];
      mvcc = true;
      return [{ journal_mode: 'experimental_mvcc' }];
    };
    return {
      inTransaction: false,
      prepare: (sql) => ({
        raw: () => undefined,
        safeIntegers: () => undefined,
        columns: () => [],
        all: () => answer(sql),
        run: async () => {
          await answer(sql);
          return { changes: 0 };
        },
        close: () => undefined,
      }),
      close: async () => undefined,
    };
  };
  return { connect: async () => connect() };
}

describe('an old Turso', () => {
  it('is found out by trying', async () => {
    const old = { tellsTransaction: false, tellsCounts: false };
    expect(await tursoAbilities(oldTurso({}), 'wal')).toMatchObject({ ...old, probe: { sql: 'BEGIN' } });
    expect(await tursoAbilities(oldTurso({}), 'mvcc')).toMatchObject({
      ...old,
      probe: { sql: 'PRAGMA wal_checkpoint' },
    });
  });

  it.each([
    ['mvcc', 'step failed: Write-write conflict', true],
    ['mvcc', 'step failed: Write-write conflict', false],
    ['wal', 'Database snapshot is stale', true],
    ['wal', 'Database snapshot is stale', false],
    ['mvcc', 'UNIQUE constraint failed: t.id (19)', true],
    ['mvcc', 'UNIQUE constraint failed: t.id (19)', false],
  ] as const)('mode %s, error "%s" that ends the transaction: %s', async (mode, message, ends) => {
    const turso = oldTurso({ 'UPDATE t SET v = 1': [message, ends] });
    const connection = await tursoEngine(turso, mode, await tursoAbilities(turso, mode)).create('x');
    expect(connection.inTransaction()).toBe(false);
    await connection.execute(mode === 'mvcc' ? 'BEGIN CONCURRENT' : 'BEGIN');
    expect(connection.inTransaction()).toBe(true);
    await expect(connection.execute('UPDATE t SET v = 1')).rejects.toThrow(message);
    expect(connection.inTransaction()).toBe(!ends);
    if (ends) await connection.execute('BEGIN');
    await connection.execute('COMMIT');
    expect(connection.inTransaction()).toBe(false);
  });

  it('gives no row counts rather than wrong ones', async () => {
    const turso = oldTurso({});
    const connection = await tursoEngine(turso, 'wal', await tursoAbilities(turso, 'wal')).create('x');
    expect(await connection.execute('DELETE FROM t')).toEqual({});
  });

  it('enters MVCC by the name it knows, and without one is refused', async () => {
    const abilities = { tellsTransaction: false, tellsCounts: false };
    const seen: string[] = [];
    const newName = { "PRAGMA journal_mode = 'mvcc'": ['Unknown journal mode: mvcc', false] } as const;
    await tursoEngine(oldTurso(newName, seen), 'mvcc', abilities).create('x');
    expect(seen.at(-1)).toBe("PRAGMA journal_mode = 'experimental_mvcc'");
    const neither = {
      ...newName,
      "PRAGMA journal_mode = 'experimental_mvcc'": ['Unknown journal mode', false],
    } as const;
    await expect(tursoEngine(oldTurso(neither), 'mvcc', abilities).create('x')).rejects.toThrow(
      /no MVCC mode/,
    );
  });
});
