/**
 * A second look at a finding before anybody sees it, by ways that do not share what the first one rests on:
 *
 * 1. Serial control: the case's sessions run one after another, in every order of them, transactions that the case leaves open
 *    rolled back. What still shows there is a bug, but no bug of isolation. What shows there only with the SQL that an oracle
 *    adds is a matter between that SQL and the database, and no finding; unless the oracle has executed the same SQL twice, with
 *    transactions and without: then it is on both sides, and only transactions can explain a difference. An order that could not be
 *    run (the set-up failed, the server went away, the hunt was stopped) says nothing: the control is undecided then. So it is where
 *    an order shows something else that is wrong, by whichever oracle: what the case shows with concurrency may come of that.
 * 2. The other oracles that can judge by the contract look at a run of their own. An oracle that sees something wrong agrees; one that
 *    sees nothing proves nothing, for each is blind to what others see.
 */
import { type Case, type ScheduledCase, type StatementRef, totalOrder } from '../cases/index.js';
import {
  constantOracles,
  type Finding,
  type FindingKind,
  isServerFailure,
  oracleNamed,
  oraclesFor,
} from '../check/index.js';
import type { Observe } from '../judge/index.js';
import type { SecondLook } from '../report/index.js';
import { chainsOn, classifyStatement, type Dialect } from '../sql/index.js';
import { counted } from '../words.js';
import type { HuntRequest } from './hunt-request.js';

export interface Looked {
  readonly looks: readonly SecondLook[];
  /** It needs no concurrency. */
  readonly notIsolation: boolean;
  /** Why it is no finding: it shows without concurrency, and only with added SQL, or nobody knows whether without. */
  readonly refused?: string;
}

export interface LookOptions {
  readonly observe: Observe;
  readonly lane: number;
  readonly dialect: Dialect;
  readonly signal?: AbortSignal | undefined;
}

/** Orders of sessions that are tried at most. */
const mostOrders = 12;

/** Looks again at a finding that a request shows. */
export async function lookAgain(
  request: HuntRequest,
  finding: Finding,
  options: LookOptions,
): Promise<Looked> {
  const orders = serialOrders(request.case, options.dialect);
  const control = await runOrders(request, orders, finding, options);
  const { shown, ran } = control;
  if (shown === 0) {
    const others = await askOthers(request, finding, options);
    return { looks: [silentControl(control, orders.length), ...others], notIsolation: false };
  }
  const { run, executions } = oracleNamed(request.oracle).needs;
  const ownControl = run === 'plain' || executions === true;
  const plain = ownControl ? control : await runOrders(withoutAddedSql(request), orders, undefined, options);
  const note = `${shown} of ${counted(ran, 'order')} of its sessions, one after another, ${shown === 1 ? 'shows' : 'show'} it too`;
  return {
    looks: [{ by: 'serial control', says: 'not isolation', note }],
    notIsolation: plain.shown > 0,
    ...(plain.shown === 0 && { refused: whyRefused(plain.ran, orders.length) }),
  };
}

/** What it means that no order shows the finding. */
function silentControl({ ran, otherKinds }: Control, all: number): SecondLook {
  const by = 'serial control';
  const orders = `${counted(all, 'order')} of its sessions, one after another,`;
  if (ran === 0) return { by, says: 'undecided', note: `none of ${orders} could be run` };
  if (otherKinds.length > 0) {
    const note = `no order of its sessions, one after another, shows it, but something else is wrong there: ${otherKinds.join(', ')}`;
    return { by, says: 'undecided', note };
  }
  return ran === all
    ? { by, says: 'agrees', note: `none of ${orders} shows it` }
    : { by, says: 'undecided', note: `only ${ran} of ${orders} could be run; they do not show it` };
}

function whyRefused(ran: number, all: number): string {
  return ran === all
    ? 'it needs no concurrency, but SQL that only the oracle adds'
    : 'it needs no concurrency, and whether it needs SQL that only the oracle adds could not be found out';
}

