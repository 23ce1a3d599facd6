/**
 * The table of transaction bugs that Pisco's authors published (87 columns, one row a report), read as facts: which report, where,
 * which versions, at which level, with which features. Its sentences are not kept.
 *
 * Repairs, by rule:
 *
 * 1. Rows without a summary are shifted: from the title on every text stands one column to the right, so status and versions
 *    are read there. Their flags are ten, in an order of their own: of these, seven agree with the words of the row’s own text
 *    wherever it has a script and are taken as START, ROLLBACK, FOR UPDATE, INSERT, UPDATE, DELETE and ALTER; the other three
 *    (and everything the row lacks) come from its text by the rules for pasted reports.
 * 2. A row whose address has another number than its id was copied from another row: the address is made from the id, the
 *    versions are dropped.
 * 3. Of several rows with one id the last one stays, with the flags of all of them.
 * 4. Levels: `ALL` and `unspecified` name none, `REAPEATED READ` is a slip of the pen. Yes is `yes` in any case.
 *
 * Nothing of a row’s label (its id) goes into its features.
 */
import { type Level, levels, parseLevel } from '../contracts/index.js';
import { FileError } from '../errors.js';
import { parseCsv } from './csv.js';
import { idOfName, type KnownEntry, type Status, type Symptom } from './entry.js';
import { type Features, type Flag, type Mode, statementFlags } from './features.js';
import { textFeatures } from './text-features.js';

const columns = {
  engine: 0,
  number: 1,
  url: 2,
  summary: 3,
  description: 4,
  status: 5,
  affected: 6,
  fixed: 7,
  text: 11,
  level: 12,
  mode: 13,
  transactions: 20,
  firstFlag: 31,
  cluster: 59,
  key: 60,
  index: 61,
  constraint: 65,
  partition: 66,
  symptom: 68,
  aspect: 69,
} as const;
/** Of the ten flags of a shifted row; undefined: not known what it means. */
const shiftedFlags: readonly (Flag | undefined)[] = [
  undefined,
  'start-transaction',
  'rollback',
  undefined,
  undefined,
  'select-for-update',
  'insert',
  'update',
  'delete',
  'alter',
];
const engines: Readonly<
  Record<string, { readonly engine: string; readonly prefix: string; readonly url?: string }>
> = {
  MySQL: { engine: 'mysql', prefix: 'MySQL #', url: 'https://bugs.mysql.com/bug.php?id=' },
  MariaDB: { engine: 'mariadb', prefix: 'MDEV-', url: 'https://jira.mariadb.org/browse/' },
  TiDB: { engine: 'tidb', prefix: 'TiDB #', url: 'https://github.com/pingcap/tidb/issues/' },
  CockroachDB: {
    engine: 'cockroach',
    prefix: 'CockroachDB #',
    url: 'https://github.com/cockroachdb/cockroach/issues/',
  },
  PostgreSQL: { engine: 'postgres', prefix: 'PostgreSQL #' },
  SQLite: { engine: 'sqlite', prefix: 'SQLite ' },
};

/** Where reports of an engine are filed, by what the study calls it. */
export function placeOfStudy(engine: string): (typeof engines)[string] | undefined {
  return engines[engine];
}

/** Whether a CSV is this table. */
export function isStudy(text: string): boolean {
  return /^\ufeff?Database, ?Bug ID,/.test(text);
}

