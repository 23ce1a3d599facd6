/**
 * The savepoints of one transaction, each with what its client needs to come back to it. A name means the newest savepoint of that
 * name: MySQL drops older ones, PostgreSQL hides them.
 */
import type { Operation } from '../histories/index.js';
import { type Dialect, nameKey, parseStatement } from '../sql/index.js';

/** What a SAVEPOINT, RELEASE or ROLLBACK TO names; undefined: it is another statement. */
export function savepointOf(
  { kind, sql }: Pick<Operation, 'kind' | 'sql'>,
  dialect: Dialect,
): { readonly kind: 'savepoint' | 'release' | 'rollback-to'; readonly name: string } | undefined {
  if (kind !== 'savepoint' && kind !== 'release' && kind !== 'rollback-to') return undefined;
  const statement = parseStatement(sql ?? '', dialect);
  return { kind, name: statement.type === kind ? nameKey(statement.name, dialect) : '' };
}

export type SavepointStatement = NonNullable<ReturnType<typeof savepointOf>>;

export class Savepoints<Mark> {
  readonly #marks: { readonly name: string; readonly mark: Mark }[] = [];

  /** The same savepoints, to go on from without changing these. */
  copy(): Savepoints<Mark> {
    const copy = new Savepoints<Mark>();
    copy.#marks.push(...this.#marks);
    return copy;
  }

  /** Follows a statement made at `mark`. For ROLLBACK TO: the mark to come back to; undefined there: the engine knew it and we do not. */
  follow({ kind, name }: SavepointStatement, mark: Mark): { readonly backTo: Mark | undefined } | undefined {
    if (kind === 'rollback-to') return { backTo: this.rollBackTo(name) };
    if (kind === 'savepoint') this.set(name, mark);
    else this.release(name);
    return undefined;
  }

  set(name: string, mark: Mark): void {
    this.#marks.push({ name, mark });
  }

  /** Forgets the savepoint and those after it. */
  release(name: string): void {
    const at = this.#find(name);
    if (at >= 0) this.#marks.length = at;
  }

  /** Forgets those after the savepoint and returns its mark. */
  rollBackTo(name: string): Mark | undefined {
    const at = this.#find(name);
    if (at >= 0) this.#marks.length = at + 1;
    return this.#marks[at]?.mark;
  }

  #find(name: string): number {
    return this.#marks.findLastIndex((mark) => mark.name === name);
  }
}
