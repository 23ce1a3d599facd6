/**
 * MySQL's and MariaDB's `mtr`: a `.test`, and the `.result` that the server gives today. The test passes while the bug is
 * alive; who fixes it records the result anew.
 *
 * A statement that waited is sent with `send` and fetched with `reap` after the statement that let it go. Rows without
 * ORDER BY are sorted, for their order is no promise.
 */
import { interleave, type Operation } from '../../histories/index.js';
import { showValue, type Value } from '../../sql/index.js';
import { findDeclaration } from '../../targets/index.js';
import { oneLine } from '../../visible.js';
import type { Bug } from '../bug.js';
import { compareAnswers } from '../comparison.js';
import type { ExportForm } from './export.js';
import { createdTables, levelOf, plainNames, replayBatches } from './steps.js';

export const mtrExport: ExportForm = {
  name: 'mtr',
  unfit: (bug) => {
    if (findDeclaration(bug.target.name)?.testFormat !== 'mtr') return 'mtr is MySQL’s and MariaDB’s';
    const statements = [
      ...bug.case.setup,
      ...replayBatches(bug)
        .flat()
        .map(({ sql }) => sql),
    ];
    // The test language cuts at every semicolon, and a line break in a quote would need its own delimiter.
    if (statements.some((sql) => /[;\n\r\0]/.test(sql))) {
      return 'a statement holds a semicolon or a line break, which ends a statement of a test';
    }
    const answers = replayBatches(bug).flatMap((batch) =>
      batch.flatMap(({ operation }) => operation.rows ?? []),
    );
    if (answers.some((row) => row.some(breaksLines)))
      return 'an answer holds bytes or a line break, which a result file cannot show';
    return undefined;
  },
  files: (bug) => {
    const { test, result } = printTest(bug);
    return [
      { name: 'repro.test', text: test },
      { name: 'repro.result', text: result },
    ];
  },
};

/** The test client prints values as they are, a row to a line, columns by tabs. */
function breaksLines(value: Value): boolean {
  if (typeof value === 'string') return /\p{Cc}/u.test(value);
  return typeof value === 'object' && value !== null && 'bytes' in value;
}

class TestWriter {
  test = '';
  result = '';
  #connection = '';

  command(line: string): void {
    this.test += `${line}\n`;
  }

  switchTo(name: string): void {
    if (name === this.#connection) return;
    this.#connection = name;
    this.command(`connection ${name};`);
    this.command(`--echo # ${name}`);
    this.result += `# ${name}\n`;
  }

  send(sql: string): void {
    this.command(`send ${sql};`);
    this.result += `${sql};\n`;
  }

  reap(operation: Operation, sql: string): void {
    this.#expect(operation, sql);
    this.command('reap;');
    this.#answer(operation, sql);
  }

  statement(sql: string, operation?: Operation): void {
    if (operation !== undefined) this.#expect(operation, sql);
    this.command(`${sql};`);
    this.result += `${sql};\n`;
    if (operation !== undefined) this.#answer(operation, sql);
  }

  #expect(operation: Operation, sql: string): void {
    if (operation.error !== undefined) this.command(`--error ${errorNumber(operation)}`);
    else if (isUnsorted(operation, sql)) this.command('--sorted_result');
  }

  #answer(operation: Operation, sql: string): void {
    const { error, columns = [], rows } = operation;
    if (error !== undefined) {
      const number = errorNumber(operation);
      const state = Object.hasOwn(sqlStates, number) ? sqlStates[number]! : 'HY000';
      this.result += `ERROR ${state}: ${error.message}\n`;
    } else if (rows !== undefined && columns.length > 0) {
      const lines = rows.map((row) => `${row.map(showValue).join('\t')}\n`);
      if (isUnsorted(operation, sql)) lines.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      this.result += `${columns.join('\t')}\n${lines.join('')}`;
    }
  }
}

function printTest(bug: Bug): { test: string; result: string } {
  const names = plainNames(bug.case.sessions.map(({ name }) => name));
  const writer = new TestWriter();
  writer.command(`# ${oneLine(bug.title)}`);
  writer.command('# The result file holds what the server answers today.');
  for (const { statement, transaction, actual, expected } of compareAnswers(bug)) {
    writer.command(`# ${oneLine(`${transaction}: ${statement}`)}`);
    writer.command(`#   ${oneLine(`got ${actual}; expected ${expected}`)}`);
  }
  writer.command('--disable_connect_log');
  for (const sql of bug.case.setup) writer.statement(withEngine(sql));
  names.forEach((name, session) => {
    writer.command(`connect (${name},localhost,root,,);`);
    writer.command('--disable_query_log');
    writer.command(`SET SESSION TRANSACTION ISOLATION LEVEL ${levelOf(bug, session).toUpperCase()};`);
    writer.command('--enable_query_log');
  });
  const texts = new Map(
    replayBatches(bug).flatMap((batch) => batch.map(({ operation, sql }) => [operation, sql])),
  );
  for (const { operation, part } of interleave(bug.history)) {
    const sql = texts.get(operation);
    if (sql === undefined) continue;
    writer.switchTo(names[operation.session]!);
    if (part === 'sent') writer.send(sql);
    else if (part === 'answered') writer.reap(operation, sql);
    else writer.statement(sql, operation);
  }
  writer.command('connection default;');
  for (const name of names) writer.command(`disconnect ${name};`);
  for (const table of createdTables(bug.case.setup)) writer.statement(`DROP TABLE ${table}`);
  return { test: writer.test, result: writer.result };
}

/** Old servers' tests may run with another engine as the default. */
function withEngine(sql: string): string {
  const table =
    /^\s*CREATE\s+TABLE\b/i.test(sql) && !/\bENGINE\b|\bSELECT\b/i.test(sql) && sql.trim().endsWith(')');
  return table ? `${sql} ENGINE=InnoDB` : sql;
}

function isUnsorted(operation: Operation, sql: string): boolean {
  return (operation.rows?.length ?? 0) > 0 && !/\border\s+by\b/i.test(sql);
}

const sqlStates: Readonly<Record<string, string>> = {
  1213: '40001',
  1062: '23000',
  1451: '23000',
  1452: '23000',
};

const numbersByClass: Readonly<Record<string, string>> = {
  deadlock: '1213',
  'lock-timeout': '1205',
  serialization: '1020',
  'duplicate-key': '1062',
};

function errorNumber({ error }: Operation): string {
  const code = error?.code ?? '';
  if (/^\d{4}$/.test(code) || /^ER_\w+$/.test(code)) return code;
  return numbersByClass[error?.class ?? ''] ?? '0';
}
