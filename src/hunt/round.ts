/**
 * What round i of a hunt runs: decided by seed and number alone, so that any round can be run again without the
 * others.
 *
 * 1. Rounds come in groups of eight that share a program: the same set-up is reset in a few milliseconds, a new one
 *    costs a schema.
 * 2. A group's program is a probe case in another dress (`generate/template.ts`), a bug found before in another dress, a
 *    scenario (`generate/scenarios`), a small generated one of a profile drawn by weight, or now and then a larger one.
 *    Statements that wait on purpose are enumerated: the n-th such program of a hunt takes the n-th combination, and a seed
 *    says where the walk begins (`#planOf`).
 * 3. Within a group only the order between sessions changes: a template's own first, then orders in which two
 *    transactions meet on the same rows, then any. One round of a group runs freely, and larger programs always do.
 * 4. Each round is run for one oracle, by their shares: of eight rounds the first five run as they are (mechanism), the last
 *    three instrumented: instrumentation shows every dependency, and hides the bugs that need an update to change nothing.
 *
 * A hunt opens with one round of each template, hardly changed: what is known to break elsewhere is tried here first.
 *
 * Every scheduled program ends with a session `after` that reads all tables: what the transactions left behind is part
 * of what a checker, a reduction and a report can see. Free runs are observed from outside instead (`observe`).
 */
import { type Case, type Schedule, type ScheduledCase, serialOrder } from '../cases/index.js';
import type { OracleName } from '../check/index.js';
import type { Level } from '../contracts/index.js';
import {
  begunBy,
  type Capabilities,
  conflictSchedules,
  findProfile,
  generate,
  generateFromTemplate,
  type Profile,
  Random,
  randomSchedule,
} from '../generate/index.js';
import { probeCases } from '../probe/index.js';
import { type Dialect, parseStatement } from '../sql/index.js';
import type { Target } from '../targets/index.js';
import { closingQueries, withClosingReads } from './closing-reads.js';
import { onNodes } from './node-sessions.js';

/** An oracle and how many of the rounds are run for it, before the next one's. */
export interface OracleShare {
  readonly name: OracleName;
  readonly rounds: number;
}

export interface Round {
  readonly number: number;
  /** For people: `template lost-update`, `profile no-op`. */
  readonly source: string;
  /** Who judges it. */
  readonly oracle: OracleName;
  readonly level: Level;
  readonly case: Case;
  /** Absent: a free run. */
  readonly schedule?: Schedule;
  /** Queries that show every table, for a free run. */
  readonly observe: readonly string[];
}

export interface RoundOptions {
  readonly seed: string;
  readonly capabilities: Capabilities;
  /** Of the cluster, where the database is one. */
  readonly nodes?: Target['nodes'];
  /** Groups take turns. */
  readonly levels: readonly Level[];
  /** They take turns, each with its share. */
  readonly oracles: readonly OracleShare[];
  /** Only this profile, instead of the mix. */
  readonly profile?: Profile | string;
  /** Cases besides the probes to use as templates. */
  readonly templates?: readonly ScheduledCase[];
  /** Bugs found before, as templates (`found-templates.ts`). */
  readonly found?: readonly ScheduledCase[];
}

/** Rounds of one program. */
export const groupSize = 8;
const plainRounds = 5;
/** The round of a group that runs without an order: races inside statements have none. */
const freePlace = 4;

/** Shares of the mix. Templates know where bugs were; profiles know nothing, and find the others. */
const mix = [
  ['template', 30],
  ['races', 30],
  ['waits', 12],
  ['no-op', 11],
  ['contention', 8],
  ['predicates', 9],
  ['keys', 6],
  ['simple', 6],
  ['locking', 4],
  ['mixed', 3],
  ['free', 2],
  // Only where bugs were found before.
  ['found', 12],
] as const;

interface Program {
  readonly source: string;
  readonly free: boolean;
  /** Without the closing session. */
  readonly open: Case;
  /** The order it came with. */
  readonly own?: Schedule;
  /** Orders in which transactions meet. */
  readonly meetings: readonly Schedule[];
  readonly closing: readonly string[];
}