function withoutAddedSql(request: HuntRequest): HuntRequest {
  const plain = oraclesFor(request.contract).find(({ needs }) => needs.run === 'plain');
  return plain === undefined ? request : { ...request, oracle: plain.name };
}

interface Control {
  /** How many of the orders ran. */
  readonly ran: number;
  /** How many of those show a finding of the same kind; where none is wanted: any. */
  readonly shown: number;
  /** What else they show, whoever found it. */
  readonly otherKinds: readonly FindingKind[];
}

async function runOrders(
  request: HuntRequest,
  orders: readonly ScheduledCase[],
  wanted: Finding | undefined,
  { observe, lane, signal }: LookOptions,
): Promise<Control> {
  let [ran, shown] = [0, 0];
  const otherKinds = new Set<FindingKind>();
  for (const order of orders) {
    if (signal?.aborted === true) break;
    const observed = await observe({ ...request, ...order }, lane);
    if (observed.kind !== 'ran') continue;
    ran++;
    const kinds = observed.findings.map(({ kind }) => kind);
    if (kinds.some((kind) => wanted === undefined || kind === wanted.kind)) shown++;
    for (const kind of kinds) if (kind !== wanted?.kind) otherKinds.add(kind);
  }
  return { ran, shown, otherKinds: [...otherKinds] };
}

async function askOthers(
  request: HuntRequest,
  finding: Finding,
  { observe, lane, signal }: LookOptions,
): Promise<SecondLook[]> {
  const looks: SecondLook[] = [];
  const known = new Set([request.oracle, ...constantOracles().map(({ name }) => name)]);
  if (isServerFailure(finding)) return looks;
  for (const { name, rounds } of oraclesFor(request.contract)) {
    if (rounds === undefined || known.has(name) || signal?.aborted === true) continue;
    const observed = await observe({ ...request, oracle: name }, lane);
    const found = observed.kind === 'ran' ? observed.findings[0] : undefined;
    const silent =
      observed.kind === 'ran' ? 'sees nothing wrong, which proves nothing' : 'could not be asked';
    looks.push(
      found === undefined
        ? { by: name, says: 'undecided', note: silent }
        : { by: name, says: 'agrees', note: `finds ${found.kind}` },
    );
  }
  return looks;
}

/** The sessions one after another in every order; the one that reads the final state stays last. */
export function serialOrders(program: Case, dialect: Dialect): readonly ScheduledCase[] {
  const closed: Case = {
    ...program,
    sessions: program.sessions.map((session) => ({
      ...session,
      statements: endsOpen(session.statements, dialect)
        ? [...session.statements, 'ROLLBACK']
        : session.statements,
    })),
  };
  const numbers = closed.sessions.map((_, number) => number);
  const last = numbers.filter((number) => closed.sessions[number]!.name === 'after');
  const others = numbers.filter((number) => !last.includes(number));
  const orders: ScheduledCase[] = [];
  for (const order of permutations(others)) {
    if (orders.length === mostOrders) break;
    const refs = [...order, ...last].flatMap((s) =>
      closed.sessions[s]!.statements.map((_, p): StatementRef => [s, p]),
    );
    orders.push({ case: closed, schedule: totalOrder(refs) });
  }
  return orders;
}

function endsOpen(statements: readonly string[], dialect: Dialect): boolean {
  let open = false;
  for (const sql of statements) {
    const { kind } = classifyStatement(sql, dialect);
    if (kind === 'begin') open = true;
    else if (kind === 'commit' || kind === 'rollback') open = chainsOn(sql);
  }
  return open;
}

function* permutations(items: readonly number[]): Generator<readonly number[]> {
  if (items.length <= 1) yield items;
  else
    for (const first of items)
      for (const rest of permutations(items.filter((each) => each !== first))) yield [first, ...rest];
}
