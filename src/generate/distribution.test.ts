/** Counts what was generated in the printed text, without trusting the generator, and compares with the weights. */
import { describe, expect, it } from 'vitest';
import { type Expression, parseStatement, type SelectStatement, type Statement } from '../sql/index.js';
import { type Capabilities, findCapabilities } from './capabilities.js';
import { allFeatures, type Feature, type GroupName, optionsOf } from './features.js';
import { generateCase } from './generate-case.js';
import { makeProfile, type Profile } from './profile.js';
import { featuresOf, whereFeatures } from './statement-features.js';

/** Every feature there is: a dialect of nobody's, only printed. */
const all: Capabilities = { ...findCapabilities('postgres')!, unsupported: [] };

function trees(profile: Profile, seeds: number, capabilities = all): Statement[] {
  return Array.from({ length: seeds }, (_, seed) => {
    const { setup, sessions } = generateCase(`d${seed}`, { capabilities, profile });
    return [...setup, ...sessions.flatMap(({ statements }) => statements)];
  })
    .flat()
    .map((sql) => parseStatement(sql, capabilities.dialect));
}

/** Shares of a one-of group, against the weights; `counts` holds every option that was drawn. */
function expectShares(
  counts: ReadonlyMap<string, number>,
  profile: Profile,
  group: GroupName,
  options: readonly string[],
) {
  const weights = options.map((option) => profile.weights[`${group}.${option}` as Feature]);
  const weightSum = weights.reduce((sum, weight) => sum + weight, 0);
  const total = options.reduce((sum, option) => sum + (counts.get(option) ?? 0), 0);
  options.forEach((option, i) => {
    const expected = (total * weights[i]!) / weightSum;
    const slack = 4 * Math.sqrt(expected) + 0.01 * total;
    expect(Math.abs((counts.get(option) ?? 0) - expected), `${group}.${option}, ${total} drawn`).toBeLessThan(
      slack,
    );
  });
  expect(total).toBeGreaterThan(1000);
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Tables on which every kind of statement fits. */
const roomy = {
  tables: [2, 2],
  columns: [3, 3],
  rows: [12, 12],
  sessions: [4, 4],
  transactions: [2, 2],
  statements: [8, 8],
} as const;
const roomyWeights: Partial<Record<Feature, number>> = {
  'key.none': 0,
  'key.composite': 0,
  'column.unique': 0,
  'column.foreign-key': 0,
  'column.generated': 0,
  'begin.autocommit': 0,
  'begin.read-only': 0,
};

function shapeOf({ with: clause, body }: SelectStatement): string {
  if (clause !== undefined) return 'cte';
  if (body.type === 'set-operation') return body.op.toLowerCase();
  if (body.type !== 'core') return body.type;
  const from = body.from[0];
  if (from?.type === 'join') return `${from.kind}-join`;
  if (from?.type === 'derived') return 'derived';
  if (body.having !== undefined) return 'having';
  if (body.groupBy.length > 0) return 'group-by';
  const calls = body.items.filter((each) => each.type === 'item' && each.expression.type === 'call');
  if (calls.length === 0) return 'plain';
  return calls.some((each) => 'over' in (each as { expression: object }).expression) ? 'window' : 'aggregate';
}

describe('generated features', () => {
  const profile = makeProfile('roomy', '', { ...roomy, weights: roomyWeights });
  const generated = trees(profile, 60);

  it('follow the weights of statements', () => {
    const kinds = generated
      .flatMap((tree) => featuresOf(tree, 'postgres').filter((feature) => feature.startsWith('statement.')))
      .map((feature) => feature.slice('statement.'.length));
    const counts = tally(kinds);
    // The rows every table begins with.
    counts.set('insert', counts.get('insert')! - 60 * 2);
    expectShares(counts, profile, 'statement', optionsOf('statement').slice(0, 9));
  });

  it('follow the weights of queries', () => {
    const shapes = generated.flatMap((tree) => (tree.type === 'select' ? [shapeOf(tree)] : []));
    expectShares(tally(shapes), profile, 'select', optionsOf('select'));
  });

  it('follow the weights of conditions', () => {
    const columns = { 'type.text': 0, 'column.not-null': 1, 'where.like': 0, 'where.is-null': 0 };
    const plain = { 'select.plain': 1000, 'statement.delete': 0, ...columns };
    const conditions = makeProfile('conditions', '', { ...roomy, weights: { ...roomyWeights, ...plain } });
    const names = trees(conditions, 60).flatMap((tree) => {
      const shape = tree.type === 'select' ? shapeOf(tree) : '';
      if (shape !== 'plain' || tree.type !== 'select' || tree.body.type !== 'core') return [];
      return [tree.body.where === undefined ? 'none' : outermost(tree.body.where)];
    });
    const counts = tally(names);
    // `rid = 1` may be all three of them, and a key is one column here.
    const merged = { ...conditions, weights: { ...conditions.weights } as Record<Feature, number> };
    for (const each of ['where.rid', 'where.key'] as const) {
      merged.weights['where.comparison'] += merged.weights[each];
    }
    const options = optionsOf('where').filter((each) => !['rid', 'key', 'like', 'is-null'].includes(each));
    expectShares(counts, merged, 'where', options);
  });

  it('follow the weights of types, keys and column properties', () => {
    const wide = makeProfile('wide', '', {
      tables: [4, 4],
      columns: [6, 6],
      weights: { 'column.unique': 0, 'column.foreign-key': 0, 'column.generated': 0 },
    });
    const tables = trees(wide, 80).filter((tree) => tree.type === 'create-table');
    const plain = tables.flatMap(({ columns, constraints }) => {
      const keyed = constraints.some(({ type }) => type === 'primary-key') ? 2 : 0;
      const single = columns[1]!.constraints.some(({ type }) => type === 'primary-key') ? 1 : 0;
      return columns.slice(1 + keyed + single);
    });
    const kinds = plain.map((column) => {
      const [feature] = featuresOf({ ...tables[0]!, columns: [column], constraints: [] }, 'postgres');
      return feature!.slice('type.'.length);
    });
    expectShares(tally(kinds), wide, 'type', optionsOf('type'));
    const share = (type: string) =>
      plain.filter(({ constraints }) => constraints.some((each) => each.type === type)).length / plain.length;
    expect(share('not-null')).toBeCloseTo(wide.weights['column.not-null'], 1);
    expect(share('default-value')).toBeCloseTo(wide.weights['column.default'], 1);
    const keys = tables.flatMap((tree) =>
      featuresOf(tree, 'postgres').filter((each) => each.startsWith('key.')),
    );
    const counts = tally(keys.map((each) => each.slice('key.'.length)));
    for (const option of optionsOf('key')) {
      expect(counts.get(option)! / tables.length).toBeCloseTo(wide.weights[`key.${option}`] / 11, 1);
    }
  });

  it('follow the weights of beginnings and ends', () => {
    const short = makeProfile('short', '', {
      statements: [1, 1],
      transactions: [10, 10],
      weights: { 'begin.autocommit': 0 },
    });
    const features = trees(short, 60).flatMap((tree) => featuresOf(tree, 'postgres'));
    const counts = (group: string) =>
      tally(
        features.filter((each) => each.startsWith(`${group}.`)).map((each) => each.slice(group.length + 1)),
      );
    expectShares(counts('begin'), short, 'begin', ['plain', 'read-only', 'snapshot', 'immediate']);
    expectShares(counts('end'), short, 'end', optionsOf('end'));
  });

  it('follow the weights of locks and of assignments', () => {
    const locking = makeProfile('locks', '', {
      ...roomy,
      weights: {
        ...roomyWeights,
        'lock.none': 2,
        'lock.update': 3,
        'lock.share': 1,
        'set.key': 0,
        'select.plain': 1000,
      },
    });
    const found = trees(locking, 60);
    const locks = found.flatMap((tree) =>
      tree.type === 'select' && shapeOf(tree) === 'plain' && tree.body.type === 'core' && !tree.body.distinct
        ? [tree.locks[0]?.strength ?? 'none']
        : [],
    );
    expectShares(tally(locks), locking, 'lock', optionsOf('lock'));
    const sets = found.flatMap((tree) => (tree.type === 'update' ? [tree.set[0]!.value.type] : []));
    // Every way to assign is there; which columns allow it decides how often.
    for (const type of ['literal', 'binary', 'case', 'subquery', 'column']) expect(sets).toContain(type);
  });
});

function outermost(condition: Expression): string {
  return whereFeatures(condition)[0]!.slice('where.'.length);
}

/** What the text cannot tell, or what the profile does not ask for. */
const invisible: readonly Feature[] = [
  'begin.autocommit',
  'column.boundary',
  'index.rid',
  'lock.none',
  'set.key',
  'statement.index',
  'statement.table',
  'wait.normal',
  'where.key',
  'where.none',
  'where.rid',
  'select.plain',
  'write.collision',
  'write.leave-out',
  'write.small-key',
];

describe.each(['postgres', 'mariadb', 'sqlite', 'turso', 'duckdb', 'mysql', 'tidb', 'cockroach'])(
  'on %s',
  (target) => {
    const capabilities = findCapabilities(target)!;
    const mixed = makeProfile('mixed', '', { transactions: [3, 3], statements: [6, 6] });
    const seen = new Set(
      trees(mixed, 120, capabilities).flatMap((tree) => featuresOf(tree, capabilities.dialect)),
    );

    it('every supported feature appears, and no unsupported one', () => {
      // An index statement of the set-up and one of a session look alike.
      const wanted = allFeatures.filter(
        (each) => !capabilities.unsupported.includes(each) && !invisible.includes(each),
      );
      expect(wanted.filter((each) => !seen.has(each))).toEqual([]);
      expect(capabilities.unsupported.filter((each) => seen.has(each))).toEqual([]);
    });
  },
);

it('features of a weight of zero do not appear', () => {
  const nothing: Feature[] = [
    'statement.delete',
    'where.like',
    'select.window',
    'type.text',
    'column.check',
    'end.rollback',
  ];
  const without = makeProfile('without', '', {
    weights: Object.fromEntries(nothing.map((each) => [each, 0])),
  });
  const seen = new Set(trees(without, 60).flatMap((tree) => featuresOf(tree, 'postgres')));
  // A full table is emptied by DELETE, whatever its weight: these stay small.
  expect(nothing.filter((each) => seen.has(each))).toEqual([]);
});
