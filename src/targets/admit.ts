/**
 * The one fence for SQL that came from a file: who may run it where.
 *
 * 1. Where the engine itself keeps a case inside its scratch (`reach` is `scratch`), anything may run: it is the engine that refuses.
 * 2. Where the login may write outside of it, nothing from a file runs: the user has to say that the file is trusted, or use a
 *    login without such rights. The message prints the script that makes one.
 * 3. Where nobody can tell (an adapter behind `exec:`), the statements must be on the allow-list (`sql/allow-list.ts`).
 *
 * What Isolde generates does not come here. Imported bugs must be on the allow-list in any case, for nobody knows where they
 * will run.
 */
import type { Case } from '../cases/index.js';
import { IsoldeError } from '../errors.js';
import { type Dialect, findForbidden } from '../sql/index.js';
import type { Target } from './target.js';

/** The statements of a case, or of a history: all that will be sent. */
export interface ForeignSql {
  readonly setup: readonly string[];
  readonly statements: readonly string[];
}

export interface AdmitOptions {
  /** The user vouches for the file (`--trust-case`). */
  readonly trust: boolean;
  /** What the statements come from, for the message: a file's name, a bug's id. */
  readonly source: string;
}

export function sqlOfCase({ setup, sessions }: Case): ForeignSql {
  return { setup, statements: sessions.flatMap(({ statements }) => statements) };
}

/** The first statement that is not on the allow-list, and why; undefined if all are. */
export function findForbiddenStatement(sql: ForeignSql, dialect: Dialect | undefined): string | undefined {
  for (const statement of [...sql.setup, ...sql.statements]) {
    const why = findForbidden(statement, dialect);
    if (why !== undefined) return `${why}: ${statement.slice(0, 200)}`;
  }
  return undefined;
}

/** Rejects with code `safety` when these statements must not run on this target. */
export async function admit(target: Target, sql: ForeignSql, options: AdmitOptions): Promise<void> {
  if (options.trust) return;
  const reach = (await target.reach?.()) ?? { kind: 'unknown' };
  if (reach.kind === 'unknown') {
    const forbidden = findForbiddenStatement(sql, target.dialect);
    if (forbidden === undefined) return;
    throw new IsoldeError(
      'safety',
      `${options.source} is not run on ${target.name}, because ${forbidden}\n` +
        'Nobody knows what this target lets a case do. If you trust the file, add --trust-case',
    );
  }
  if (reach.kind === 'scratch') return;
  throw new IsoldeError(
    'safety',
    `${options.source} is not run on ${target.stamp.url ?? target.name}: ${reach.why}, and SQL from a file could do the same.\n` +
      `${reach.advice}\nIf you trust the file, add --trust-case`,
  );
}
