/**
 * `isolde reduce FILE --interactive`: shrinking together in a terminal. One command a line, by its name or first letters; what each does is
 * in `reduce/together`. Lines of the case are numbered in the order they are sent, those of the set-up are s1, s2, ….
 */
import { printCaseFile, printScript } from '../cases/index.js';
import { errorText, IsoldeError } from '../errors.js';
import {
  chooseFinding,
  type DatabaseOracle,
  describeTrial,
  type EditableCase,
  editLine,
  type LineRef,
  mergeTransactions,
  moveLine,
  ShrinkSession,
  type Subject,
  switchLines,
} from '../reduce/index.js';
import { admit, sqlOfCase } from '../targets/index.js';
import { type CliContext, type ExitCode, exitCodes } from './context.js';
import { writeText } from './flags.js';

const help = `  list               the case as it is now; - is switched off, ! the finding names it, + what that was made from
  drop N [N-M sN …]  switch lines off            on N …        switch them on again
  edit N SQL         rewrite a line              move N M      put line N in the place of line M
  merge N            take COMMIT N and the next BEGIN of its session away
  try                run it: same finding, another, none, or does not run
  auto               let the shrinker go on from here
  undo, redo [ID]    back and forth              tree, go ID   all states, and to any of them
  save FILE          write it: *.case.json, or a script
  help, quit`;

export async function shrinkTogether(
  { candidate, raw }: Subject,
  oracle: DatabaseOracle,
  trust: boolean,
  context: CliContext,
): Promise<ExitCode> {
  if (context.lines === undefined) throw new IsoldeError('usage', '--interactive needs somebody who types');
  const { findings, history } = await oracle.observe(candidate);
  const finding = findings.find(({ kind }) => kind === raw?.finding.kind) ?? chooseFinding(findings);
  if (finding === undefined)
    throw new IsoldeError(
      'usage',
      'sent in order, the case shows no finding; reduce it without --interactive first',
    );
  const session = new ShrinkSession({
    oracle,
    start: candidate,
    seen: { finding, history },
    admit: (each) => admit(oracle.target, sqlOfCase(each.case), { trust, source: 'the edited case' }),
  });
  context.out(`Shrinking ${finding.kind} on ${oracle.subject.name} together. help shows the commands.`);
  list(session, context);
  const terminal = new InteractiveTerminal(session, context);
  for await (const line of context.lines()) {
    if (context.signal.aborted || !(await terminal.obey(line))) break;
  }
  return session.current.trial?.verdict === 'same' ? exitCodes.found : exitCodes.undecided;
}

type Obey = (rest: string) => Promise<unknown> | unknown;

class InteractiveTerminal {
  readonly #commands: Readonly<Record<string, Obey>>;

