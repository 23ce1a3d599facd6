/** What an answer rests on, with reports and runs made by hand: who is compared, who comes first, and what is left open. */
import { describe, expect, it } from 'vitest';
import { parseScript, serialOrder } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';
import type { Observed } from '../judge/index.js';
import type { Target } from '../targets/index.js';
import { candidateCount, isKnown, isKnownByText } from './answer.js';
import type { AskedBug } from './candidate.js';
import type { Symptom } from './entry.js';
import { encode, type Features } from './features.js';
import { foundReport, repositoryOf } from './found-report.js';
import type { KnownBug } from './repository.js';
import type { KnownPlace } from './runnable.js';
import { isSameBug } from './same-bug.js';

/** A case of two sessions, and the run of it in which the second statement of T1 was wrong. */
function bug(
  more: {
    readonly kind?: Finding['kind'];
    readonly sql?: string;
    readonly target?: Partial<AskedBug['target']>;
  } = {},
): AskedBug {
  const { kind = 'G1a', sql = 'UPDATE t SET a = 2', target = {} } = more;
  const script = `CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nT1: BEGIN;\nT1: SELECT a FROM t;\nT2: ${sql};\nT1: COMMIT;`;
  const { case: program } = parseScript(script, { file: 'x.sql', dialect: 'mysql' });
  const schedule = serialOrder(program);
  const at = (index: number, session: number, position: number, kindOf: string) => ({
    ...{ index, session, transaction: session, kind: kindOf, statement: [session, position] },
    ...{ start: index, end: index + 1, outcome: 'ok' },
  });
  const history = {
    header: { sessions: ['T1', 'T2'] },
    operations: [
      at(0, 0, 0, 'begin'),
      { ...at(1, 0, 1, 'select'), rows: [[2]], sql: 'SELECT a FROM t' },
      { ...at(2, 1, 0, 'update'), sql, matched: 1 },
      at(3, 0, 2, 'commit'),
    ],
  } as unknown as History;
  const finding: Finding = {
    ...{ kind, oracle: 'mechanism', certainty: 'certain', rulesOut: [], transactions: [], explanation: [] },
    operations: [
      { index: 1, transaction: 0, text: 'SELECT a FROM t' },
      { index: 2, transaction: 1, text: sql },
    ],
  } as unknown as Finding;
  return {
    target: { name: 'mysql', version: '9.7', ...target },
    level: 'repeatable read',
    behaviour: { case: program, schedule, finding, history },
  };
}

/** A report of the bug itself, with its case. */
const withCase = (id: string, facts: Partial<KnownBug> = {}): KnownBug =>
  foundReport(bug(), { id, ...facts });

/** The same without its case. */
function report(id: string, facts: Partial<KnownBug> = {}): KnownBug {
  const { case: _, ...rest } = withCase(id, facts);
  return rest;
}

/** Reports of another engine, which are never compared: components weigh something only where reports differ. */
const others: readonly KnownBug[] = [
  { levels: ['serializable'], mode: 'optimistic', has: ['explain', 'show'] } as const,
  { levels: [], mode: 'both', has: ['savepoint', 'index'] } as const,
].map((features, i) =>
  report(`other-${i}`, { engine: 'postgres', features, vector: encode('postgres', features) }),
);

const ask = (reports: readonly KnownBug[], asked = bug(), place?: KnownPlace) =>
  isKnown(asked, repositoryOf([...reports, ...others]), place);
const idsOf = ({ candidates }: Awaited<ReturnType<typeof ask>>) => candidates.map(({ id }) => id);

