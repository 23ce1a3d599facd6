/**
 * `*.case.json`: a case, and the schedule for it if it has one, as the file programs exchange.
 * People write scripts (`script.ts`); both hold the same data.
 *
 * Printing is stable and made for diffs: fields in a fixed order, one statement a line, one batch a line.
 */
import { levels } from '../contracts/index.js';
import { checkFormat, type JsonNode, parseJson } from '../json.js';
import { type Dialect, normalizeSql } from '../sql/index.js';
import type { Case, CaseSession, StatementRef } from './case.js';
import { type OrderReason, type Schedule, type ScheduledCase, scheduleProblem } from './schedule.js';

const caseFormat = 'isolde-case';
const caseVersion = 1;

/** The SQL dialects a case can name. */
export const caseDialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** Reads and validates the text of a case file; SQL is normalised on the way in. */
export function parseCaseFile(text: string, file: string): ScheduledCase {
  const node = parseJson(text, file);
  checkFormat(node, caseFormat, caseVersion);
  node.object([
    'format',
    'version',
    'name',
    'description',
    'dialect',
    'level',
    'setup',
    'sessions',
    'schedule',
  ]);
  const description = node.maybe('description', (each) => each.text());
  const dialect = node.maybe('dialect', (each) => each.oneOf(caseDialects));
  const level = node.maybe('level', (each) => each.oneOf(levels));
  const program: Case = {
    name: node.at('name').text(),
    ...(description === undefined ? {} : { description }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(level === undefined ? {} : { level }),
    setup: readStatements(node.at('setup'), dialect),
    sessions: node
      .at('sessions')
      .items()
      .map((session) => readSession(session, dialect)),
  };
  checkNames(node.at('sessions'));
  const schedule = node.maybe('schedule', (each) => readSchedule(each, program));
  return schedule === undefined ? { case: program } : { case: program, schedule };
}

/** The text of a case file; `parseCaseFile` gives the same case back. */
export function printCaseFile({ case: program, schedule }: ScheduledCase): string {
  const fields: string[] = [
    `"format": "${caseFormat}"`,
    `"version": ${caseVersion}`,
    `"name": ${JSON.stringify(program.name)}`,
  ];
  if (program.description !== undefined) fields.push(`"description": ${JSON.stringify(program.description)}`);
  if (program.dialect !== undefined) fields.push(`"dialect": "${program.dialect}"`);
  if (program.level !== undefined) fields.push(`"level": "${program.level}"`);
  fields.push(`"setup": ${printList(program.setup, '  ')}`);
  const sessions = program.sessions.map(printSession);
  fields.push(
    sessions.length === 0 ? '"sessions": []' : `"sessions": [\n    ${sessions.join(',\n    ')}\n  ]`,
  );
  if (schedule !== undefined) fields.push(`"schedule": ${printSchedule(schedule)}`);
  return `{\n  ${fields.join(',\n  ')}\n}\n`;
}

function readSession(node: JsonNode, dialect: Dialect | undefined): CaseSession {
  node.object(['name', 'level', 'statements']);
  const level = node.maybe('level', (each) => each.oneOf(levels));
  return {
    name: node.at('name').text(),
    ...(level === undefined ? {} : { level }),
    statements: readStatements(node.at('statements'), dialect),
  };
}

function readStatements(node: JsonNode, dialect: Dialect | undefined): string[] {
  return node.items().map((each) => {
    const sql = normalizeSql(each.text(), dialect);
    return sql === '' ? each.fail('expected a statement, found none') : sql;
  });
}

function checkNames(node: JsonNode): void {
  const seen = new Set<unknown>();
  for (const session of node.items()) {
    const name = session.at('name');
    if (name.value === '') name.fail('a session must have a name');
    if (seen.has(name.value)) name.fail(`two sessions are named ${JSON.stringify(name.value)}`);
    seen.add(name.value);
  }
}

function readSchedule(node: JsonNode, program: Case): Schedule {
  node.object(['batches', 'reasons', 'cancelled', 'keepsHistory']);
  const batches = node
    .at('batches')
    .items()
    .map((batch) => batch.items().map(readRef));
  const reasons = node.maybe('reasons', (each) => each.items().map((reason) => readReason(reason, program)));
  const cancelled = node.maybe('cancelled', (each) => each.items().map((ref) => readStatement(ref, program)));
  const keepsHistory = node.maybe('keepsHistory', (each) =>
    each.value === true ? (true as const) : each.fail('expected true'),
  );
  const schedule = {
    ...{ batches, ...(reasons && { reasons }), ...(cancelled && { cancelled }) },
    ...(keepsHistory && { keepsHistory }),
  };
  const problem = scheduleProblem(program, schedule);
  if (problem !== undefined) node.at('batches').fail(problem);
  return schedule;
}

function readRef(node: JsonNode): StatementRef {
  const numbers = node.items();
  if (numbers.length !== 2) node.fail(`expected [session, position], found ${numbers.length} numbers`);
  return [numbers[0]!.count(), numbers[1]!.count()];
}

function readReason(node: JsonNode, program: Case): OrderReason {
  node.object(['before', 'after', 'why']);
  const ref = (name: string) => readStatement(node.at(name), program);
  return { before: ref('before'), after: ref('after'), why: node.at('why').text() };
}

/** A reference to a statement that the case has. */
function readStatement(node: JsonNode, program: Case): StatementRef {
  const [session, position] = readRef(node);
  if (program.sessions[session]?.statements[position] === undefined)
    node.fail(`there is no statement ${position} of session ${session}`);
  return [session, position];
}

function printSession(session: CaseSession): string {
  const level = session.level === undefined ? '' : `"level": "${session.level}", `;
  return `{ "name": ${JSON.stringify(session.name)}, ${level}"statements": ${printList(session.statements, '    ')} }`;
}

function printList(texts: readonly string[], indent: string): string {
  if (texts.length === 0) return '[]';
  const items = texts.map((text) => `${indent}  ${JSON.stringify(text)}`);
  return `[\n${items.join(',\n')}\n${indent}]`;
}

function printSchedule({ batches, reasons, cancelled, keepsHistory }: Schedule): string {
  const list = (lines: readonly string[]) =>
    lines.length === 0 ? '[]' : `[\n      ${lines.join(',\n      ')}\n    ]`;
  const fields = [`"batches": ${list(batches.map((batch) => JSON.stringify(batch)))}`];
  if (reasons !== undefined) {
    fields.push(
      `"reasons": ${list(reasons.map(({ before, after, why }) => JSON.stringify({ before, after, why })))}`,
    );
  }
  if (cancelled !== undefined)
    fields.push(`"cancelled": ${list(cancelled.map((ref) => JSON.stringify(ref)))}`);
  if (keepsHistory === true) fields.push('"keepsHistory": true');
  return `{\n    ${fields.join(',\n    ')}\n  }`;
}
