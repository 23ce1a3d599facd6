/**
 * Everything the generator can put into a case, by name, with the weights it has when a profile says nothing.
 *
 * A name is `group.option`. In a `one` group exactly one option is drawn each time, in proportion to the weights of
 * those that the target supports and that fit the moment. In a `chance` group every option is drawn for itself, and its
 * weight is a probability.
 */

/** Default weights, in declaration order: drawing walks this order, so adding an option changes what seeds mean. */
export const featureGroups = {
  type: {
    draw: 'one',
    options: {
      int: 8,
      bigint: 3,
      decimal: 2,
      double: 2,
      text: 4,
      boolean: 1,
      date: 1,
      timestamp: 1,
      time: 1,
      binary: 1,
    },
  },
  key: { draw: 'one', options: { none: 3, single: 6, composite: 2 } },
  column: {
    draw: 'chance',
    options: {
      unique: 0.1,
      'not-null': 0.25,
      default: 0.15,
      check: 0.12,
      generated: 0.1,
      'foreign-key': 0.25,
      boundary: 0.1,
    },
  },
  index: { draw: 'chance', options: { secondary: 0.35, composite: 0.15, partial: 0.15, rid: 0 } },
  begin: { draw: 'one', options: { plain: 20, autocommit: 2, 'read-only': 1, snapshot: 1, immediate: 1 } },
  end: { draw: 'one', options: { commit: 8, rollback: 1 } },
  statement: {
    draw: 'one',
    options: {
      select: 40,
      insert: 12,
      'insert-select': 2,
      upsert: 3,
      replace: 2,
      merge: 2,
      update: 30,
      delete: 6,
      savepoint: 2,
      index: 0,
      table: 0,
    },
  },
  select: {
    draw: 'one',
    options: {
      plain: 24,
      'inner-join': 3,
      'left-join': 2,
      'cross-join': 1,
      derived: 1,
      cte: 2,
      union: 1,
      intersect: 1,
      except: 1,
      aggregate: 4,
      'group-by': 2,
      having: 1,
      window: 2,
    },
  },
  window: { draw: 'one', options: { 'row-number': 3, sum: 2, count: 1, lag: 1 } },
  detail: {
    draw: 'chance',
    options: { star: 0.3, arithmetic: 0.1, case: 0.08, distinct: 0.04, 'order-by': 0.25, limit: 0.1 },
  },
  lock: { draw: 'one', options: { none: 12, update: 2, share: 1 } },
  wait: { draw: 'one', options: { normal: 10, nowait: 1, 'skip-locked': 1 } },
  where: {
    draw: 'one',
    options: {
      none: 5,
      rid: 5,
      key: 8,
      comparison: 7,
      between: 3,
      'in-list': 3,
      like: 1,
      'is-null': 1,
      and: 3,
      or: 2,
      not: 1,
      arithmetic: 1,
      case: 1,
      exists: 1,
      correlated: 1,
      'in-query': 1,
      scalar: 1,
    },
  },
  set: { draw: 'one', options: { constant: 10, 'no-op': 2, expression: 5, case: 1, subquery: 1, key: 1 } },
  write: {
    draw: 'chance',
    options: {
      'multi-row': 0.25,
      'leave-out': 0.15,
      'small-key': 0.3,
      collision: 0.01,
      returning: 0.03,
      'self-subquery': 0.3,
    },
  },
} as const satisfies Record<string, FeatureGroup>;

interface FeatureGroup {
  readonly draw: 'one' | 'chance';
  readonly options: Readonly<Record<string, number>>;
}

export type GroupName = keyof typeof featureGroups;
export type OptionOf<G extends GroupName> = keyof (typeof featureGroups)[G]['options'] & string;
/** `type.int`, `select.left-join`, … */
export type Feature = { [G in GroupName]: `${G}.${OptionOf<G>}` }[GroupName];
export type Weights = Readonly<Record<Feature, number>>;

const optionNames = new Map(
  Object.entries(featureGroups).map(([group, { options }]) => [group, Object.keys(options)]),
);

/** The options of a group, in declaration order. */
export function optionsOf<G extends GroupName>(group: G): readonly OptionOf<G>[] {
  return optionNames.get(group) as unknown as readonly OptionOf<G>[];
}

/** Every feature, in declaration order. */
export const allFeatures: readonly Feature[] = (Object.keys(featureGroups) as GroupName[]).flatMap((group) =>
  optionsOf(group).map((option) => `${group}.${option}` as Feature),
);

const known = new Set<string>(allFeatures);

export function isFeature(name: string): name is Feature {
  return known.has(name);
}

/** What a case is made of when its profile changes nothing. */
export const defaultWeights: Weights = Object.fromEntries(
  allFeatures.map((feature) => {
    const [group, option] = feature.split('.') as [GroupName, string];
    return [feature, (featureGroups[group].options as Readonly<Record<string, number>>)[option]!];
  }),
) as Weights;
