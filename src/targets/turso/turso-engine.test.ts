import { describe, expect, it } from 'vitest';
import { type TursoDatabase, type TursoModule, tursoAbilities, tursoEngine } from './turso-engine.js';

/** A driver as old as 0.4: it never says that a transaction is open, counts no rows, and knows MVCC by its old name. */
function oldTurso(script: Readonly<Record<string, string>>, seen: string[] = []): TursoModule {
  const answer = async (sql: string) => {
    seen.push(sql);
    const failure = script[sql];
    if (failure !== undefined) throw new Error(failure);
    return sql === "PRAGMA journal_mode = 'experimental_mvcc'"
      ? [{ journal_mode: 'experimental_mvcc' }]
      : ([] as unknown[]);
  };
  const database: TursoDatabase = {
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
  return { connect: async () => database };
}

describe('an old Turso', () => {
  const conflict = { 'UPDATE t SET v = 1': 'step failed: Write-write conflict' };

  it('is found out by trying', async () => {
    expect(await tursoAbilities(oldTurso({}))).toEqual({ tellsTransaction: false, tellsCounts: false });
  });

  it.each([
    ['mvcc', false],
    ['wal', true],
  ] as const)(
    'has its transactions followed by us: a conflict in mode %s leaves it open: %s',
    async (mode, open) => {
      const turso = oldTurso(conflict);
      const connection = await tursoEngine(turso, mode, await tursoAbilities(turso)).create('x');
      expect(connection.inTransaction()).toBe(false);
      await connection.execute('BEGIN');
      expect(connection.inTransaction()).toBe(true);
      await expect(connection.execute('UPDATE t SET v = 1')).rejects.toThrow('conflict');
      expect(connection.inTransaction()).toBe(open);
      await connection.execute('BEGIN CONCURRENT');
      await connection.execute('COMMIT');
      expect(connection.inTransaction()).toBe(false);
    },
  );

  it('gives no row counts rather than wrong ones', async () => {
    const turso = oldTurso({});
    const connection = await tursoEngine(turso, 'wal', await tursoAbilities(turso)).create('x');
    expect(await connection.execute('DELETE FROM t')).toEqual({});
  });

  it('enters MVCC by the name it knows, and without one is refused', async () => {
    const abilities = { tellsTransaction: false, tellsCounts: false };
    const seen: string[] = [];
    const newName = { "PRAGMA journal_mode = 'mvcc'": 'Parse error: Unknown journal mode: mvcc' };
    await tursoEngine(oldTurso(newName, seen), 'mvcc', abilities).create('x');
    expect(seen.at(-1)).toBe("PRAGMA journal_mode = 'experimental_mvcc'");
    const neither = { ...newName, "PRAGMA journal_mode = 'experimental_mvcc'": 'Unknown journal mode' };
    await expect(tursoEngine(oldTurso(neither), 'mvcc', abilities).create('x')).rejects.toThrow(
      /no MVCC mode/,
    );
  });
});
