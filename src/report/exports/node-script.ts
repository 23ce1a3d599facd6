/**
 * A stand-alone Node script: needs only the engine's driver, sends the statements in order and compares the answers that
 * show the bug. Exit code 1: the bug shows; 0: it does not; 125: it could not be run, or this script cannot tell. These are the
 * codes that `git bisect run` takes for bad, good and skip.
 *
 * Equal answers show the bug only where answers are what its oracle judges. A lock that is kept now changes no answer but makes
 * a statement wait, so that counts as another answer; and row versions, which only instrumented runs see, are not in the
 * answers at all: of such a bug the script can say that it is gone, and otherwise who decides. Which of two writes came later shows
 * where the later one waited for the other, so there it must wait again.
 *
 * A statement that waited when the bug was confirmed gets a moment to begin waiting, then the next is sent; any other is
 * waited for, within a limit, so that an engine that blocks where it did not before cannot hang the script.
 */
import { findOracle } from '../../check/index.js';
import { showValue } from '../../sql/index.js';
import { findDeclaration, type ReproDriver } from '../../targets/index.js';
import { oneLine } from '../../visible.js';
import type { Bug } from '../bug.js';
import { closingDamage } from '../closing-reads.js';
import { compareAnswers } from '../comparison.js';
import type { ExportForm } from './export.js';
import { exitCodesText, scriptOf } from './standalone.js';
import { levelOf, type ReplayStep, replayBatches } from './steps.js';

export const nodeExport: ExportForm = {
  name: 'node',
  unfit: ({ target }) =>
    reproDriverOf(target.name) === undefined ? `there is no Node driver for ${target.name}` : undefined,
  files: (bug) => [{ name: scriptOf(bug)!.file, text: printNodeScript(bug) }],
};

function reproDriverOf(name: string): ReproDriver | undefined {
  return findDeclaration(name)?.reproDriver;
}

function printNodeScript(bug: Bug): string {
  const driver = reproDriverOf(bug.target.name)!;
  const { needs, command } = scriptOf(bug)!;
  const wrong = compareAnswers(bug).map(
    ({ transaction, statement, actual, expected }) =>
      `${transaction}: ${statement}: got ${actual}; expected ${expected}`,
  );
  const later = laterWrites(bug);
  const data = {
    setup: bug.case.setup,
    sessions: bug.case.sessions.map(({ name }, session) => ({ name, level: levelOf(bug, session) })),
    batches: replayBatches(bug).map((batch) => batch.map((step) => stepData(step, later))),
    settings: { journal_mode: 'wal', ...chosen(bug.target.settings) },
    answersDecide: answersDecide(bug),
  };
  const head = [
    `// ${oneLine(bug.title)}`,
    ...wrong.map((text) => `//   ${oneLine(text)}`),
    `// Needs Node 20 and: ${needs}`,
    `// Run: ${command}`,
    `// ${exitCodesText}`,
  ];
  return `${head.join('\n')}
${driver.code}

const { setup, sessions, batches, settings, answersDecide } = ${toLiteral(data)};
${runner}`;
}

/** Settings that scripts set again. */
function chosen(settings: Readonly<Record<string, string>> = {}): object {
  const names = ['journal_mode', 'hsqldb.tx'];
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.includes(name)));
}

/** Whether what shows the bug is in the answers of reads: then the same answers are the same bug. */
function answersDecide({ finding, history }: Bug): boolean {
  const { oracle, cycle, versions = [] } = finding;
  const isTraced = findOracle(oracle)?.tracesVersions === true;
  if (!isTraced || closingDamage({ finding, history }).length > 0) return true;
  const reads = new Set(history.operations.flatMap(({ index, kind }) => (kind === 'select' ? [index] : [])));
  const answers = (index: number | undefined) => index !== undefined && reads.has(index);
  if (cycle === undefined)
    return versions.length > 0 && versions.every(({ operation }) => answers(operation));
  const later = laterWrites({ finding, history });
  return cycle.every(({ kind, fromOperation, toOperation }) => {
    if (kind === 'wr') return answers(toOperation);
    if (kind === 'ww') return toOperation !== undefined && later.has(toOperation);
    return (kind === 'rw' || kind === 'predicate-rw') && answers(fromOperation);
  });
}

/** The writes of a cycle that waited, and so came after the write they depend on. */
function laterWrites({ finding, history }: Pick<Bug, 'finding' | 'history'>): ReadonlySet<number> {
  const after = new Set(
    (finding.cycle ?? []).flatMap((edge) => (edge.kind === 'ww' ? edge.toOperation : [])),
  );
  return new Set(
    history.operations.flatMap(({ index, blocked }) => (blocked === true && after.has(index) ? index : [])),
  );
}