/** The rounds of a seed. Keeps the last group's program, so asking in order is cheap. */
export class Rounds {
  #group = -1;
  #program: Program | undefined;

  readonly #templates: readonly ScheduledCase[];
  /** What each of the first rounds varies. */
  readonly #opening: readonly ScheduledCase[];
  readonly #found: readonly ScheduledCase[];
  /** Whose turn it is, round by round, then from the beginning. */
  readonly #turns: readonly OracleName[];
  readonly #weights: readonly number[];
  /** How many of the groups before this one wait on purpose. */
  #waits = { before: 0, count: 0 };

  constructor(private readonly options: RoundOptions) {
    const { seed, profile, templates = [] } = options;
    this.#turns = options.oracles.flatMap(({ name, rounds }) => new Array<OracleName>(rounds).fill(name));
    this.#templates = [...templates, ...probeCases];
    const shuffled = () => new Random(`opening/${seed}`).shuffle(probeCases);
    this.#opening = profile === undefined ? [...templates, ...shuffled()] : [];
    const { dialect } = options.capabilities;
    this.#found = (options.found ?? []).filter((template) => speaks(template.case, dialect));
    this.#weights = mix.map(([each, weight]) => (each === 'found' && this.#found.length === 0 ? 0 : weight));
  }

  round(number: number): Round {
    const { seed, nodes, capabilities } = this.options;
    const { case: program, schedule, ...round } = this.#round(number);
    const reading = { reads: round.observe, random: new Random(`reader/${seed}/${number}`) };
    const { dialect } = capabilities;
    const placed = { case: program, ...(schedule !== undefined && { schedule }) };
    return { ...round, ...onNodes(placed, { dialect, ...(nodes && { nodes }) }, reading) };
  }

