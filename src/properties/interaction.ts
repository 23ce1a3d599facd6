/**
 * Interactions: what a plan consists of, as data. A statement of a session, an assertion or assumption about answers, a
 * fault. A plan is made whole before anything is sent (generation actions never look at answers), so that a seed is a plan.
 *
 * Assertions are data too: they compare answers of earlier statements of the same plan. That is what makes a stored
 * counterexample a file that anyone can replay without the property's code, and what lets the shrinker ask the shadow state
 * whether an assertion still has to hold. A property's own function (`that`) is the exception: it needs its file.
 */
import type { ErrorClass } from '../histories/index.js';
import { type Row, showValue } from '../sql/index.js';
import type { FaultKind } from './fault-kinds.js';

/** A statement's number in its plan; removing statements does not change the numbers of the others. */
export type ResultId = number;

export type Interaction = StatementInteraction | CheckInteraction | FaultInteraction;

interface Grouped {
  /** Interactions of one instance of a property share a group and stay together; a single statement is a group alone. */
  readonly group: number;
  /** It may be left out without harm to its group: what happens between the steps of a property. */
  readonly optional?: true;
}

export interface StatementInteraction extends Grouped {
  readonly type: 'statement';
  readonly id: ResultId;
  readonly session: number;
  readonly sql: string;
  /** A failure is an answer like others, for an assertion to judge; otherwise it makes the rest of the group void. */
  readonly mayFail?: true;
}

export interface CheckInteraction extends Grouped {
  /** An assumption that does not hold makes the rest of its group void; an assertion that does not hold is a finding. */
  readonly type: 'assert' | 'assume';
  readonly check: Check;
  /** It relates answers of its group to each other, and holds whatever rows other groups wrote. */
  readonly anyState?: true;
  /** In a few words, for people. */
  readonly says: string;
}

export interface FaultInteraction extends Grouped {
  readonly type: 'fault';
  readonly fault: FaultKind;
  /** The session it strikes, for faults of one session. */
  readonly session: number;
}

export type Check =
  /** Two answers have the same rows, each as often. */
  | { readonly type: 'same'; readonly left: ResultId; readonly right: ResultId }
  | { readonly type: 'contains' | 'lacks'; readonly result: ResultId; readonly row: Row }
  /** The answer is not exactly this, each row as often. */
  | { readonly type: 'differs'; readonly result: ResultId; readonly rows: readonly Row[] }
  | { readonly type: 'equal'; readonly left: Count; readonly right: Count }
  /** A statement failed (with one of these classes, if any are named), or worked. */
  | { readonly type: 'fails'; readonly result: ResultId; readonly classes?: readonly ErrorClass[] }
  | { readonly type: 'works'; readonly result: ResultId }
  /** Of several statements at least one failed. */
  | { readonly type: 'one-fails'; readonly results: readonly ResultId[] }
  /** A write matched another number of rows. */
  | { readonly type: 'other-count'; readonly result: ResultId; readonly count: number }
  /** The answer is what the shadow state gives. */
  | { readonly type: 'predicted'; readonly result: ResultId }
  /** A function of the property's file decides. */
  | { readonly type: 'that'; readonly results: readonly ResultId[]; readonly holds?: OwnCheck };

/** A number computed from answers. */
export type Count =
  | number
  /** How many rows. */
  | { readonly rows: ResultId }
  /** How many rows begin with TRUE (or a number that is not 0). */
  | { readonly trues: ResultId }
  | { readonly sum: readonly Count[] };

/** What a property's own function gets: the rows of each answer it named. */
export type OwnCheck = (...rows: readonly (readonly Row[])[]) => boolean;

export interface Plan {
  readonly seed: string;
  readonly interactions: readonly Interaction[];
  /** By group: the property it is an instance of; groups without one are single statements. */
  readonly properties: ReadonlyMap<number, string>;
}

/** The answers a check looks at. */
export function resultsOf(check: Check): readonly ResultId[] {
  switch (check.type) {
    case 'same':
      return [check.left, check.right];
    case 'equal':
      return [...resultsOfCount(check.left), ...resultsOfCount(check.right)];
    case 'that':
    case 'one-fails':
      return check.results;
    default:
      return [check.result];
  }
}

function resultsOfCount(count: Count): readonly ResultId[] {
  if (typeof count === 'number') return [];
  if ('sum' in count) return count.sum.flatMap(resultsOfCount);
  return ['rows' in count ? count.rows : count.trues];
}

/** A check in words, with `#3` for the answer of statement 3. */
export function describeCheck(check: Check): string {
  switch (check.type) {
    case 'same':
      return `#${check.left} and #${check.right} have the same rows`;
    case 'contains':
      return `#${check.result} contains the row ${showRow(check.row)}`;
    case 'lacks':
      return `#${check.result} does not contain the row ${showRow(check.row)}`;
    case 'differs':
      return `#${check.result} is not ${check.rows.map(showRow).join(' ') || 'empty'}`;
    case 'equal':
      return `${describeCount(check.left)} = ${describeCount(check.right)}`;
    case 'fails':
      return `#${check.result} fails${check.classes === undefined ? '' : ` with ${check.classes.join(' or ')}`}`;
    case 'works':
      return `#${check.result} works`;
    case 'one-fails':
      return `one of ${check.results.map((id) => `#${id}`).join(', ')} fails`;
    case 'other-count':
      return `#${check.result} does not match ${check.count} rows`;
    case 'predicted':
      return `#${check.result} is what the statements before it give`;
    case 'that':
      return `the property’s own check of ${check.results.map((id) => `#${id}`).join(', ')} holds`;
    default:
      return check satisfies never;
  }
}

function describeCount(count: Count): string {
  if (typeof count === 'number') return String(count);
  if ('sum' in count) return count.sum.map(describeCount).join(' + ');
  return 'rows' in count ? `rows of #${count.rows}` : `true rows of #${count.trues}`;
}

export function showRow(row: Row): string {
  return `(${row.map(showValue).join(', ')})`;
}

/** A plan as a script people can read: sessions are comments behind the statements, properties are bracketed. */
export function printPlan({ interactions, properties }: Plan): string {
  const lines: string[] = [];
  let group: number | undefined;
  const close = () => {
    const name = group === undefined ? undefined : properties.get(group);
    if (name !== undefined) lines.push(`-- end of '${name}'`);
  };
  for (const each of interactions) {
    if (each.group !== group) {
      close();
      group = each.group;
      const name = properties.get(group);
      if (name !== undefined) lines.push(`-- begin of '${name}'`);
    }
    lines.push(printInteraction(each));
  }
  close();
  return `${lines.join('\n')}\n`;
}

export function printInteraction(each: Interaction): string {
  if (each.type === 'statement') return `${each.sql}; -- session ${each.session}, #${each.id}`;
  if (each.type === 'fault') return `-- fault: ${each.fault} (session ${each.session})`;
  return `-- ${each.type}: ${describeCheck(each.check)} (${each.says})`;
}
