/**
 * In which form the transactions of a burst are sent. What runs between two statements of a client takes a network's time; inside the server it
 * takes microseconds, so races that need two steps close together show there.
 *
 * | form | a transaction is | where |
 * |---|---|---|
 * | `statements` | BEGIN, its statements, COMMIT | everywhere |
 * | `block` | one DO block | PostgreSQL |
 * | `procedure` | one CALL of a procedure that the set-up makes | PostgreSQL, MySQL, MariaDB |
 * | `text` | its statements in one text, which the server takes for one transaction | PostgreSQL |
 *
 * Transactions that only read stay as they are: what they answer is judged. Inside a server nobody sees what is read, so the dependency graph
 * judges only statements.
 */
import type { Case } from '../../cases/index.js';
import type { Dialect } from '../../sql/index.js';
import type { OneRequest, Target } from '../../targets/index.js';
import type { BurstProgram } from './burst-program.js';

export type BurstForm = 'statements' | OneRequest;
export const burstForms: readonly BurstForm[] = ['statements', 'block', 'procedure', 'text'];

export interface BurstSize {
  readonly sessions: number;
  /** Transactions of each session. */
  readonly repeats: number;
}

/** A program in a form. */
export interface Burst {
  readonly program: BurstProgram;
  readonly form: BurstForm;
}

/** More procedures than this are not made: such a program has another text for every transaction. */
const mostProcedures = 16;

/** The programs in every form that a target has for them. */
export function burstsOf(
  programs: readonly BurstProgram[],
  { dialect, features }: Pick<Target, 'dialect' | 'features'>,
  forms: readonly BurstForm[] = burstForms,
): readonly Burst[] {
  const size = { sessions: 8, repeats: 32 };
  const offered: readonly BurstForm[] = ['statements', ...(features.oneRequest ?? [])];
  return offered
    .filter((form) => forms.includes(form))
    .flatMap((form) => programs.map((program) => ({ program, form })))
    .filter((burst) => burst.form !== 'procedure' || bodies(burst, dialect, size).size <= mostProcedures);
}

/** `serial`: all of it in one session, transaction by transaction. */
export function burstCase(
  burst: Burst,
  { dialect }: { readonly dialect: Dialect },
  size: BurstSize,
  serial: boolean,
): Case {
  const { program, form } = burst;
  const { sessions, repeats } = size;
  const procedures = form === 'procedure' ? bodies(burst, dialect, size) : new Map<string, number>();
  const of = (session: number, repeat: number) => {
    const statements = transactionOf(burst, dialect, { session, repeat, sessions });
    const body = bodyOf(statements);
    return form === 'statements' || !body.some(isWrite)
      ? statements
      : [inForm(form, body, procedures.get(body.join('; ')) ?? 0)];
  };
  const one = range(repeats).flatMap((repeat) => range(sessions).flatMap((session) => of(session, repeat)));
  return {
    name: form === 'statements' ? `burst-${program.name}` : `burst-${program.name}-${form}`,
    dialect,
    setup: [
      ...program.setup,
      ...[...procedures].flatMap(([body, number]) => makeProcedure(body.split('; '), number, dialect)),
    ],
    sessions: serial
      ? [{ name: 'T1', statements: one }]
      : range(sessions).map((session) => ({
          name: `T${session + 1}`,
          statements: range(repeats).flatMap((repeat) => of(session, repeat)),
        })),
  };
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const isWrite = (sql: string) => /^(INSERT|UPDATE)\b/.test(sql);
const bodyOf = (statements: readonly string[]) =>
  statements.filter((sql) => sql !== 'BEGIN' && sql !== 'COMMIT');

function transactionOf(
  { program, form }: Burst,
  dialect: Dialect,
  place: { readonly session: number; readonly repeat: number; readonly sessions: number },
): readonly string[] {
  const { session, repeat, sessions } = place;
  const tag = form === 'statements' ? 1 + repeat * sessions + session : 0;
  return program.transaction({ session, repeat, tag, dialect });
}

/** The distinct texts of writing transactions, numbered. */
function bodies(
  burst: Burst,
  dialect: Dialect,
  { sessions, repeats }: BurstSize,
): ReadonlyMap<string, number> {
  const numbered = new Map<string, number>();
  for (const repeat of range(repeats)) {
    for (const session of range(sessions)) {
      const body = bodyOf(transactionOf(burst, dialect, { session, repeat, sessions }));
      const text = body.join('; ');
      if (body.some(isWrite) && !numbered.has(text)) numbered.set(text, numbered.size);
    }
  }
  return numbered;
}

function inForm(form: Exclude<BurstForm, 'statements'>, body: readonly string[], procedure: number): string {
  if (form === 'text') return body.join('; ');
  return form === 'block' ? `DO $$ ${plpgsql(body)} $$` : `CALL burst_${procedure}()`;
}

function plpgsql(body: readonly string[]): string {
  // What is read is not wanted, and PL/pgSQL has another word for that.
  return `BEGIN ${body.map((sql) => `${sql.replace(/^SELECT\b/, 'PERFORM')};`).join(' ')} END`;
}

function makeProcedure(body: readonly string[], number: number, dialect: Dialect): readonly string[] {
  const name = `burst_${number}`;
  if (dialect === 'postgres')
    return [`CREATE OR REPLACE PROCEDURE ${name}() LANGUAGE plpgsql AS $$ ${plpgsql(body)} $$`];
  // A statement that fails may leave the transaction open, with what came before it.
  const handler = 'DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;';
  const statements = body.map((sql) =>
    isWrite(sql) ? `${sql};` : `SELECT COUNT(*) INTO @n FROM (${sql}) AS isolde_read;`,
  );
  return [
    `DROP PROCEDURE IF EXISTS ${name}`,
    `CREATE PROCEDURE ${name}() BEGIN ${handler} START TRANSACTION; ${statements.join(' ')} COMMIT; END`,
  ];
}
