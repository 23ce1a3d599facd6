/**
 * A plan from a seed: D4's Algorithm 1.
 *
 * 1. Some tables are created and filled.
 * 2. Until the plan is long enough, one thing is drawn: a single statement, a transaction, or an instance of a property.
 *    What is drawn is weighed by how much of the workload target it can still serve (Figure 3): a property by the scarcest
 *    kind of statement it sends.
 * 3. Each time the shadow state moves on, so that what comes next fits.
 *
 * Nothing but seed and options goes in, and no answer of a database: the same seed gives the same plan.
 */
import { type Capabilities, makeProfile, type Profile, Random, StatementSource } from '../generate/index.js';
import type { Plan } from './interaction.js';
import { PlanBuilder, type StatementKindDrawn } from './plan-builder.js';
import { type Mix, type Property, that } from './property.js';
import { type ShadowOptions, ShadowState } from './shadow-state.js';

export interface PlanOptions {
  readonly properties: readonly Property[];
  readonly capabilities: Capabilities;
  readonly shadow: Omit<ShadowOptions, 'dialect' | 'target'>;
  /** About how many interactions; the last property is not cut. Default 60. */
  readonly length?: number;
  /** Proportions of reads, writes and creations; default 60 : 35 : 5. */
  readonly workload?: Mix;
  readonly profile?: Profile;
  /** Single queries are asserted to answer what the shadow state gives; default true. */
  readonly judgeReads?: boolean;
}

export const defaultWorkload: Mix = { read: 60, write: 35, create: 5 };

/** Tables that stand alone, values that repeat, no deliberate failures. */
export const propertyProfile = makeProfile('property', 'statements one at a time', {
  tables: [1, 3],
  columns: [1, 5],
  rows: [1, 8],
  hot: 0.2,
  weights: {
    'column.foreign-key': 0,
    'write.collision': 0,
    'write.returning': 0.05,
    'lock.update': 0,
    'lock.share': 0,
  },
});

export function generatePlan(seed: string, options: PlanOptions): Plan {
  const { capabilities, properties, length = 60, workload = defaultWorkload } = options;
  const random = new Random(`property/${seed}`);
  const profile = options.profile ?? propertyProfile;
  const source = new StatementSource(random, profile, capabilities);
  const shadow = new ShadowState({
    ...options.shadow,
    dialect: capabilities.dialect,
    target: capabilities.target,
  });
  const builder = new PlanBuilder(source, random, shadow);
  const judgeReads = options.judgeReads ?? true;
  for (let count = random.between(...profile.tables); count > 0; count--)
    builder.group(undefined, (group) => builder.createTable(group, random.between(...profile.rows)));
  const total = workload.read + workload.write + workload.create;
  const left = {
    read: (length * workload.read) / total,
    write: (length * workload.write) / total,
    create: (length * workload.create) / total,
  };
  for (let attempt = 0; builder.size < length && attempt < 4 * length; attempt++) {
    const choices = choicesOf(builder, properties, left, judgeReads);
    const at = random.weighted(choices.map(({ weight }) => weight));
    if (at === undefined) break;
    const { make, sends } = choices[at]!;
    if (!make()) continue;
    left.read -= sends.read;
    left.write -= sends.write;
    left.create -= sends.create;
  }
  return builder.plan(seed);
}

interface Choice {
  readonly weight: number;
  readonly sends: Mix;
  readonly make: () => boolean;
}

const reads: Mix = { read: 1, write: 0, create: 0 };
const writes: Mix = { read: 0, write: 1, create: 0 };
const creates: Mix = { read: 0, write: 0, create: 1 };

/** What can come next, with its weight. */
function choicesOf(
  builder: PlanBuilder,
  properties: readonly Property[],
  left: Mix,
  judgeReads: boolean,
): Choice[] {
  const single = (kind: StatementKindDrawn) => () =>
    builder.group(kind === 'select' && judgeReads ? 'predicted read' : undefined, (group) =>
      drawStatement(builder, group, kind, judgeReads),
    );
  return [
    { weight: serves(reads, left), sends: reads, make: single('select') },
    { weight: serves(writes, left), sends: writes, make: single('insert') },
    { weight: serves(writes, left), sends: writes, make: single('update') },
    { weight: serves(writes, left) / 2, sends: writes, make: single('delete') },
    {
      weight: serves(creates, left),
      sends: creates,
      make: () =>
        builder.group(undefined, (group) => {
          builder.createTable(group, builder.random.between(0, 4));
        }),
    },
    ...properties.map((property) => ({
      weight: serves(property.sends, left),
      sends: property.sends,
      make: () => builder.instance(property),
    })),
  ];
}

/** Figure 3: the least that is left of the kinds of statements it sends; a little, where the target is already met. */
function serves(sends: Mix, left: Mix): number {
  const kinds = (['read', 'write', 'create'] as const).filter((kind) => sends[kind] > 0);
  const least = Math.min(...kinds.map((kind) => left[kind]));
  return kinds.length === 0 ? 1 : Math.max(least, 0.1);
}

function drawStatement(
  builder: PlanBuilder,
  group: number,
  kind: StatementKindDrawn,
  judgeReads: boolean,
): void {
  const tables = builder.known();
  if (tables.length === 0) return;
  const of = builder.random.pick(tables).model.name;
  const sql = builder.draw(tables, of, kind);
  if (sql === undefined) return;
  const result = builder.statement(group, sql);
  if (kind === 'select' && judgeReads)
    builder.check({
      ...{ type: 'assert', group, says: 'the shadow state gives it' },
      check: that.predicted(result),
    });
}