describe('who is compared', () => {
  it.each<[string, Partial<KnownBug>, boolean]>([
    ['a report of the same engine', {}, true],
    ['one of MariaDB, which shares InnoDB', { engine: 'mariadb' }, true],
    ['one of MyRocks', { engine: 'mariadb', settings: { default_storage_engine: 'ROCKSDB' } }, false],
    ['one of another engine', { engine: 'sqlite' }, false],
    ['one whose symptom is not known', { symptom: 'unknown' }, true],
  ])('%s: %#', async (_, facts, compared) => {
    expect(idsOf(await ask([report('r', facts)]))).toEqual(compared ? ['r'] : []);
  });

  it.each<[Finding['kind'], readonly Symptom[]]>([
    ['G1a', ['wrong-read', 'wrong-state', 'missing-wait', 'missing-error', 'unknown']],
    ['unexpected-error', ['unexpected-error', 'crash', 'unknown']],
  ])('for a finding of kind %s only reports with its symptoms', async (kind, fitting) => {
    const all: readonly Symptom[] = [
      ...(['wrong-read', 'wrong-state', 'missing-wait', 'needless-wait', 'unexpected-error'] as const),
      ...(['missing-error', 'crash', 'internal', 'unknown'] as const),
    ];
    const asked = bug({ kind });
    const answer = await ask(
      all.map((symptom) => report(symptom, { symptom })),
      asked,
    );
    expect(idsOf(answer).sort()).toEqual([...fitting].sort());
  });

  it('are the nearest, and not all of them', async () => {
    const far: Features = { levels: [], mode: 'optimistic', has: ['explain'] };
    const reports = Array.from({ length: candidateCount + 4 }, (_, i) =>
      i < 4 ? report(`far-${i}`, { vector: encode('mysql', far) }) : report(`near-${i}`),
    );
    const ids = idsOf(await ask(reports));
    expect(ids).toHaveLength(candidateCount);
    expect(ids.filter((id) => id.startsWith('far'))).toEqual([]);
  });
});

