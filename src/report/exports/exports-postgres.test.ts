import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseScript } from '../../cases/index.js';
import { verifyMechanism } from '../../check/mechanism/index.js';
import { findContract } from '../../contracts/index.js';
import { runScheduled } from '../../execute/index.js';
import { resultText } from '../../histories/index.js';
import { probeCases } from '../../probe/index.js';
import { openTarget, type Scratch, type Target } from '../../targets/index.js';
import { describePostgres, startServer, urlOf } from '../../targets/postgres/postgres-lab.case.js';
import type { Bug } from '../bug.js';
import { findBug, findGraphBug } from '../found-bug.case.js';
import { exportForms } from './index.js';
import {
  answersOf,
  caseInForm,
  exported,
  findProgram,
  findTester,
  nastyCase,
  nastyTexts,
  recordRun,
  runNodeScript,
  runProgram,
} from './run-export.case.js';

const enginesRequired = process.env.ISOLDE_REQUIRE_ENGINES === '1';

const tester = findTester();

/** Debian's postgresql-client; the npm package of the server has none. */
const client = findProgram('psql');

describePostgres('exports of bugs in PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  let url: string;
  let faulty: Target;
  let scratch: Scratch;
  beforeAll(async () => {
    server = await startServer();
    url = urlOf(server);
    faulty = await openTarget(`${url}?fault=missed-own-write`);
    scratch = await faulty.createScratch();
  });
  afterAll(async () => {
    await faulty?.close();
    await server?.stop();
  });

  it('the spec of a faulty engine, read back, shows the fault again on that engine and not on a sound one', async () => {
    const scheduled = probeCases.find(({ id }) => id === 'own-write')!;
    const bug = await findBug({ target: faulty, scratch, scheduled, level: 'repeatable read' });
    expect(bug.finding.kind).toBe('own-write-missed');
    const again = parseScript(exported(bug, 'repro.spec'), { file: 'repro.spec' });
    const contract = findContract('postgres:repeatable-read')!;
    const kinds = async (target: Target, where: Scratch) =>
      verifyMechanism(
        await runScheduled(where, again, { target, level: 'repeatable read' }),
        contract,
      ).findings.map(({ kind }) => kind);
    expect(await kinds(faulty, scratch)).toContain('own-write-missed');
    const sound = await openTarget(url);
    try {
      expect(await kinds(sound, await sound.createScratch())).toEqual([]);
    } finally {
      await sound.close();
    }
    const { code, out } = await runNodeScript(bug, url);
    expect(out).toContain('The bug does not show');
    expect(code).toBe(0);
  });

  it.skipIf(client === undefined)(
    `repro.sql is read by psql${client === undefined ? ' (it is not installed)' : ''}`,
    async () => {
      const sound = await openTarget(url);
      try {
        const script = exported(await writeSkew(sound), 'repro.sql');
        // As whoever tries it would: in a schema of its own.
        const input = `CREATE SCHEMA client; SET search_path = client;\n${script}\nDROP SCHEMA client CASCADE;\n`;
        // Debian's psql is a script that complains of a language that is not installed.
        const env = { LANG: 'C', LC_ALL: 'C' };
        const { code, out, err } = await runProgram(client!, ['-X', '-q', '-d', url], { input, env });
        expect(err.replaceAll(/^(?:WARNING|NOTICE|DETAIL): .*$/gm, '').trim()).toBe('');
        expect(code, out).toBe(0);
        // Both reads of both rows.
        expect(out.match(/\(2 rows\)/g)?.length).toBeGreaterThan(1);
      } finally {
        await sound.close();
      }
    },
  );

  it('the stand-alone script and the bug form show write skew at REPEATABLE READ, and the script none at SERIALIZABLE', async () => {
    const sound = await openTarget(url);
    try {
      const bug = await writeSkew(sound);
      const { code, out, err } = await runNodeScript(bug, url);
      expect({ code, err }, out).toEqual({ code: 1, err: '' });
      const form = await runScheduled(await sound.createScratch(), caseInForm(bug), {
        target: sound,
        level: 'repeatable read',
      });
      // Steps for somebody else's sessions name the level that a plain BEGIN had.
      const named = answersOf(bug.history).map((line) =>
        line.replace(/: BEGIN$/, ': BEGIN ISOLATION LEVEL REPEATABLE READ'),
      );
      expect(answersOf(form)).toEqual(named);
      const text = exported(bug, 'repro.mjs').replaceAll(/repeatable read/gi, 'serializable');
      expect(text).toContain('BEGIN ISOLATION LEVEL serializable');
      const stricter: Bug = {
        ...bug,
        level: 'serializable',
        history: {
          ...bug.history,
          operations: bug.history.operations.map((operation) =>
            operation.kind === 'begin'
              ? { ...operation, sql: 'BEGIN ISOLATION LEVEL SERIALIZABLE' }
              : operation,
          ),
        },
      };
      expect((await runNodeScript(stricter, url)).code).toBe(0);
    } finally {
      await sound.close();
    }
  });

  it.skipIf(tester === undefined && !enginesRequired)(
    `PostgreSQL’s isolationtester runs the spec and gets the same rows${tester === undefined ? ' (isolationtester not found)' : ''}`,
    async () => {
      const sound = await openTarget(url);
      try {
        const bug = await writeSkew(sound);
        const spec = exported(bug, 'repro.spec');
        const { out, err } = await runProgram(tester!, [url], { input: spec });
        expect(err).not.toMatch(/error/i);
        expect(out).toContain('Parsed test spec with 3 sessions');
        expect(out).not.toMatch(/ERROR|failed/);
        expect(rowsOf(out)).toEqual(
          bug.history.operations
            .filter(({ kind }) => kind === 'select')
            .map((operation) => resultText(operation)),
        );
      } finally {
        await sound.close();
      }
    },
  );

  it.skipIf(tester === undefined && !enginesRequired)(
    'nasty texts come back as they were through isolationtester, the script and Node',
    async () => {
      const sound = await openTarget(url);
      try {
        const where = await sound.createScratch();
        const recorded = await recordRun(sound, where, nastyCase('postgres'), 'repeatable read');
        const expected = [nastyTexts[0]!, nastyTexts[0]!, ...nastyTexts.slice(2)];
        const { out } = await runProgram(tester ?? 'isolationtester', [url], {
          input: exported(recorded, 'repro.spec'),
        });
        const printed = [...out.matchAll(/^ *(\d+)\|(.*)$/gm)].map(([, , text]) => text!.trimEnd());
        expect(printed).toEqual(expected);
        const again = parseScript(exported(recorded, 'repro.sql'), {
          file: 'repro.sql',
          dialect: 'postgres',
        });
        const history = await runScheduled(where, again, { target: sound });
        expect(history.operations.flatMap(({ rows = [] }) => rows)).toEqual(
          expected.map((text, id) => [id, text]),
        );
        const { code, err } = await runNodeScript(recorded, url);
        expect({ code, err }).toEqual({ code: 1, err: '' });
        const text = "CREATE TABLE b (k BYTEA);\nINSERT INTO b VALUES ('\\x00ff0a');\nT1: SELECT k FROM b;";
        const bytes = parseScript(text, { file: 'bytes', dialect: 'postgres' });
        expect((await runNodeScript(await recordRun(sound, where, bytes), url)).code).toBe(1);
      } finally {
        await sound.close();
      }
    },
  );

  it.skipIf(tester === undefined && !enginesRequired)(
    'isolationtester ends even when a session never ends its transaction',
    async () => {
      const sound = await openTarget(url);
      try {
        const bug = await writeSkew(sound);
        const unended: Bug = {
          ...bug,
          case: {
            ...bug.case,
            sessions: bug.case.sessions.map((session) => ({
              ...session,
              statements: session.statements.filter((sql) => sql !== 'COMMIT'),
            })),
          },
          schedule: {
            batches: bug.schedule.batches.filter((batch) => {
              const [session, position] = batch[0]!;
              return bug.case.sessions[session]!.statements[position] !== 'COMMIT';
            }),
          },
        };
        const { code, out } = await runProgram(tester!, [url], { input: exported(unended, 'repro.spec') });
        expect(code).toBe(0);
        expect(rowsOf(out)).toHaveLength(3);
      } finally {
        await sound.close();
      }
    },
  );

  it('a statement with a brace has no spec, and the reason says so', async () => {
    const sound = await openTarget(url);
    try {
      const bug = await writeSkew(sound);
      const braced = { ...bug, case: { ...bug.case, setup: [...bug.case.setup, `SELECT '{"a": 1}'`] } };
      const spec = exportForms.find(({ name }) => name === 'isolationtester')!;
      expect(spec.unfit(bug)).toBeUndefined();
      expect(spec.unfit(braced)).toContain('closing brace');
    } finally {
      await sound.close();
    }
  });
});

function writeSkew(target: Target): Promise<Bug> {
  const { case: program, schedule } = probeCases.find(({ id }) => id === 'write-skew')!;
  return findGraphBug(
    target,
    { case: program, schedule },
    { contract: 'adya:PL-3', level: 'repeatable read', kind: 'write-skew' },
  );
}

/** The results in isolationtester's output, written as ours are. */
function rowsOf(out: string): string[] {
  return [...out.matchAll(/^-+(?:\+-+)+\n((?:.*\n)*?)\(\d+ rows?\)/gm)].map(([, body]) => {
    const lines = body!.trim().split('\n');
    return `→ ${lines
      .map(
        (line) =>
          `(${line
            .split('|')
            .map((cell) => cell.trim())
            .join(', ')})`,
      )
      .join(' ')}`;
  });
}
