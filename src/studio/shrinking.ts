/**
 * Shrinking together in pages: sessions of `reduce/together`, each on a database of its own, by number. Two tabs that shrink the same bug
 * have two sessions.
 */
import { type Case, parseScript, printScript, type ScheduledCase } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import { type Contract, findContract } from '../contracts/index.js';
import { errorText, IsoldeError } from '../errors.js';
import type { History } from '../histories/index.js';
import {
  candidateOf,
  chooseFinding,
  DatabaseOracle,
  describeTrial,
  type EditableCase,
  editLine,
  type Hint,
  type LineRef,
  mergeTransactions,
  moveLine,
  type ReductionProgress,
  type SeenFinding,
  ShrinkSession,
  subjectOfCase,
  switchLines,
  type TrialResult,
} from '../reduce/index.js';
import { type Bug, mechanismOf, nameFinding, type RunPage, runPage } from '../report/index.js';
import type { BugStore } from '../store/index.js';
import { admit, sqlOfCase } from '../targets/index.js';
import type { NewsHub } from './events.js';
import {
  type Asked,
  countIn,
  Download,
  Exactly,
  maybeTextIn,
  NotFound,
  type Routes,
  textIn,
} from './routes.js';
import type { StudioTargets } from './studio-targets.js';

export interface ShrinkPage {
  readonly id: string;
  readonly finding: string;
  readonly target: string;
  readonly setup: readonly { readonly sql: string; readonly off: boolean }[];
  readonly sessions: readonly string[];
  readonly lines: readonly {
    readonly sql: string;
    readonly off: boolean;
    readonly session: number;
    readonly hint?: Hint;
  }[];
  readonly current: number;
  readonly tree: readonly ShrinkTreeNode[];
  /** Trying, or the shrinker at work: how far it is. */
  readonly working?: string;
  /** What went wrong with the last request that ran by itself. */
  readonly failure?: string;
  /** The last run of this state. */
  readonly run?: RunPage;
  readonly script: string;
}

export interface ShrinkTreeNode {
  readonly id: number;
  readonly parent?: number;
  readonly change: string;
  readonly statements: number;
  readonly verdict?: TrialResult['verdict'];
  readonly says?: string;
}

interface OpenSession {
  readonly id: string;
  readonly session: ShrinkSession;
  readonly oracle: DatabaseOracle;
  readonly contract: Contract | undefined;
  stop?: AbortController;
  working?: string;
  failure?: string;
}

/** More than a person has open. */
const mostSessions = 12;

export class Shrinking {
  readonly #open = new Map<string, OpenSession>();
  #count = 0;

  constructor(
    private readonly store: BugStore,
    private readonly targets: StudioTargets,
    private readonly hub: NewsHub,
  ) {}

