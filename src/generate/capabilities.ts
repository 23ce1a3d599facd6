/**
 * What a target can run, as data: what it is known to refuse, plus what its answers have taught us since.
 *
 * What an engine refuses is declared in its folder (`targets/NAME/declaration.ts`); `learn.ts` adds to it from histories. Capabilities are plain JSON, so what was
 * learned about an engine can be kept and used again.
 */
import { engineSetting, type Level } from '../contracts/index.js';
import type { Dialect } from '../sql/index.js';
import { type GenerationLimits, type IndexKind, type Target, targetDeclarations } from '../targets/index.js';
import type { Feature } from './features.js';

export interface Capabilities {
  /** The target's name: `postgres`, `mariadb`, … */
  readonly target: string;
  readonly dialect: Dialect;
  /** Left out of every case. */
  readonly unsupported: readonly Feature[];
  /** Proven by a statement that ran: never blamed for a failure. */
  readonly proven?: readonly Feature[];
  readonly generated: 'stored' | 'virtual';
  /** How a shared row lock is asked for. */
  readonly shareLock: 'share' | 'share mode';
  /** An error inside a transaction makes all of it void. */
  readonly errorDoomsTransaction: boolean;
  /** DuckDB rewrites an update of an indexed column as delete and insert, which a referenced row does not survive. */
  readonly plainParents?: true;
  /** Keys are never left to the database. */
  readonly explicitKeys?: true;
  /** The FROM of a query that reads no table, where one is needed to write a WHERE behind it. */
  readonly oneRow?: string;
  /** How a key is defined that the database gives; absent: in the words of the dialect. */
  readonly automaticKeys?: readonly string[];
  /** Index kinds besides plain ones; absent: those that most engines of the dialect have. */
  readonly indexes?: readonly IndexKind[];
  /** The default of a column is a number or a text. */
  readonly plainDefaults?: true;
  /** By level: what generated transactions begin with where a plain BEGIN is another thing. */
  readonly begins?: Readonly<Partial<Record<Level, string>>>;
  /** Some nodes of the cluster take no writes: every second session only reads. */
  readonly readers?: true;
}

const declared: ReadonlyMap<string, Omit<Capabilities, 'target'>> = new Map(
  targetDeclarations.flatMap(({ name, dialect, generation }) =>
    dialect === undefined || generation === undefined ? [] : [[name, withoutEngines(dialect, generation)]],
  ),
);

function withoutEngines(
  dialect: Dialect,
  { byEngine: _, ...limits }: GenerationLimits,
): Omit<Capabilities, 'target'> {
  return { dialect, ...limits, unsupported: limits.unsupported as readonly Feature[] };
}

/** Targets whose capabilities are declared. */
export const knownTargets: readonly string[] = [...declared.keys()];

/** The target whose capabilities a dialect has when nothing more is known: its plainest engine. */
const byDialect: Readonly<Record<Dialect, string>> = {
  postgres: 'postgres',
  mysql: 'mysql',
  sqlite: 'sqlite',
  duckdb: 'duckdb',
};

/** What a target is declared to support; one we have no table for gets its dialect's, and learns. */
export function capabilitiesOf(target: {
  readonly name: string;
  readonly dialect: Dialect;
  readonly stamp?: Target['stamp'];
  readonly nodes?: Target['nodes'];
  readonly levels?: Target['levels'];
}): Capabilities {
  const { name, dialect, stamp, nodes, levels = [] } = target;
  const differing = levels.filter(({ plainBeginDiffers }) => plainBeginDiffers === true);
  const begins = Object.fromEntries(differing.map(({ level, begin }) => [level, begin]));
  const readers = nodes?.some(({ readOnly }) => readOnly === true) === true;
  const known = declared.get(name) ?? ofDialect(dialect);
  const usual = {
    target: name,
    ...known,
    ...(differing.length > 0 && { begins }),
    ...(readers && { readers }),
  };
  const engine = stamp?.settings?.[engineSetting]?.toLowerCase() ?? '';
  const limits = targetDeclarations.find((each) => each.name === name)?.generation?.byEngine?.[engine];
  if (limits === undefined) return usual;
  return { ...usual, unsupported: [...usual.unsupported, ...(limits as readonly Feature[])] };
}

/** What stands between the constants of a query that reads no table and its WHERE: nothing, or a FROM. */
export function oneRowOf({ dialect, oneRow }: Pick<Capabilities, 'dialect' | 'oneRow'>): string {
  if (oneRow !== undefined) return ` ${oneRow}`;
  return dialect === 'mysql' ? ' FROM (SELECT 1 AS one) AS d' : '';
}

/** What one engine of the dialect has of its own, another one may lack. */
function ofDialect(dialect: Dialect): Omit<Capabilities, 'target'> {
  const { indexes: _, automaticKeys: __, ...common } = declared.get(byDialect[dialect])!;
  return common;
}

/** Capabilities by the name of a target or dialect. */
export function findCapabilities(name: string): Capabilities | undefined {
  const found = declared.get(name);
  return found && { target: name, ...found };
}
