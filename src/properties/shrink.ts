/**
 * Shrinks a plan that fails to one a person can read (D4 §4). A trial runs a smaller plan on an empty database and asks whether
 * the *same* failure shows; what fell out of validity (a group whose statement now fails, an assumption or an assertion
 * that no longer has to hold) shows nothing, because the runner leaves such groups out and asks the shadow state.
 *
 * 1. Isolation: a statement matters only to statements on the same tables. Groups that share no table, directly or over
 *    others, with the failing one go at once.
 * 2. Best first (Algorithm 2): of the smaller plans the smallest is tried first, halves of the groups, then quarters, down
 *    to single groups and optional statements. Interactions of one group stay together.
 * 3. Statements: weaker forms (`reduce/`), and conditions replaced by their parts in all statements of a group at once,
 *    for relations like TLP hold only if each part changes alike.
 *
 * The result is 1-minimal in groups and statements unless the limit of trials came first.
 */
import { weakerStatements } from '../reduce/index.js';
import { type Dialect, type Expression, parseStatement, printExpression, visitNodes } from '../sql/index.js';
import type { Interaction, Plan } from './interaction.js';
import { resultsOf } from './interaction.js';
import { groupsOf, tablesOf } from './tables-named.js';

export interface ShrinkOptions {
  readonly dialect: Dialect;
  /** Whether a plan shows the same failure. */
  readonly reproduces: (plan: Plan) => Promise<boolean>;
  /** The interaction at which it showed; nothing after it matters. */
  readonly failedAt?: number | undefined;
  /** At most so many trials; default 300. */
  readonly trials?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Shrunk {
  readonly plan: Plan;
  readonly trials: number;
  /** Nothing more can be taken away; false: the limit of trials came first. */
  readonly minimal: boolean;
}

export async function shrinkPlan(plan: Plan, options: ShrinkOptions): Promise<Shrunk> {
  const shrinker = new Shrinker(plan, options);
  return shrinker.run();
}

class Shrinker {
  #current: Plan;
  #trials = 0;
  readonly #tried = new Set<string>();

  constructor(
    plan: Plan,
    readonly options: ShrinkOptions,
  ) {
    this.#current = plan;
  }