  readonly routes: Routes = {
    'POST shrink': ({ body }) => this.#start(body),
    'GET shrink/:id': (asked) => pageOf(this.#of(asked)),
    'GET shrink/:id/case.sql': (asked) =>
      new Download('case.sql', printScript(this.#of(asked).session.candidate)),
    'GET shrink/:id/texts': (asked) => new Exactly(textsOf(this.#of(asked).session.current.state)),
    'POST shrink/:id/change': (asked) => this.#change(asked),
    'POST shrink/:id/go': (asked) => {
      const open = this.#of(asked);
      open.session.goTo(countIn(asked.body, 'to'));
      return pageOf(open);
    },
    'POST shrink/:id/try': async (asked) => {
      const open = this.#of(asked);
      await this.#work(open, 'running it', () => open.session.try());
      return pageOf(open);
    },
    'POST shrink/:id/auto': (asked) => this.#auto(this.#of(asked)),
    'POST shrink/:id/stop': (asked) => {
      const open = this.#of(asked);
      open.stop?.abort();
      return pageOf(open);
    },
  };

  async close(): Promise<void> {
    for (const { oracle, stop } of this.#open.values()) {
      stop?.abort();
      await oracle.close().catch(() => undefined);
    }
    this.#open.clear();
  }

  #of({ params }: Asked): OpenSession {
    const open = this.#open.get(params.id ?? '');
    if (open === undefined) throw new NotFound('this session of shrinking has ended; start another one');
    return open;
  }

  async #start(body: unknown): Promise<ShrinkPage> {
    const bugId = maybeTextIn(body, 'bug');
    const bug = bugId === undefined ? undefined : await this.store.get(bugId);
    const target = maybeTextIn(body, 'target');
    const open = () => {
      if (target !== undefined) return this.targets.open(target);
      return bug === undefined ? this.targets.openUsual() : this.targets.openFor(bug);
    };
    const oracle = await DatabaseOracle.open({ open });
    try {
      const { seen, start, contract } =
        bug === undefined ? await seenInScript(textIn(body, 'script'), oracle) : await seenInBug(bug, oracle);
      const session = new ShrinkSession({
        oracle,
        start: candidateOf(start),
        seen,
        admit: (each) => admitted(each.case, oracle),
      });
      return pageOf(await this.#keep({ session, oracle, contract }));
    } catch (error) {
      await oracle.close().catch(() => undefined);
      throw error;
    }
  }

  async #keep(open: Omit<OpenSession, 'id'>): Promise<OpenSession> {
    const id = String(++this.#count);
    const kept = { ...open, id };
    this.#open.set(id, kept);
    const [oldest] = this.#open.values();
    if (this.#open.size > mostSessions && oldest !== undefined && !oldest.session.isWorking) {
      this.#open.delete(oldest.id);
      await oldest.oracle.close().catch(() => undefined);
    }
    return kept;
  }

  #change(asked: Asked): ShrinkPage {
    const open = this.#of(asked);
    const { body } = asked;
    const { what, make } = changeOf(body);
    open.session.change(what, make);
    return pageOf(open);
  }

  /** Starts the shrinker and answers at once; pages hear of its progress. */
  #auto(open: OpenSession): ShrinkPage {
    const stop = new AbortController();
    open.stop = stop;
    const onProgress = ({ stage, operations, counts }: ReductionProgress) => {
      open.working = `${stage}: ${operations} statements after ${counts.trials} trials`;
      this.hub.tell({ kind: 'shrink', id: open.id });
    };
    void this.#work(open, 'the shrinker is at work', () =>
      open.session.auto({ signal: stop.signal, onProgress }),
    ).catch((error: unknown) => {
      open.failure = errorText(error);
      this.hub.tell({ kind: 'shrink', id: open.id });
    });
    return pageOf(open);
  }

  async #work(open: OpenSession, doing: string, work: () => Promise<unknown>): Promise<void> {
    if (open.session.isWorking) throw new IsoldeError('usage', 'a trial is running already');
    delete open.failure;
    open.working = doing;
    this.hub.tell({ kind: 'shrink', id: open.id });
    try {
      await work();
    } finally {
      delete open.working;
      this.hub.tell({ kind: 'shrink', id: open.id });
    }
  }
}

/** Where a session starts. */
interface Started {
  readonly start: ScheduledCase;
  readonly seen: SeenFinding;
  readonly contract: Contract | undefined;
}

async function seenInBug(bug: Bug, oracle: DatabaseOracle): Promise<Started> {
  await admitted(bug.case, oracle);
  const contract = bug.contract === undefined ? undefined : findContract(bug.contract);
  oracle.judgeBy({
    oracle: bug.finding.oracle,
    level: bug.level,
    ...(contract !== undefined && { contract }),
  });
  const { findings, history } = await oracle.observe(candidateOf(bug));
  const wanted = oracle.identity(bug.finding, bug.history);
  const finding = findings.find((each) => oracle.identity(each, history) === wanted);
  const [other] = findings;
  if (finding === undefined && other !== undefined)
    throw new IsoldeError(
      'usage',
      `${oracle.subject.name} shows another finding than the bug’s (${nameFinding(other.kind)} instead of ${nameFinding(bug.finding.kind)}): there is nothing to keep`,
    );
  return {
    start: bug,
    seen: seenOr(finding, history, oracle),
    contract: mechanismOf({ contract: contract?.id, target: oracle.target.stamp, level: bug.level }),
  };
}

