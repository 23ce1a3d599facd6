/**
 * PostgreSQL's isolationtester: sessions with named steps, and permutations that order them.
 *
 * The first permutation becomes the schedule; without one the sessions run one after another, in the order of the
 * file. `readPermutations` gives all of them; without any, as the tester does, every order of the steps. A session's own `setup` runs at its start; teardown is left out, for a scratch namespace needs none.
 * Markers for expected blocking (`step(*)`) are expectations, not instructions, and are skipped.
 */
import { FileError } from '../../errors.js';
import { splitStatements } from '../../sql/index.js';
import type { ScheduledCase } from '../schedule.js';
import { CaseDraft, lineAt, type Notation, type NotationContext } from './draft.js';

export const spec: Notation = {
  name: 'isolationtester spec',
  example: 'session s1 step a { BEGIN; }',
  recognise: (text) => /^\s*session\s+"?\w+"?\s*(#.*)?$/m.test(text) && /^\s*step\s+"?\w+"?\s*\{/m.test(text),
  read: readSpec,
};

interface SpecSession {
  readonly name: string;
  setup: string;
  readonly steps: string[];
}

interface SpecStep {
  readonly session: SpecSession;
  readonly sql: string;
}

function readSpec(text: string, context: NotationContext): ScheduledCase {
  const file = readFile(text, context);
  return caseOf(file, context, file.permutations[0] ?? inFileOrder(file));
}

/** A spec in one order of its steps. */
export interface Permutation extends ScheduledCase {
  /** The names of the steps, in order. */
  readonly steps: readonly string[];
}

/** Orders that are tried of a spec which names none. */
const mostOrders = 500;

/** The spec in every order that it names; in every possible one where it names none. */
export function readPermutations(text: string, context: NotationContext): readonly Permutation[] {
  const file = readFile(text, context);
  const orders = file.permutations.length > 0 ? file.permutations : allOrders(file);
  return orders.map((order) => ({
    ...caseOf(file, context, order),
    steps: order.map(({ name }) => name),
  }));
}

interface NamedStep {
  readonly name: string;
  readonly at: number;
}

function inFileOrder({ sessions }: SpecFile): readonly NamedStep[] {
  return sessions.flatMap(({ steps }) => steps.map((name) => ({ name, at: 0 })));
}

function allOrders({ sessions }: SpecFile): (readonly NamedStep[])[] {
  const orders: (readonly NamedStep[])[] = [];
  const taken = sessions.map(() => 0);
  const extend = (order: readonly NamedStep[]): void => {
    if (orders.length >= mostOrders) return;
    let ended = true;
    for (const [s, { steps }] of sessions.entries()) {
      const name = steps[taken[s]!];
      if (name === undefined) continue;
      ended = false;
      taken[s]!++;
      extend([...order, { name, at: 0 }]);
      taken[s]!--;
    }
    if (ended) orders.push(order);
  };
  extend([]);
  return orders;
}

function readFile(text: string, context: NotationContext): SpecFile {
  // A spec pasted into a report: the lines before it become empty, so that line numbers stay right.
  const from = text.search(/^[ \t]*(#|setup\b|teardown\b|session\b)/m);
  const file = new SpecFile(text.slice(0, from).replaceAll(/[^\n]/g, ' ') + text.slice(from), context);
  file.read();
  return file;
}

function caseOf(file: SpecFile, context: NotationContext, order: readonly NamedStep[]): ScheduledCase {
  const draft = new CaseDraft({ ...context, dialect: context.dialect ?? 'postgres' });
  for (const sql of file.setups)
    for (const each of splitStatements(sql, draft.dialect)) draft.addSetup(each.sql);
  for (const session of file.sessions) {
    draft.session(session.name);
    for (const { sql } of splitStatements(session.setup, draft.dialect)) draft.add(session.name, sql);
  }
  for (const { name, at } of order) {
    const step = file.steps.get(name);
    if (step === undefined) return file.fail(at, `there is no step ${name}`);
    for (const { sql } of splitStatements(step.sql, draft.dialect)) draft.add(step.session.name, sql);
  }
  return draft.build();
}

class SpecFile {
  readonly setups: string[] = [];
  readonly sessions: SpecSession[] = [];
  readonly steps = new Map<string, SpecStep>();
  readonly permutations: NamedStep[][] = [];
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly context: NotationContext,
  ) {}

  fail(at: number, problem: string): never {
    throw new FileError({ file: this.context.file, line: lineAt(this.text, at) }, problem);
  }

  read(): void {
    for (let word = this.word(); word !== undefined; word = this.word()) {
      const session = this.sessions.at(-1);
      switch (word.text) {
        case 'setup':
          if (session === undefined) this.setups.push(this.block());
          else session.setup += this.block();
          break;
        case 'teardown':
          this.block();
          break;
        case 'session':
          this.sessions.push({ name: this.name(), setup: '', steps: [] });
          break;
        case 'step': {
          if (session === undefined) this.fail(word.at, 'a step stands before the first session');
          const name = this.name();
          this.steps.set(name, { session, sql: this.block() });
          session.steps.push(name);
          break;
        }
        case 'permutation':
          this.permutations.push(this.permutationSteps());
          break;
        default:
          if (this.permutations.length > 0) return;
          this.fail(word.at, `expected setup, teardown, session, step or permutation; found ${word.text}`);
      }
    }
  }

  private word(): { text: string; at: number; quoted: boolean } | undefined {
    const space = /(?:\s|#[^\n]*)*/y;
    space.lastIndex = this.at;
    this.at += space.exec(this.text)![0].length;
    if (this.at >= this.text.length) return undefined;
    const pattern = /"([^"\n]*)"|[\w-]+|[^\s]/y;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text)!;
    const word = { text: match[1] ?? match[0], at: this.at, quoted: match[1] !== undefined };
    this.at += match[0].length;
    return word;
  }

  private name(): string {
    const word = this.word();
    return word?.text ?? this.fail(this.at, 'expected a name, found the end of the file');
  }

  private block(): string {
    const open = this.word();
    if (open?.text !== '{') this.fail(this.at, 'expected SQL in braces');
    const end = this.text.indexOf('}', this.at);
    if (end < 0) this.fail(this.at, 'the brace that opens here is never closed');
    const sql = this.text.slice(this.at, end);
    this.at = end + 1;
    return `${sql}\n;`;
  }

  private permutationSteps(): NamedStep[] {
    const steps: NamedStep[] = [];
    const start = this.at;
    for (;;) {
      const before = this.at;
      const word = this.word();
      if (word === undefined) return steps;
      if (word.text === '(' && !word.quoted) {
        const end = this.text.indexOf(')', this.at);
        if (end < 0) this.fail(word.at, 'the parenthesis that opens here is never closed');
        this.at = end + 1;
      } else if (!word.quoted && word.text === 'permutation') {
        this.at = before;
        return steps;
      } else if (!this.steps.has(word.text) && this.text.slice(start, word.at).includes('\n')) {
        // Prose behind a pasted spec.
        this.at = this.text.length;
        return steps;
      } else steps.push({ name: word.text, at: word.at });
    }
  }
}