  async run(): Promise<Shrunk> {
    const { failedAt } = this.options;
    const failing = failedAt === undefined ? undefined : this.#current.interactions[failedAt];
    if (failing !== undefined) await this.#cutAfter(failing);
    await this.#isolate(failing?.group);
    for (let smaller = true; smaller; ) {
      smaller = await this.#removeGroups();
      smaller = (await this.#removeOptional()) || smaller;
      smaller = (await this.#weaken()) || smaller;
    }
    return { plan: this.#current, trials: this.#trials, minimal: !this.#spent() };
  }

  #spent(): boolean {
    return this.#trials >= (this.options.trials ?? 300) || this.options.signal?.aborted === true;
  }

  async #try(interactions: readonly Interaction[]): Promise<boolean> {
    if (this.#spent() || interactions.length === 0) return false;
    const key = JSON.stringify(interactions);
    if (this.#tried.has(key)) return false;
    this.#tried.add(key);
    this.#trials++;
    const plan = { ...this.#current, interactions };
    if (!(await this.options.reproduces(plan))) return false;
    this.#current = plan;
    return true;
  }

  /** The failing group runs to its end: its transaction should be closed. If that is not needed, it goes too. */
  async #cutAfter(failing: Interaction): Promise<void> {
    const { interactions } = this.#current;
    const end = interactions.findLastIndex(({ group }) => group === failing.group);
    await this.#try(interactions.slice(0, end + 1));
  }

  async #isolate(failing: number | undefined): Promise<void> {
    if (failing === undefined) return;
    const { dialect } = this.options;
    const groups = groupsOf(this.#current.interactions);
    const tables = new Map([...groups].map(([group, list]) => [group, tablesOf(list, dialect)]));
    const kept = new Set([failing]);
    const reached = new Set(tables.get(failing));
    for (let grown = true; grown; ) {
      grown = false;
      for (const [group, names] of tables) {
        if (kept.has(group) || ![...names].some((name) => reached.has(name))) continue;
        kept.add(group);
        for (const name of names) reached.add(name);
        grown = true;
      }
    }
    await this.#try(
      this.#current.interactions.filter(({ group, type }) => kept.has(group) || type === 'fault'),
    );
  }

  /** Halves, quarters, … of the groups: the smallest plan that is left is tried first. */
  async #removeGroups(): Promise<boolean> {
    let removed = false;
    for (let size = Math.ceil(groupsOf(this.#current.interactions).size / 2); size >= 1; ) {
      const groups = [...groupsOf(this.#current.interactions).keys()];
      const chunks: (readonly number[])[] = [];
      for (let at = 0; at < groups.length; at += size) chunks.push(groups.slice(at, at + size));
      const plans = chunks
        .map((chunk) => this.#current.interactions.filter(({ group }) => !chunk.includes(group)))
        .sort((a, b) => a.length - b.length);
      if (await this.#first(plans)) removed = true;
      else if (size === 1) break;
      else size = Math.ceil(size / 2);
    }
    return removed;
  }

  async #removeOptional(): Promise<boolean> {
    let removed = false;
    for (;;) {
      const { interactions } = this.#current;
      const plans = interactions
        .filter((each) => mayGo(each, interactions))
        .map((gone) => interactions.filter((each) => each !== gone));
      if (!(await this.#first(plans))) return removed;
      removed = true;
    }
  }

  async #weaken(): Promise<boolean> {
    let weakened = false;
    for (;;) {
      const { interactions } = this.#current;
      const plans = [
        ...interactions.flatMap((each, at) => this.#weakerAt(each, at)),
        ...[...groupsOf(interactions)].flatMap(([group, list]) => this.#simplerConditions(group, list)),
      ];
      if (!(await this.#first(plans))) return weakened;
      weakened = true;
    }
  }

  #weakerAt(each: Interaction, at: number): Interaction[][] {
    if (each.type !== 'statement') return [];
    return weakerStatements(each.sql, this.options.dialect)
      .filter((sql) => sql.length < each.sql.length)
      .sort((a, b) => a.length - b.length)
      .map((sql) => this.#current.interactions.with(at, { ...each, sql }));
  }

  /** Each condition of a group replaced by one of its parts, wherever the group has it. */
  #simplerConditions(group: number, list: readonly Interaction[]): Interaction[][] {
    const { dialect } = this.options;
    const changes = new Map<string, readonly [from: string, to: string]>();
    for (const each of list) {
      if (each.type !== 'statement') continue;
      for (const [from, to] of conditionParts(each.sql, dialect)) changes.set(`${from}\n${to}`, [from, to]);
    }
    return [...changes.values()].map(([from, to]) =>
      this.#current.interactions.map((each) =>
        each.group === group && each.type === 'statement'
          ? { ...each, sql: each.sql.replaceAll(from, to) }
          : each,
      ),
    );
  }

  async #first(plans: readonly (readonly Interaction[])[]): Promise<boolean> {
    for (const plan of plans) if (await this.#try(plan)) return true;
    return false;
  }
}

/** Optional statements, and statements of groups without a property; what a check looks at stays. */
function mayGo(each: Interaction, interactions: readonly Interaction[]): boolean {
  if (each.type !== 'statement') return false;
  const used = interactions.some(
    (other) =>
      (other.type === 'assert' || other.type === 'assume') && resultsOf(other.check).includes(each.id),
  );
  if (used) return false;
  const alone = !interactions.some((other) => other.group === each.group && other.type !== 'statement');
  return each.optional === true || alone;
}

/** Conditions in a statement with what could stand in their place, as texts. */
function conditionParts(sql: string, dialect: Dialect): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  const add = (whole: Expression, part: Expression) => {
    const [from, to] = [printExpression(whole, dialect), printExpression(part, dialect)];
    if (to.length < from.length && sql.includes(from))
      found.push([from, `(${to})`.length < from.length ? `(${to})` : to]);
  };
  visitNodes(parseStatement(sql, dialect), {
    expression: (node) => {
      if (node.type === 'binary' && (node.op === 'AND' || node.op === 'OR')) {
        add(node, node.left);
        add(node, node.right);
      } else if (node.type === 'unary' && node.op === 'NOT') add(node, node.operand);
      else if (node.type === 'is' && isCondition(node.operand)) add(node, node.operand);
    },
  });
  return found;
}

/** Whether an expression is TRUE, FALSE or NULL: a number in its place would be read differently by each engine. */
function isCondition({ type, ...node }: Expression): boolean {
  if (type === 'binary') return /^(AND|OR|=|<>|!=|<|<=|>|>=)$/.test((node as { readonly op: string }).op);
  return ['is', 'between', 'in-list', 'in-query', 'exists', 'like'].includes(type);
}