async function seenInScript(text: string, oracle: DatabaseOracle): Promise<Started> {
  const start = parseScript(text, { file: 'the case', dialect: oracle.target.dialect });
  await admitted(start.case, oracle);
  const subject = await subjectOfCase(start, oracle);
  if ('valid' in subject)
    throw new IsoldeError(
      'usage',
      `nothing is wrong with it on this target${subject.unknownReasons.map((why) => `; not decided: ${why}`).join('')}`,
    );
  const { findings, history } = await oracle.observe(subject.candidate);
  const level = start.case.level ?? oracle.target.defaultLevel;
  return {
    start: subject.candidate,
    seen: seenOr(chooseFinding(findings), history, oracle),
    contract: mechanismOf({ target: oracle.target.stamp, level }),
  };
}

function seenOr(finding: Finding | undefined, history: History, oracle: DatabaseOracle): SeenFinding {
  if (finding !== undefined) return { finding, history };
  throw new IsoldeError(
    'usage',
    `the case shows nothing on ${oracle.subject.name}: there is no finding to keep`,
  );
}

function admitted(program: Case, { target }: DatabaseOracle): Promise<void> {
  return admit(target, sqlOfCase(program), { trust: false, source: 'the case' });
}

function changeOf(body: unknown): {
  readonly what: string;
  readonly make: (state: EditableCase) => EditableCase;
} {
  const kind = textIn(body, 'kind');
  const at = countIn(body, 'at');
  const isSetup = maybeTextIn(body, 'of') === 'setup';
  const line: LineRef = isSetup ? { setup: at } : { statement: at };
  const name = `${isSetup ? 'set-up ' : ''}line ${at + 1}`;
  switch (kind) {
    case 'off':
      return { what: `switched off ${name}`, make: (state) => switchLines(state, [line], true) };
    case 'on':
      return { what: `switched on ${name}`, make: (state) => switchLines(state, [line], false) };
    case 'edit': {
      const sql = textIn(body, 'sql');
      return { what: `edited ${name}`, make: (state) => editLine(state, line, sql) };
    }
    case 'move': {
      const to = countIn(body, 'to');
      return { what: `moved line ${at + 1} to ${to + 1}`, make: (state) => moveLine(state, at, to) };
    }
    case 'merge':
      return {
        what: `merged two transactions at line ${at + 1}`,
        make: (state) => mergeTransactions(state, at),
      };
    default:
      throw new IsoldeError('usage', `there is no change "${kind}"`);
  }
}

/** The statements exactly as they are, for editing. */
function textsOf({ setup, statements }: EditableCase): {
  readonly setup: readonly string[];
  readonly lines: readonly string[];
} {
  return { setup: setup.map(({ sql }) => sql), lines: statements.map(({ sql }) => sql) };
}

function pageOf({ id, session, oracle, contract, working, failure }: OpenSession): ShrinkPage {
  const { state, trial } = session.current;
  const hints = session.hints();
  const { finding, history } = trial ?? {};
  const first = session.nodes[0]!.trial?.finding;
  return {
    id,
    finding: first === undefined ? '' : nameFinding(first.kind),
    target: `${oracle.subject.name} (${oracle.target.stamp.url ?? oracle.target.name})`,
    setup: state.setup,
    sessions: state.base.sessions.map(({ name }) => name),
    lines: state.statements.map(({ sql, off, session: number }, i) => ({
      ...{ sql, off, session: number },
      ...(hints[i] !== undefined && { hint: hints[i] }),
    })),
    current: session.current.id,
    tree: session.nodes.map((node) => ({
      id: node.id,
      ...(node.parent !== undefined && { parent: node.parent }),
      change: node.change,
      statements: node.state.statements.filter(({ off }) => !off).length,
      ...(node.trial !== undefined && { verdict: node.trial.verdict, says: describeTrial(node.trial) }),
    })),
    ...(working !== undefined && { working }),
    ...(failure !== undefined && { failure }),
    ...(history !== undefined && {
      run: runPage(history, {
        witnesses: new Set(finding?.operations.map(({ index }) => index)),
        finding,
        contract,
        scheduled: session.candidate,
      }),
    }),
    script: printScript(session.candidate),
  };
}