  constructor(
    private readonly session: ShrinkSession,
    private readonly context: CliContext,
  ) {
    const change = (what: string, make: (state: EditableCase) => EditableCase) => {
      session.change(what, make);
      list(session, context);
    };
    this.#commands = {
      list: () => list(session, context),
      drop: (rest) => change(`dropped ${rest}`, (state) => switchLines(state, linesOf(rest, state), true)),
      on: (rest) => change(`switched on ${rest}`, (state) => switchLines(state, linesOf(rest, state), false)),
      edit: (rest) => {
        const [, at = '', sql = ''] = /^(\S+)\s+(.*)$/s.exec(rest) ?? [];
        change(`edited ${at}`, (state) => editLine(state, lineOf(at, state), sql));
      },
      move: (rest) => {
        const [from, to] = rest.split(/\s+/).map((text) => Number(text) - 1);
        change(`moved ${rest}`, (state) => moveLine(state, from ?? -1, to ?? -1));
      },
      merge: (rest) => change(`merged at ${rest}`, (state) => mergeTransactions(state, Number(rest) - 1)),
      try: async () => context.out(describeTrial(await session.try())),
      auto: async () => {
        const { change: what } = await session.auto({ signal: context.signal });
        context.out(what);
        list(session, context);
      },
      undo: () => this.#at(session.undo()),
      redo: (rest) => this.#at(session.redo(rest === '' ? undefined : Number(rest))),
      go: (rest) => this.#at(session.goTo(Number(rest))),
      tree: () => tree(session, context),
      save: (rest) => this.#save(rest),
      help: () => context.out(help),
    };
  }

  /** Does what a line asks for; false: it asks for the end. */
  async obey(line: string): Promise<boolean> {
    const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
    if (word === '') return true;
    if ('quit'.startsWith(word) || word === 'exit') return false;
    const names = Object.keys(this.#commands).filter((name) => name.startsWith(word));
    const name = names.find((each) => each === word) ?? names[0];
    try {
      if (name === undefined)
        throw new IsoldeError('usage', `there is no command "${word}"; help shows them`);
      await this.#commands[name]!(rest);
    } catch (error) {
      if (!(error instanceof IsoldeError)) throw error;
      this.context.err(`isolde: ${errorText(error)}`);
    }
    return true;
  }

  #at({ id, change }: ShrinkSession['current']): void {
    this.context.out(`at state ${id}: ${change}`);
    list(this.session, this.context);
  }

  async #save(file: string): Promise<void> {
    if (file === '') throw new IsoldeError('usage', 'save takes the name of a file');
    const { candidate } = this.session;
    await writeText(file, file.endsWith('.json') ? printCaseFile(candidate) : printScript(candidate));
    this.context.out(`wrote ${file}`);
  }
}

/** `3`, `3-5`, `s1`, several of them. */
function linesOf(text: string, state: EditableCase): LineRef[] {
  return text.split(/[\s,]+/).flatMap((word): LineRef[] => {
    const range = /^(\d+)-(\d+)$/.exec(word);
    if (range === null) return [lineOf(word, state)];
    const [from, to] = [Number(range[1]), Number(range[2])];
    return Array.from({ length: Math.min(to, state.statements.length) - from + 1 }, (_, i) => ({
      statement: from - 1 + i,
    }));
  });
}

function lineOf(word: string, { setup, statements }: EditableCase): LineRef {
  const [, mark, digits] = /^(s?)(\d+)$/.exec(word) ?? [];
  const number = Number(digits) - 1;
  const of = mark === 's' ? setup : statements;
  if (of[number] === undefined) throw new IsoldeError('usage', `there is no line "${word}"; list shows them`);
  return mark === 's' ? { setup: number } : { statement: number };
}

function list(session: ShrinkSession, { out, colors }: CliContext): void {
  const { state, trial } = session.current;
  const hints = session.hints();
  const marks = { named: '!', needed: '+', free: ' ' };
  const print = (number: string, mark: string, text: string, off: boolean) => {
    const line = `${number.padStart(4)} ${off ? '-' : mark} ${text}`;
    out(off ? colors.dim(line) : line);
  };
  state.setup.forEach(({ sql, off }, i) => {
    print(`s${i + 1}`, ' ', `${sql};`, off);
  });
  state.statements.forEach(({ sql, off, session: number }, i) => {
    const name = state.base.sessions[number]?.name ?? '';
    print(String(i + 1), marks[hints[i] ?? 'free'], `${name}: ${sql};`, off);
  });
  out(`     ${trial === undefined ? 'not tried yet' : describeTrial(trial)}`);
}

function tree(session: ShrinkSession, { out }: CliContext): void {
  const depth = (id: number): number => {
    const { parent } = session.nodes[id]!;
    return parent === undefined ? 0 : depth(parent) + 1;
  };
  for (const { id, change, trial } of session.nodes) {
    const mark = id === session.current.id ? '*' : ' ';
    const verdict = trial === undefined ? '' : ` (${describeTrial(trial)})`;
    out(`${mark} ${'  '.repeat(depth(id))}${id}: ${change}${verdict}`);
  }
}