function stepData({ session, sql, operation, witness }: ReplayStep, later: ReadonlySet<number>): object {
  const writes = ['insert', 'update', 'delete', 'replace', 'merge'].includes(operation.kind);
  const { error, rows, columns, matched, ends } = operation;
  const expect = {
    error: error !== undefined,
    ...(operation.blocked === true ? { waits: later.has(operation.index) ? 'must' : 'may' } : {}),
    ...(rows !== undefined && (columns?.length ?? 0) > 0 && !writes
      ? { rows: rows.map((row) => row.map((value) => (value === null ? null : showValue(value)))) }
      : {}),
    ...(writes && matched !== undefined ? { count: matched } : {}),
    // A COMMIT that rolls back may look like success: PostgreSQL answers ROLLBACK.
    ...(operation.kind === 'commit' ? { commits: ends === 'commit' } : {}),
  };
  return {
    session,
    sql,
    ...(operation.blocked === true ? { waits: true } : {}),
    ...(witness ? { expect } : {}),
  };
}

/** Data as JavaScript: JSON, which has been a part of the language since 2019. */
function toLiteral(data: object): string {
  return JSON.stringify(data, null, 2).replaceAll(
    /[\u2028\u2029\u007f-\u009f]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const runner = `
function text(value) {
  if (value === null || value === undefined) return null;
  const bytes = value instanceof Uint8Array ? value : value.bytes;
  return bytes instanceof Uint8Array ? '0x' + Buffer.from(bytes).toString('hex') : String(value);
}

function sameCell(expected, got) {
  if (expected === null || got === null) return expected === got;
  if (expected === got) return true;
  if (/^0x([0-9a-f]{2})*$/.test(expected)) {
    return got === '\\\\x' + expected.slice(2) || got === Buffer.from(expected.slice(2), 'hex').toString('utf8');
  }
  if (expected === 'true' || expected === 'false') return ['t', '1', 'true'].includes(got) === (expected === 'true');
  if (/^-?[0-9.]+(e[+-]?[0-9]+)?$/i.test(expected) && Number(expected) === Number(got)) return true;
  return expected.replace(/\\+00$/, '') === got.replace(/\\+00$/, '');
}

/** Rows are compared as a bag: their order is no promise. */
function sameRows(expected, got) {
  if (got === undefined || expected.length !== got.length) return false;
  const left = [...got];
  return expected.every((row) => {
    const at = left.findIndex((other) => row.every((cell, i) => sameCell(cell, other[i] ?? null)));
    if (at < 0) return false;
    left.splice(at, 1);
    return true;
  });
}

function isAsSeen(expect, answer, hasWaited) {
  if (answer === undefined || (hasWaited ? expect.waits === undefined : expect.waits === 'must')) return false;
  if (expect.error || answer.error !== undefined) return expect.error && answer.error !== undefined;
  if (expect.commits === true && answer.command === 'ROLLBACK') return false;
  if (expect.rows !== undefined && !sameRows(expect.rows, answer.rows)) return false;
  return expect.count === undefined || answer.count === undefined || Number(answer.count) === expect.count;
}

function show(answer) {
  if (answer === undefined) return 'no answer';
  if (answer.error !== undefined) return 'error: ' + answer.error;
  if (answer.rows !== undefined && answer.rows.length > 0) return answer.rows.map((row) => '(' + row.join(', ') + ')').join(' ');
  return answer.rows !== undefined && answer.count === undefined ? 'no rows' : 'ok' + (answer.count === undefined ? '' : ', ' + answer.count + ' rows');
}

/** Waits for the work, but no longer than that. */
async function within(ms, work) {
  let timer;
  await Promise.race([work, new Promise((resolve) => { timer = setTimeout(resolve, ms); })]);
  clearTimeout(timer);
}

async function main() {
  const database = await open();
  try {
    const first = await database.session(sessions[0]?.level ?? 'read committed');
    for (const sql of setup) await first.run(sql);
    const opened = [];
    for (const { level } of sessions) opened.push(await database.session(level));
    const busy = opened.map(() => Promise.resolve());
    const answers = new Map();
    const waited = new Set();
    for (const batch of batches) {
      const sent = batch.map((step) => {
        busy[step.session] = busy[step.session].then(async () => {
          let answer;
          try {
            answer = await opened[step.session].run(step.sql);
          } catch (error) {
            answer = { error: String(error?.message ?? error) };
          }
          answers.set(step, answer);
          console.log(sessions[step.session].name + ': ' + step.sql + '  --> ' + show(answer));
        });
        return busy[step.session];
      });
      await within(batch.some((step) => step.waits) ? 1000 : 10000, Promise.all(sent));
      for (const step of batch) if (!answers.has(step)) waited.add(step);
    }
    await within(30000, Promise.all(busy));
    const witnesses = batches.flat().filter((step) => step.expect !== undefined);
    const differing = witnesses.filter((step) => !isAsSeen(step.expect, answers.get(step), waited.has(step)));
    if (differing.length === 0 && !answersDecide) {
      console.log('Every answer is as it was when the bug was confirmed. The bug shows in row versions, which answers do not tell: isolde bugs rerun decides.');
      return 125;
    }
    if (differing.length === 0) {
      console.log('The bug shows: every answer is as it was when the bug was confirmed.');
      return 1;
    }
    for (const step of differing) console.log('Differs: ' + sessions[step.session].name + ': ' + step.sql + (waited.has(step) ? ' (it waits)' : ''));
    console.log('The bug does not show.');
    return 0;
  } finally {
    await database.close();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error('could not be run: ' + String(error?.message ?? error));
  process.exitCode = 125;
}
`;
