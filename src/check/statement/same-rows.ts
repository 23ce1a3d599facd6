/**
 * A statement on the very rows that it had before it inside its transaction, without a transaction.
 *
 * A statement that failed has no place in the graph: it did nothing, and where an error dooms the transaction nothing around it counts
 * either. But the reads in front of it show every row of every table that it uses. So the tables are filled with just these rows,
 * and the statement is executed alone: what works there should have worked in its transaction.
 */
import { type Case, type ScheduledCase, serialOrder } from '../../cases/index.js';
import { nameKey, printLiteral, printName, type Row } from '../../sql/index.js';
import { listColumn, refKey, ridColumn } from '../instrument/marks.js';
import type { CasePlan } from './statement-plan.js';
import type { StatementRun } from './statement-runs.js';

/** The program, or why the rows cannot be written down. */
export function onSameRows({ ref, operation, found }: StatementRun, plan: CasePlan): ScheduledCase | string {
  const { known, setup, program } = plan;
  if ([...setup.tables.values()].some(({ parents }) => parents.length > 0))
    return 'rows of tables with foreign keys cannot be put back one table after another';
  const filling: string[] = [];
  for (const { table, use } of known.get(refKey(ref))!.tables) {
    const rows = found.get(table);
    // A plain INSERT does not look at the rows that are there.
    if (rows === undefined && use !== 'inserted') return `the rows of ${table} were not read`;
    const filled = fillTable(table, rows ?? [], plan);
    if (filled === undefined) return `the database numbers the rows of ${table} by itself`;
    filling.push(...filled);
  }
  return alone({ ...program.case, setup: [...program.case.setup, ...filling] }, [operation.sql!]);
}

/** Statements one after another in one session, without transactions. */
export function alone(program: Case, statements: readonly string[]): ScheduledCase {
  const single = { ...program, sessions: [{ name: 'alone', statements }] };
  return { case: single, schedule: serialOrder(single) };
}

function fillTable(name: string, rows: readonly Row[], { setup, dialect }: CasePlan): string[] | undefined {
  const { auto, columns, generated } = setup.tables.get(nameKey(name, dialect))!;
  // Elsewhere a column may be declared so that nobody else may number it.
  if (auto.length > 0 && dialect !== 'sqlite' && dialect !== 'mysql') return undefined;
  const all = [...columns, ridColumn, listColumn];
  const kept = all.flatMap((column, i) => (generated.has(column) ? [] : [i]));
  const names = kept.map((i) => printName(all[i]!, dialect)).join(', ');
  const tuples = rows.map((row) => `(${kept.map((i) => printLiteral(row[i]!, dialect)).join(', ')})`);
  const target = printName(name, dialect);
  return [
    `DELETE FROM ${target}`,
    ...(rows.length === 0 ? [] : [`INSERT INTO ${target} (${names}) VALUES ${tuples.join(', ')}`]),
  ];
}
