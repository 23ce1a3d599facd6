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
import { capabilitiesOf, oneRowOf } from '../../generate/index.js';
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
  /** Names of the program's parts that are left out. */
  readonly without?: readonly string[] | undefined;
}

/** What of a database decides about the text of a burst. */
export type BurstTarget = Pick<Target, 'name' | 'dialect'>;

/** A burst that would need more procedures than this is not sent as procedures. */
const mostProcedures = 16;

/** The programs in every form that a target has for them at a size; none of a program whose statements it lacks. */
export function burstsOf(
  programs: readonly BurstProgram[],
  target: BurstTarget & Pick<Target, 'features'>,
  size: BurstSize,
  forms: readonly BurstForm[] = burstForms,
): readonly Burst[] {
  const { features } = target;
  const lacks = lackedBy(target);
  const able = programs.filter(({ needs }) => needs === undefined || !lacks.has(needs));
  const offered: readonly BurstForm[] = ['statements', ...(features.oneRequest ?? [])];
  return offered
    .filter((form) => forms.includes(form))
    .flatMap((form) => able.map((program) => ({ program, form })))
    .filter(
      (burst) =>
        burst.form !== 'procedure' || bodies(burst, target, size, mostProcedures).size <= mostProcedures,
    );
}

const lackedBy = (target: BurstTarget) => new Set(capabilitiesOf(target).unsupported);

/** `serial`: all of it in one session, transaction by transaction. */
export function burstCase(burst: Burst, target: BurstTarget, size: BurstSize, serial: boolean): Case {
  const { program, form } = burst;
  const { dialect } = target;
  const { sessions, repeats } = size;
  const procedures = form === 'procedure' ? bodies(burst, target, size) : new Map<string, number>();
  const turns = turnsOf(burst, target, sessions);
  const of = (session: number, repeat: number) => {
    const statements = turns(session, repeat);
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
const isWrite = (sql: string) => /^(?:INSERT|UPDATE|DELETE|MERGE)\b/.test(sql);
const isBoundary = (sql: string) => /^(?:BEGIN|COMMIT|ROLLBACK)$/.test(sql);
const bodyOf = (statements: readonly string[]) => statements.filter((sql) => !isBoundary(sql));

/** The statements of a turn, without the parts that are left out. */
function turnsOf(
  { program, form, without = [] }: Burst,
  target: BurstTarget,
  sessions: number,
): (session: number, repeat: number) => readonly string[] {
  const capabilities = capabilitiesOf(target);
  const lacks = new Set(capabilities.unsupported);
  const oneRow = oneRowOf(capabilities);
  const { dialect } = target;
  const left = without.flatMap((part) => program.parts?.[part] ?? []);
  return (session, repeat) => {
    const tag = form === 'statements' ? 1 + repeat * sessions + session : 0;
    const whole = program.transaction({ session, repeat, tag, dialect, oneRow, lacks });
    const statements = whole.filter((sql) => !left.some((part) => part.test(sql)));
    return bodyOf(statements).length === 0 ? [] : statements;
  };
}

/** The distinct texts of writing transactions, numbered; no more of them are looked for than `most` and one. */
function bodies(
  burst: Burst,
  target: BurstTarget,
  { sessions, repeats }: BurstSize,
  most = Number.POSITIVE_INFINITY,
): ReadonlyMap<string, number> {
  const turns = turnsOf(burst, target, sessions);
  const numbered = new Map<string, number>();
  for (const repeat of range(repeats)) {
    for (const session of range(sessions)) {
      if (numbered.size > most) return numbered;
      const body = bodyOf(turns(session, repeat));
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
