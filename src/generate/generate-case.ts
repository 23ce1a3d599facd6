/**
 * A case from a seed.
 *
 * 1. Draw a schema, its initial rows and the sizes.
 * 2. Draw transactions in rounds, one of each session, always on the shadow state the earlier ones leave behind.
 * 3. Print the trees in the target's dialect; draw an order between sessions if one is asked for.
 *
 * Nothing but seed and options goes in: the same ones give the same bytes, on any machine.
 */
import {
  type Case,
  type Schedule,
  type StatementRef,
  serialOrder,
  spellBegins,
  totalOrder,
} from '../cases/index.js';
import type { Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { parseStatement, printStatement, type Statement } from '../sql/index.js';
import { ownBegin } from './begin-forms.js';
import type { Capabilities } from './capabilities.js';
import { Chooser } from './chooser.js';
import { conflictSchedule } from './conflicts.js';
import { Predicates } from './predicates.js';
import { findProfile, type Profile, profiles } from './profile.js';
import { Random } from './random.js';
import { drawScenario, type ScenarioName } from './scenarios/scenario.js';
import { randomSchedule } from './schedules.js';
import { createIndex, createTable, drawSchema, ridColumn, type TableModel } from './schema.js';
import { Shadow } from './shadow.js';
import { type SessionState, Transactions } from './transactions.js';

export interface GenerateOptions {
  readonly capabilities: Capabilities;
  /** A profile, or the name of one of ours; default `mixed`. */
  readonly profile?: Profile | string;
  readonly level?: Level;
  /** Exact sizes; default: drawn from the profile's ranges. */
  readonly sessions?: number;
  /** Per session. */
  readonly transactions?: number;
  /** Per transaction, besides BEGIN and its end. */
  readonly statements?: number;
  /**
   * `free` (default): no order between sessions. `random`: any. `conflict`: two transactions on the same rows meet. `own`: the
   * order a scenario is about, where there is one.
   */
  readonly interleaving?: Interleaving;
  /** Which of the situations that a scenario enumerates; default: the number its seed ends in. */
  readonly plan?: number;
}

export type Interleaving = 'free' | 'random' | 'conflict' | 'own';

export interface Generated {
  readonly case: Case;
  /** Absent: a free run. */
  readonly schedule?: Schedule;
  readonly tables: readonly TableModel[];
  /** The order in which the shadow state takes the transactions to run: one after another. */
  readonly serial: Schedule;
  /** By table: the rows predicted to be there in the end. */
  readonly predicted: Readonly<Record<string, PredictedRows>>;
}

export interface PredictedRows {
  /** Certainly there. */
  readonly live: readonly number[];
  /** Perhaps there. */
  readonly doubtful: readonly number[];
}

/** The case of a seed. */
export function generateCase(seed: string, options: GenerateOptions): Case {
  return generate(seed, options).case;
}

/** The case of a seed, with its order and what the generator predicts of it. */
export function generate(seed: string, options: GenerateOptions): Generated {
  const profile = resolveProfile(options.profile);
  const { capabilities } = options;
  const { dialect } = capabilities;
  if (profile.scenario !== undefined) return generateScenario(seed, profile.scenario, profile.name, options);
  const random = new Random(`${profile.name}/${seed}`);
  const chooser = new Chooser(random, profile, capabilities);
  const tables = drawSchema(chooser);
  const shadow = new Shadow(tables, dialect);
  const transactions = new Transactions(
    new Predicates(chooser, shadow),
    new Random(`${profile.name}/${seed}/begin`),
  );
  const print = (statement: Statement) => printStatement(statement, dialect);
  const setup = [
    ...tables.map((each) => print(createTable(each, dialect, capabilities.generated === 'stored'))),
    ...tables.flatMap(({ name, indexes }) => indexes.map((index) => print(createIndex(index, name)))),
    ...transactions.initialRows().map(print),
  ];

  const size = (asked: number | undefined, range: readonly [number, number], what: string) => {
    if (asked === undefined) return random.between(...range);
    if (Number.isInteger(asked) && asked >= 1) return asked;
    throw new IsoldeError('usage', `a case needs at least 1 of ${what}, not ${asked}`);
  };
  const states = Array.from(
    { length: size(options.sessions, profile.sessions, 'sessions') },
    (_, number): SessionState => ({
      number,
      indexes: [],
      tables: [],
      made: 0,
      readOnly: capabilities.readers === true && number % 2 === 1,
    }),
  );
  const programs: string[][] = states.map(() => []);
  const order: StatementRef[] = [];
  const rounds = states.map(() => size(options.transactions, profile.transactions, 'transactions'));
  for (let round = 0; round < Math.max(...rounds); round++) {
    for (const state of states) {
      if (round >= rounds[state.number]!) continue;
      const count = size(options.statements, profile.statements, 'statements');
      for (const statement of transactions.transaction(state, count)) {
        const program = programs[state.number]!;
        order.push([state.number, program.length]);
        program.push(print(statement));
      }
    }
  }

  const program: Case = {
    name: `${profile.name}-${seed}`,
    dialect,
    ...(options.level === undefined ? {} : { level: options.level }),
    setup,
    sessions: programs.map((statements, s) => ({ name: `T${s + 1}`, statements })),
  };
  const schedule = drawSchedule(program, options.interleaving ?? 'free', random);
  return {
    case: begunBy(program, capabilities),
    ...(schedule === undefined ? {} : { schedule }),
    tables,
    serial: totalOrder(order),
    predicted: predictRows(shadow),
  };
}

function predictRows({ tables }: Shadow): Generated['predicted'] {
  return Object.fromEntries(
    tables.map((each) => {
      const all = each.list();
      const rids = (sure: boolean) => all.filter((row) => row.sure === sure).map(({ rid }) => rid);
      return [each.model.name, { live: rids(true), doubtful: rids(false) }];
    }),
  );
}

/** A program about one situation, in the order that shows it if an order is asked for. */
function generateScenario(
  seed: string,
  scenario: ScenarioName,
  name: string,
  { capabilities, level, interleaving = 'free', plan }: GenerateOptions,
): Generated {
  const { case: drawn, schedule: own } = drawScenario(scenario, seed, capabilities, plan);
  const { dialect } = capabilities;
  const printed = (sql: string) => printStatement(parseStatement(sql, dialect), dialect);
  const program: Case = {
    name: `${name}-${seed}`,
    dialect,
    ...(level === undefined ? {} : { level }),
    setup: drawn.setup.map(printed),
    sessions: drawn.sessions.map((session) => ({ ...session, statements: session.statements.map(printed) })),
  };
  const random = new Random(`${name}/${seed}/order`);
  const schedule =
    interleaving === 'own' || (interleaving === 'conflict' && own !== undefined)
      ? own
      : drawSchedule(program, interleaving, random);
  return {
    case: begunBy(program, capabilities),
    ...(schedule === undefined ? {} : { schedule }),
    tables: [],
    serial: serialOrder(program),
    predicted: {},
  };
}

/** A plain BEGIN of ours stands for the one that the database needs at that level. */
export function begunBy(program: Case, capabilities: Capabilities): Case {
  const begin = ownBegin(capabilities, program.level);
  return begin === undefined ? program : spellBegins(program, begin);
}

function resolveProfile(profile: Profile | string | undefined): Profile {
  if (typeof profile === 'object') return profile;
  const found = findProfile(profile ?? 'mixed');
  if (found !== undefined) return found;
  const names = profiles.map(({ name }) => name).join(', ');
  throw new IsoldeError('usage', `there is no profile "${profile}"; there are ${names}`);
}

function drawSchedule(program: Case, how: Interleaving, random: Random): Schedule | undefined {
  switch (how) {
    case 'free':
    case 'own':
      return undefined;
    case 'random':
      return randomSchedule(program, random);
    case 'conflict':
      return conflictSchedule(program, random) ?? randomSchedule(program, random);
    default:
      return how satisfies never;
  }
}

/** Queries that show every row of every table: what to `observe` in a run. */
export function observeTables(tables: readonly TableModel[]): string[] {
  return tables.map(({ name, columns }) => {
    const names = columns.map((each) => each.name).join(', ');
    return `SELECT ${names} FROM ${name} ORDER BY ${ridColumn}`;
  });
}
