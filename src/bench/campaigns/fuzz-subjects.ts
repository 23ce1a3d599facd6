/** What is fuzzed: everything that reads text of others, each with a few valid samples. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCaseFile, parseScript, printCaseFile, printScript } from '../../cases/index.js';
import { findCapabilities, generate, parseProfile } from '../../generate/index.js';
import { formatNames, formatSamples, readAnyHistory, readHistory } from '../../histories/index.js';
import { hunt, openShelf } from '../../hunt/index.js';
import {
  classifyStatement,
  type Dialect,
  normalizeSql,
  parseExpressionText,
  parseStatement,
  printExpression,
  printStatement,
  splitStatements,
  statementFeatures,
  tokenize,
} from '../../sql/index.js';
import { openStore } from '../../store/index.js';
import { openTarget } from '../../targets/index.js';
import { fuzzFiles, same } from './fuzz-files.js';
import type { FuzzSubject } from './fuzz-subject.js';
import { studioRequests } from './studio-requests.js';

const dialects: readonly Dialect[] = ['postgres', 'mysql', 'sqlite', 'duckdb'];

/** All subjects; they work in a folder of their own, which `close` removes. */
export async function fuzzSubjects(): Promise<{
  readonly subjects: readonly FuzzSubject[];
  readonly close: () => Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'isolde-fuzz-'));
  const cases = await sampleCases();
  const { place, bug } = await storeWithBug(folder);
  const studio = await studioRequests(folder, place, bug);
  const files = [...(await storeFiles(folder, place, bug)), ...(await fuzzFiles(folder, cases))];
  return {
    subjects: [...readers(folder), ...texts(cases), ...sql(cases), ...files, ...studio.subjects],
    close: async () => {
      await studio.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Readers of histories, told the format and not. */
function readers(folder: string): FuzzSubject[] {
  const file = join(folder, 'input');
  const all = Object.values(formatSamples);
  const own = formatNames.map(
    (format): FuzzSubject => ({
      name: `history-${format}`,
      samples: [formatSamples[format]],
      read: async (input, random) => {
        await writeFile(file, input);
        await readAnyHistory(file, random.chance(0.5) ? { format } : {});
      },
    }),
  );
  const stream: FuzzSubject = {
    name: 'history-stream',
    samples: [formatSamples.isolde],
    read: async (input) => {
      await writeFile(file, input);
      for await (const _ of (await readHistory(file)).operations);
    },
  };
  const any: FuzzSubject = {
    name: 'history-any',
    samples: all,
    read: async (input) => {
      await writeFile(file, input);
      await readAnyHistory(file);
    },
  };
  return [...own, stream, any];
}

/** Cases, scripts in all notations, profiles. What is read is printed and read again. */
function texts(cases: readonly ReturnType<typeof generate>[]): FuzzSubject[] {
  const profile = {
    format: 'isolde-profile',
    version: 1,
    name: 'p',
    rows: [1, 3],
    weights: { 'where.rid': 2 },
  };
  return [
    {
      name: 'case-file',
      samples: cases.map((each) => Buffer.from(printCaseFile(each))),
      read: async (input) => {
        const read = parseCaseFile(input.toString(), 'x.case.json');
        same(parseCaseFile(printCaseFile(read), 'printed'), read, 'a case file, printed');
      },
    },
    {
      name: 'script',
      samples: [
        ...cases.map((each) => Buffer.from(printScript(each))),
        ...notations.map((text) => Buffer.from(text)),
      ],
      read: async (input) => {
        const read = parseScript(input.toString(), { file: 'x.sql' });
        same(parseScript(printScript(read), { file: 'printed.sql' }), read, 'a script, printed');
      },
    },
    {
      name: 'profile',
      samples: [Buffer.from(JSON.stringify(profile))],
      read: async (input) => void parseProfile(input.toString(), 'x.json'),
    },
  ];
}

const notations = [
  'T1> BEGIN;\nT2> UPDATE t SET a = 1; -- blocked\nT1> COMMIT;\n',
  'setup { CREATE TABLE t (a int); }\nsession s1 { }\nstep a { SELECT 1; }\nsession s2\nstep b { UPDATE t SET a = 2; }\npermutation a b\n',
  'connect (con1,localhost,root,,);\nconnection con1;\nBEGIN;\nSELECT * FROM t;\ndisconnect con1;\n',
  'statement ok con1\nBEGIN\n\nquery I con2\nSELECT 1\n----\n1\n',
  'mysql> select 1;\n+---+\n| 1 |\n+---+\nsession 1: begin;\nsession 2: delete from t;\n',
];

/** The lexer, parser and printer, in a dialect drawn for each input. */
function sql(cases: readonly ReturnType<typeof generate>[]): FuzzSubject[] {
  const statements = cases.flatMap(({ case: { setup, sessions } }) => [
    ...setup,
    ...sessions.flatMap((session) => session.statements),
  ]);
  const samples = [...new Set([...statements, ...oddStatements])].map((text) => Buffer.from(text));
  return [
    {
      name: 'sql-statement',
      samples,
      read: async (input, random) => {
        const [text, dialect] = [input.toString(), random.pick(dialects)];
        const parsed = parseStatement(text, dialect);
        classifyStatement(text, dialect);
        statementFeatures(parsed);
        if (parsed.type === 'opaque') return;
        const printed = printStatement(parsed, dialect);
        same(
          printStatement(parseStatement(printed, dialect), dialect),
          printed,
          `${dialect}: a statement, printed`,
        );
      },
    },
    {
      name: 'sql-expression',
      samples: expressions.map((text) => Buffer.from(text)),
      read: async (input, random) => {
        const dialect = random.pick(dialects);
        const parsed = parseExpressionText(input.toString(), dialect);
        if (parsed === undefined) return;
        const printed = printExpression(parsed, dialect);
        const again = parseExpressionText(printed, dialect);
        same(
          again === undefined ? '' : printExpression(again, dialect),
          printed,
          `${dialect}: an expression, printed`,
        );
      },
    },
    {
      name: 'sql-tokens',
      samples,
      read: async (input, random) => {
        const [text, dialect] = [input.toString(), random.pick(dialects)];
        const joined = tokenize(text, dialect)
          .map((token) => token.text)
          .join('');
        same(joined, text, `${dialect}: tokens, joined`);
        splitStatements(text, dialect);
        const normal = normalizeSql(text, dialect);
        same(normalizeSql(normal, dialect), normal, `${dialect}: normal SQL, normalised`);
      },
    },
  ];
}

const expressions = [
  "a = 1 AND NOT (b IS NULL OR c LIKE 'x%' ESCAPE '!')",
  'CASE a WHEN 1 THEN -b ELSE coalesce(c, 2) * (d - 3) / 4 END',
  'x IN (1, 2, NULL) OR y NOT BETWEEN 1 AND (SELECT max(z) FROM t WHERE t.a = u.a)',
  "CAST(a AS DECIMAL(10, 2)) || 'b' || count(DISTINCT c)",
  "EXISTS (SELECT 1 FROM t) IS NOT TRUE AND DATE '2020-01-01' < now() - INTERVAL '1 day'",
  'a::int <> ALL (ARRAY[1, 2]) AND "q u".`b` <=> ?',
];

const oddStatements = [
  'CREATE TABLE t (a INT x(1) DEFAULT (1) CHECK (a > 0) REFERENCES u (b) ON DELETE CASCADE, PRIMARY KEY (a))',
  "INSERT INTO t (a, b) VALUES (1, 'x''y'), (-2, NULL) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING *",
  'WITH c AS (SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > 1) SELECT * FROM c JOIN t USING (a) ORDER BY 1 DESC LIMIT 3 FOR UPDATE SKIP LOCKED',
  "UPDATE `t` SET `a` = CASE WHEN a IN (SELECT 1) THEN E'\\n' ELSE $$x$$ END WHERE NOT EXISTS (SELECT 1) AND b BETWEEN 1 AND 2",
  "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (1, X'00ff')",
  'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
  'SAVEPOINT a; ROLLBACK TO SAVEPOINT a',
];

async function storeWithBug(folder: string): Promise<{ readonly place: string; readonly bug: string }> {
  const place = join(folder, 'store');
  const shelf = await openShelf(place);
  await hunt({ open: () => openTarget('duckdb:'), shelf, seed: 'demo', bugs: 1, forMs: 60_000 });
  await shelf.close();
  const store = await openStore(place);
  const [bug] = (await store.list()).bugs;
  if (bug === undefined) throw new Error('the hunt that makes a bug to fuzz found none');
  await store.ignore(bug.id, 'a reason');
  return { place, bug: bug.id };
}

/** Every file of a bug's folder and of the store, in a store that is read after each change. */
function storeFiles(folder: string, place: string, bug: string): Promise<FuzzSubject[]> {
  const names = ['bug.json', 'case.case.json', 'finding.json', 'confirmed.history.jsonl', 'runs.jsonl'];
  const inside = names.map((name) => join('bugs', bug, name));
  return Promise.all(
    [...inside, 'store.json', 'ignore.json'].map(async (name): Promise<FuzzSubject> => {
      const copy = join(folder, `store-${name.replaceAll(/[^a-z]+/g, '-')}`);
      await cp(place, copy, { recursive: true });
      return {
        name: `store-${name.split('/').pop()}`,
        samples: [await readFile(join(place, name))],
        read: async (input) => {
          await writeFile(join(copy, name), input);
          const store = await openStore(copy);
          await store.list();
          await store.ignored();
          await store.get(bug);
        },
      };
    }),
  );
}

async function sampleCases() {
  return dialects.flatMap((dialect) =>
    ['1', '2', '3'].map((seed) =>
      generate(seed, { capabilities: findCapabilities(dialect)!, profile: 'mixed' }),
    ),
  );
}