  #round(number: number): Round {
    const group = Math.floor(number / groupSize);
    const { levels, seed } = this.options;
    const level = levels[group % levels.length]!;
    const opening = this.#opening[number];
    if (opening !== undefined) {
      const program = this.#dress(opening, { name: `${seed}-${number}`, boldness: openingBoldness, level });
      return {
        number,
        source: program.source,
        oracle: this.#turns[0]!,
        level,
        ...withClosingReads(program.open, program.own ?? serialOrder(program.open), program.closing),
        observe: program.closing,
      };
    }
    if (this.#group !== group) {
      this.#program = this.#draw(group, level);
      this.#group = group;
    }
    const program = this.#program!;
    const place = number % groupSize;
    return {
      number,
      source: program.source,
      oracle: this.#turns[number % this.#turns.length]!,
      level,
      ...(program.free || place === freePlace
        ? { case: program.open }
        : withClosingReads(
            program.open,
            orderOf(program, place, new Random(`order/${seed}/${number}`)),
            program.closing,
          )),
      observe: program.closing,
    };
  }

  #draw(group: number, level: Level): Program {
    const { seed, capabilities, profile } = this.options;
    const { kind, random } = this.#kindOf(group);
    const name = `${seed}-${group}`;
    if (profile === undefined && kind === 'template') {
      const template = random.pick(this.#templates);
      return this.#dress(template, { name, boldness: random.pick([0.1, 0.3, 0.5, 0.8]), level });
    }
    if (profile === undefined && kind === 'found') {
      // What is hardly changed would only be found again.
      const template = random.pick(this.#found);
      return this.#dress(template, { name, boldness: random.pick([0.5, 0.8, 1]), level, what: 'bug' });
    }
    const free = kind === 'free';
    const chosen = profile ?? (free ? random.pick(['contention', 'mixed', 'simple']) : kind);
    const scenario = (typeof chosen === 'string' ? findProfile(chosen) : chosen)?.scenario;
    const sizes = free
      ? { sessions: 4, transactions: 4 }
      : {
          sessions: random.chance(0.7) ? 2 : 3,
          transactions: random.chance(0.8) ? 1 : 2,
          statements: random.between(1, 4),
        };
    const draw = (attempt: number) =>
      generate(attempt === 0 ? name : `${name}.${attempt}`, {
        capabilities,
        profile: chosen,
        level,
        // Scenarios come with the order they are about.
        interleaving: 'own',
        ...(scenario === 'waits' && { plan: this.#planOf(group) }),
        ...sizes,
      });
    let { case: drawn, schedule } = draw(0);
    // Transactions that have nothing to do with each other show nothing: draw again, though not for ever. Who waits in a
    // scenario meets whom it waits for by construction, and its plan is to be taken as it comes.
    for (let attempt = 1; scenario !== 'waits' && attempt < mostDraws && !mayMeet(drawn); attempt++)
      ({ case: drawn, schedule } = draw(attempt));
    const source = `profile ${typeof chosen === 'string' ? chosen : chosen.name}`;
    return programOf(source, drawn, free ? undefined : schedule, free);
  }

  /** What the mix gives a group, and the stream for its other choices. */
  #kindOf(group: number): { readonly kind: (typeof mix)[number][0]; readonly random: Random } {
    const random = new Random(`group/${this.options.seed}/${group}`);
    return { kind: mix[random.weighted(this.#weights)!]![0], random };
  }

  /**
   * Which combination a group that waits on purpose takes: the one behind that of the last such group. The groups before are
   * counted, not remembered, so that a range of rounds gives the same programs whoever runs the others.
   */
  #planOf(group: number): number {
    const { seed, profile } = this.options;
    const start = new Random(`plans/${seed}`).below(1_000_000);
    if (profile !== undefined) return start + group;
    // The opening has taken the rounds of the groups before.
    if (group < this.#waits.before || this.#waits.before === 0)
      this.#waits = { before: Math.floor(this.#opening.length / groupSize), count: 0 };
    for (; this.#waits.before < group; this.#waits.before++)
      if (this.#kindOf(this.#waits.before).kind === 'waits') this.#waits.count++;
    return start + this.#waits.count;
  }

  #dress(template: ScheduledCase, { name, boldness, level, what = 'template' }: Dress): Program {
    const { capabilities } = this.options;
    const { dialect } = capabilities;
    const { case: dressed, schedule } = generateFromTemplate(name, template, { dialect, boldness });
    const begun = begunBy(atLevel(dressed, level), capabilities);
    return programOf(`${what} ${template.case.name}`, begun, schedule, false);
  }
}

/** How a template becomes a program. */
interface Dress {
  /** Seed of its choices. */
  readonly name: string;
  /** How much of it is changed, from 0 to 1. */
  readonly boldness: number;
  readonly level: Level;
  /** What the template is, for the program's source. */
  readonly what?: 'template' | 'bug';
}

/** Whether a case can be written in a dialect: it is already, or every statement of it is understood. */
function speaks(program: Case, dialect: Dialect): boolean {
  if (program.dialect === dialect) return true;
  const { setup, sessions } = program;
  const all = [...setup, ...sessions.flatMap(({ statements }) => statements)];
  return all.every((sql) => parseStatement(sql, program.dialect).type !== 'opaque');
}

const mostDraws = 4;

function mayMeet(program: Case): boolean {
  for (const _ of conflictSchedules(program, { pairs: 1, orders: 1 })) return true;
  return false;
}

/** How much the templates of the first rounds are changed. */
const openingBoldness = 0.05;

function programOf(source: string, open: Case, own: Schedule | undefined, free: boolean): Program {
  return {
    source,
    free,
    open,
    ...(own === undefined ? {} : { own }),
    meetings: free ? [] : [...conflictSchedules(open, { pairs: 3, orders: 24, serial: false })],
    closing: closingQueries(open),
  };
}

/** The order of the n-th round of a group. */
function orderOf({ own, open, meetings }: Program, place: number, random: Random): Schedule {
  const asItCame = place === 0 || place === plainRounds || random.chance(0.2);
  if (own !== undefined && asItCame) return own;
  if (meetings.length > 0 && random.chance(0.75)) return random.pick(meetings);
  return randomSchedule(open, random);
}

/** A template's case for this level alone: its own level is another story. */
function atLevel(program: Case, level: Level): Case {
  const sessions = program.sessions.map(({ name, statements }) => ({ name, statements }));
  return { ...program, level, sessions };
}