export function readStudy(text: string, file: string): KnownEntry[] {
  const [head, ...rows] = parseCsv(text, file);
  if (head === undefined || !isStudy(text) || head.fields.length <= columns.aspect)
    throw new FileError(
      { file, line: 1 },
      'this is not the table of transaction bugs: its columns are others',
    );
  const entries = new Map<string, KnownEntry>();
  for (const { fields, line } of rows) {
    const entry = readRow(fields, file, line);
    const before = entries.get(entry.id);
    const has = [...new Set([...(before?.features.has ?? []), ...entry.features.has])].sort();
    entries.set(entry.id, { ...entry, features: { ...entry.features, has } });
  }
  return [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function readRow(fields: readonly string[], file: string, line: number): KnownEntry {
  const at = (column: number) => (fields[column] ?? '').trim();
  const place = placeOfStudy(at(columns.engine));
  if (place === undefined)
    throw new FileError({ file, line, field: 'Database' }, `no engine is called "${at(columns.engine)}"`);
  const shift = at(columns.summary) === '' ? 1 : 0;
  const number = at(columns.number).replace(/^MDEV-/, '');
  const name = /^[A-Z]+-/.test(number) ? number : `${place.prefix}${number}`;
  const own =
    place.url === undefined ? undefined : `${place.url}${place.engine === 'mariadb' ? name : number}`;
  const listed = at(columns.url).replace(/&.*$/, '');
  const copied = own !== undefined && !listed.endsWith(number);
  const url = copied || own !== undefined ? own : listed;
  const features = shift === 1 ? shiftedFeatures(fields) : plainFeatures(fields);
  const title = at(columns.summary + shift);
  const symptom = shift === 1 ? symptomOfTitle(title) : symptomOf(at(columns.symptom), at(columns.aspect));
  return {
    id: idOfName(name.replace('#', '')),
    name,
    engine: place.engine,
    ...(url !== undefined && /^https?:\/\/\S+$/.test(url) && { url }),
    status: statusOf(at(columns.status + shift)),
    symptom,
    about: describe(symptom, features),
    affected: copied ? [] : versionsOf(at(columns.affected + shift)),
    fixed:
      copied || statusOf(at(columns.status + shift)) !== 'fixed' ? [] : versionsOf(at(columns.fixed + shift)),
    features,
  };
}

const isYes = (text: string | undefined) => /^yes$/i.test((text ?? '').trim());

function plainFeatures(fields: readonly string[]): Features {
  const stands = (column: number) => !['', '-'].includes((fields[column] ?? '').trim());
  const has: Flag[] = statementFlags.filter((_, i) => isYes(fields[columns.firstFlag + i]));
  if (isYes(fields[columns.cluster])) has.push('cluster');
  if (isYes(fields[columns.key])) has.push('key');
  if (isYes(fields[columns.index])) has.push('index');
  if (stands(columns.constraint)) has.push('constraint');
  if (isYes(fields[columns.partition])) has.push('partition');
  return { ...commonFeatures(fields), has: has.sort() };
}

function shiftedFeatures(fields: readonly string[]): Features {
  const text = `${fields[columns.description] ?? ''}\n${fields[columns.status] ?? ''}\n${fields[columns.text] ?? ''}`;
  const known = shiftedFlags.flatMap((flag, i) =>
    flag !== undefined && isYes(fields[columns.firstFlag + i]) ? [flag] : [],
  );
  const has = [...new Set([...known, ...textFeatures(text).has])].sort();
  return { ...commonFeatures(fields), has };
}

function commonFeatures(fields: readonly string[]): Omit<Features, 'has'> {
  const transactions = Number((fields[columns.transactions] ?? '').trim() || Number.NaN);
  return {
    levels: levelsIn(fields[columns.level] ?? ''),
    mode: modeIn(fields[columns.mode] ?? ''),
    ...(Number.isSafeInteger(transactions) && transactions > 0 && { transactions }),
  };
}

export function modeIn(text: string): Mode {
  const mode = text.trim().toLowerCase();
  return (['pessimistic', 'optimistic', 'both'] as const).find((each) => each === mode) ?? 'unspecified';
}

export function levelsIn(text: string): Level[] {
  const named = text
    .split('\n')
    .flatMap((line) => parseLevel(line.trim().replace('REAPEATED', 'REPEATABLE')) ?? []);
  return levels.filter((level) => named.includes(level));
}

function statusOf(text: string): Status {
  if (/^fixed$/i.test(text)) return 'fixed';
  if (/^(closed|duplicate)$/i.test(text)) return 'closed';
  return /^(verified|confirmed|in testing)$/i.test(text) ? 'confirmed' : 'open';
}

function versionsOf(text: string): string[] {
  return [...text.matchAll(/\d+(?:\.\d+)+|\b\d{1,2}\b/g)].map(([version]) => version).slice(0, 20);
}

function symptomOf(symptom: string, aspect: string): Symptom {
  if (/^Incorrect query result/.test(symptom)) return 'wrong-read';
  if (/^Incorrect database state/.test(symptom)) return 'wrong-state';
  if (/^Missing blocking/.test(symptom)) return 'missing-wait';
  if (/blocking$/.test(symptom)) return 'needless-wait';
  if (/^Missing error/.test(symptom)) return 'missing-error';
  if (/^(Unexpected|Operation) error/.test(symptom)) return 'unexpected-error';
  if (/^(Crash|DBMS hang|Assertion failure)/.test(symptom)) return 'crash';
  return aspect === '' && symptom === '' ? 'unknown' : 'internal';
}

/** A shifted row has no column for it. */
function symptomOfTitle(title: string): Symptom {
  if (/assert|crash|SIG[A-Z]{3}|\bhangs?\b/i.test(title)) return 'crash';
  if (
    /phantom|dirty read|repeatable re|read another|read duplicate|return deleted|read a value|wrong result|not visible|can't read|same unique|affects the query|incorporates|behave weirdly/i.test(
      title,
    )
  )
    return 'wrong-read';
  if (/not blocked|lock failure/i.test(title)) return 'missing-wait';
  if (/deadlock|dead lock|gap lock|blocked|should be released/i.test(title)) return 'needless-wait';
  return /error|fail/i.test(title) ? 'unexpected-error' : 'unknown';
}

const inWords: Readonly<Record<Symptom, string>> = {
  'wrong-read': 'A query returns what it should not',
  'wrong-state': 'What is stored is wrong',
  'missing-wait': 'A statement goes through that should wait',
  'needless-wait': 'A statement waits without need',
  'unexpected-error': 'A statement fails that should work',
  'missing-error': 'A statement works that should fail',
  crash: 'The server crashes, hangs or fails an assertion',
  internal: 'What the server reports, logs or replicates is wrong',
  unknown: 'Not classified',
};

/** A sentence of our own from what is known. */
function describe(symptom: Symptom, { transactions, has }: Features): string {
  const kinds = has.filter((flag) =>
    [
      'select',
      'select-for-share',
      'select-for-update',
      'insert',
      'replace',
      'update',
      'delete',
      'alter',
    ].includes(flag),
  );
  const count =
    transactions === undefined
      ? 'transactions'
      : transactions === 1
        ? 'one transaction'
        : `${transactions} transactions`;
  const doing =
    kinds.length === 0
      ? ''
      : ` with ${kinds.map((kind) => kind.replaceAll('-', ' ').toUpperCase()).join(', ')}`;
  return `${inWords[symptom]}: ${count}${doing}.`;
}