describe('by features alone', () => {
  it('a report is never a duplicate: what is nearly equal leaves the answer open', async () => {
    const answer = await ask([report('r', { url: 'https://bugs.example/1' })]);
    expect(answer).toMatchObject({
      ...{ verdict: 'undecided', reports: [{ id: 'r', url: 'https://bugs.example/1' }] },
      candidates: [
        { match: 'no-case', likeness: 1, why: 'features 100 % alike; it has no case that could be run' },
      ],
    });
    expect(answer.why).toBe('compared with 1 report of 3, 0 of them by running');
  });

  it('what is not alike leaves nothing open', async () => {
    const vector = encode('mysql', {
      levels: ['serializable'],
      mode: 'optimistic',
      has: ['explain', 'show'],
    });
    expect(await ask([report('r', { vector })])).toMatchObject({ verdict: 'unique', reports: [] });
  });

  it('at most five are named', async () => {
    const answer = await ask(Array.from({ length: 9 }, (_, i) => report(`r${i}`)));
    expect(answer.reports.map(({ id }) => id)).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  it('reports of the engine itself come first, then the more alike, then by id', async () => {
    const reports = [report('b'), report('a'), report('maria', { engine: 'mariadb' })];
    expect(idsOf(await ask(reports))).toEqual(['a', 'b', 'maria']);
  });

  it('an injected fault is nobody’s report', async () => {
    const answer = await ask([report('r')], bug({ target: { settings: { fault: 'dirty-read' } } }));
    expect(answer).toMatchObject({ verdict: 'unique', candidates: [] });
    expect(answer.why).toContain('injected fault');
  });
});

describe('a text', () => {
  const features: Features = {
    levels: ['repeatable read'],
    mode: 'pessimistic',
    transactions: 2,
    has: ['update'],
  };
  const repository = repositoryOf([
    report('my', { vector: encode('mysql', features) }),
    report('pg', { engine: 'postgres', vector: encode('postgres', features) }),
  ]);

  it.each([
    ['mysql', ['my']],
    ['mariadb', ['my']],
    ['postgres', ['pg']],
    ['sqlite', []],
  ])('about %s is compared with %j', (engine, ids) => {
    expect(isKnownByText(engine, features, repository).candidates.map(({ id }) => id)).toEqual(ids);
  });

  it('about nobody is compared with all', () => {
    expect(isKnownByText(undefined, features, repository).candidates).toHaveLength(2);
  });
});

describe('by running', () => {
  const target = {
    ...{ name: 'mysql', dialect: 'mysql', stamp: { name: 'mysql', version: '9.7' } },
    levels: [{ level: 'repeatable read', contract: 'mysql:repeatable-read', begin: 'BEGIN' }],
    ...{ defaultLevel: 'repeatable read', features: {} },
  } as unknown as Target;
  /** Every run is answered so. */
  const place = (observed: Observed): KnownPlace => ({ target, observe: async () => observed });
  const ran = ({ behaviour }: AskedBug): Observed =>
    ({ kind: 'ran', findings: [behaviour.finding], history: behaviour.history }) as unknown as Observed;
  const clean = {
    kind: 'ran',
    findings: [],
    history: { header: { sessions: ['T1', 'T2'] }, operations: [] },
  };

  it('a case that shows the same behaviour is a duplicate in the same form', async () => {
    const answer = await ask([withCase('r')], bug(), place(ran(bug())));
    expect(answer).toMatchObject({ verdict: 'duplicate', candidates: [{ match: 'same-form' }] });
    expect(answer.why).toContain('compared with 1 report of 3, 1 of them by running');
  });

  it('a case that shows nothing here is another bug', async () => {
    const answer = await ask([withCase('r')], bug(), place(clean as unknown as Observed));
    expect(answer).toMatchObject({ verdict: 'unique', candidates: [{ match: 'different' }] });
  });

  it.each([
    [
      'bad-setup',
      { kind: 'bad-setup', message: 'no such type\nat line 3' },
      'its set-up fails: no such type',
    ],
    ['cut', { kind: 'cut' }, 'the database went away, or the run was stopped'],
  ])('a case that cannot be run (%s) is open while it looks the same', async (_, observed, why) => {
    const answer = await ask([withCase('r')], bug(), place(observed as unknown as Observed));
    expect(answer).toMatchObject({ verdict: 'undecided', candidates: [{ match: 'not-run' }] });
    expect(answer.candidates[0]!.why).toContain(why);
  });

  it('a case that needs a setting is not run without it', async () => {
    const settings = { innodb_snapshot_isolation: 'ON' };
    const answer = await ask([withCase('r', { settings })], bug(), place(ran(bug())));
    expect(answer.candidates[0]!.why).toContain('it needs innodb_snapshot_isolation=ON');
  });

  it('a duplicate brings the filed reports of its root cause, before one that is filed nowhere', async () => {
    const url = 'https://bugs.example/7';
    const kin = report('kin', {
      bug: 'root',
      url,
      vector: encode('mysql', { levels: [], mode: 'both', has: [] }),
    });
    const unfiled = await ask([withCase('own', { bug: 'root' }), kin], bug(), place(ran(bug())));
    expect(unfiled.reports.map(({ id }) => id)).toEqual(['kin', 'own']);
    const filed = await ask(
      [withCase('own', { bug: 'root', url: `${url}8` }), kin],
      bug(),
      place(ran(bug())),
    );
    expect(filed.reports.map(({ id }) => id)).toEqual(['own', 'kin']);
    expect(filed.reports[1]!.why).toContain('it has the root cause of “own”');
  });
});

describe('two findings', () => {
  it.each<[string, AskedBug, 'same' | 'different' | 'undecided', RegExp]>([
    ['that are one', bug(), 'same', /in the same form$/],
    ['of other kinds', bug({ kind: 'lost-update' }), 'different', /^other causes: G1a .* and lost-update /],
    ['of other engines', bug({ target: { name: 'duckdb' } }), 'different', /share no storage engine$/],
    ['of one storage engine', bug({ target: { name: 'mariadb' } }), 'same', /./],
  ])('%s are told without running', async (_, other, verdict, why) => {
    const answer = await isSameBug(bug(), other);
    expect(answer.verdict).toBe(verdict);
    expect(answer.why).toMatch(why);
  });
});
