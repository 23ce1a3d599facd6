/**
 * Programs of statements of many kinds over one table, judged by its ledger (`ledger.ts`): whatever was sent, the rows at the end are those
 * that the answers account for.
 *
 * | program | every transaction |
 * |---|---|
 * | `drawn` | one to three statements drawn from all kinds, now and then rolled back |
 * | `upserts`, `merges` | inserts a key with the number 1, or adds 1 to it |
 * | `deletes` | deletes a key, inserts it, or both |
 * | `ensured` | inserts a key if it is not there; now and then rolled back |
 * | `locked` | reads a number with FOR UPDATE, then adds 1 to it |
 *
 * Keys 1 and 2 are always there, 11 and 12 come and go, from 100 on they are new. A transaction takes its keys in order, so that waits end.
 * What is drawn depends on session and repetition alone: a burst is the same whenever it is run.
 */
import type { Contract } from '../../contracts/index.js';
import { Random } from '../../generate/index.js';
import { type BurstProgram, type BurstTurn, begun, forbidding, unreadable } from './burst-program.js';
import {
  judgeLedger,
  type LedgerKind,
  type LedgerStatement,
  ledgerSetup,
  ledgerStatements,
} from './ledger.js';

type Unit = readonly [key: number, ...kinds: LedgerKind[]];

const freshKey = ({ repeat }: BurstTurn) => 100 + Math.floor(repeat / 2);

/**
 * Accounts need that no version of a row is replaced twice, and that nothing is concluded from what is rolled back; numbers read under a lock need
 * that locks show the newest row, or that who read an older one fails.
 */
function clause(contract: Contract): string | undefined {
  const { mechanism, forbids } = contract;
  if (!forbids.includes('G1a') || mechanism?.writeConflict === 'none') return undefined;
  const locksDecide =
    forbids.includes('lost-update') ||
    mechanism?.firstUpdaterWins === true ||
    (mechanism !== undefined && mechanism.lockingReadsSee !== 'snapshot');
  return locksDecide ? forbidding('lost-update-expression')(contract) : undefined;
}

const isAble = ({ lacks }: BurstTurn, kind: LedgerKind): boolean => {
  const { needs }: LedgerStatement = ledgerStatements[kind];
  return needs === undefined || !lacks.has(needs);
};

function statementsOf(units: readonly Unit[], { dialect, oneRow }: BurstTurn): readonly string[] {
  return units.flatMap(([key, ...kinds]) =>
    kinds.map((kind) => ledgerStatements[kind].sql(key, dialect, oneRow)),
  );
}

/**
 * A transaction that ends in a ROLLBACK once in so many, drawn for each session and repetition, so that every session commits and rolls
 * back, however many there are; where it is one request, it never does.
 */
function transactionOf(units: readonly Unit[], turn: BurstTurn, rolledBack: number): readonly string[] {
  const { session, repeat, tag } = turn;
  const isRolledBack = new Random(`burst end ${session} ${repeat}`).chance(1 / rolledBack);
  const end = tag > 0 && isRolledBack ? 'ROLLBACK' : 'COMMIT';
  return ['BEGIN', ...statementsOf(units, turn), end];
}

/** Every other one is a statement alone. */
function aloneOrNot(units: readonly Unit[], turn: BurstTurn): readonly string[] {
  const statements = statementsOf(units, turn);
  return turn.repeat % 2 === 0 ? statements : ['BEGIN', ...statements, 'COMMIT'];
}

type Ledger = Pick<BurstProgram, 'name' | 'needs' | 'transaction'> & {
  readonly kinds: readonly LedgerKind[];
};

/** Every kind of statement may be left out: the accounts are made from what is sent. */
function ledger({ kinds, ...program }: Ledger): BurstProgram {
  const own = kinds.length > 1 ? kinds : [];
  const parts = own.map((kind) => [kind, new RegExp(`^${ledgerStatements[kind].found.source}`)] as const);
  return {
    ...program,
    fact: 'the rows at the end are those that the acknowledged statements account for',
    clause,
    setup: ledgerSetup,
    parts: { ...begun, ...Object.fromEntries(parts) },
    final: ['SELECT k, v FROM led'],
    judge: ({ history, final }) =>
      (final === undefined ? undefined : judgeLedger(history, final[0]!)) ?? unreadable(),
  };
}

/** Units of each group of keys; what the database lacks is not drawn. */
const always: readonly (readonly LedgerKind[])[] = [['add'], ['lock', 'add'], ['upsert'], ['merge']];
const comeAndGo: readonly (readonly LedgerKind[])[] = [
  ...([['insert'], ['delete'], ['delete', 'insert'], ['ensure'], ['absent']] as const),
];
const fresh: readonly (readonly LedgerKind[])[] = [['upsert'], ['merge']];

function draw(turn: BurstTurn): readonly Unit[] {
  const random = new Random(`burst ${turn.session} ${turn.repeat}`);
  const unit = (key: number, choices: readonly (readonly LedgerKind[])[]): readonly Unit[] => {
    const able = choices.filter((kinds) => kinds.every((kind) => isAble(turn, kind)));
    return able.length === 0 ? [] : [[key, ...able[random.below(able.length)]!]];
  };
  const units = [
    ...(random.fraction() < 0.6 ? unit(1 + random.below(2), always) : []),
    ...(random.fraction() < 0.6 ? unit(11 + random.below(2), comeAndGo) : []),
    ...(random.fraction() < 0.4 ? unit(freshKey(turn), fresh) : []),
  ];
  return units.length > 0 ? units : [[1, 'add']];
}

const drawn = ledger({
  name: 'drawn',
  kinds: ['add', 'lock', 'upsert', 'merge', 'insert', 'delete', 'ensure', 'absent'],
  transaction: (turn) => transactionOf(draw(turn), turn, 8),
});

const upserts = ledger({
  name: 'upserts',
  needs: 'statement.upsert',
  kinds: ['upsert'],
  transaction: (turn) => aloneOrNot([[freshKey(turn), 'upsert']], turn),
});

const merges = ledger({
  name: 'merges',
  needs: 'statement.merge',
  kinds: ['merge'],
  transaction: (turn) => aloneOrNot([[freshKey(turn), 'merge']], turn),
});

const deletes = ledger({
  name: 'deletes',
  kinds: ['delete', 'insert'],
  transaction: (turn) => {
    const { session, repeat, tag } = turn;
    const key = 11 + (repeat % 2);
    // In one request nobody counts: a transaction that deletes and inserts leaves the key, whatever it found.
    const kinds = tag === 0 ? 0 : (session + Math.floor(repeat / 2)) % 4;
    if (kinds === 1) return transactionOf([[key, 'delete']], turn, Number.POSITIVE_INFINITY);
    if (kinds === 2) return transactionOf([[key, 'insert']], turn, Number.POSITIVE_INFINITY);
    return transactionOf([[key, 'delete', 'insert']], turn, Number.POSITIVE_INFINITY);
  },
});

const ensured = ledger({
  name: 'ensured',
  kinds: ['ensure', 'absent'],
  transaction: (turn) => {
    const kind = isAble(turn, 'ensure') && (turn.session + turn.repeat) % 3 > 0 ? 'ensure' : 'absent';
    return transactionOf([[freshKey(turn), kind]], turn, 3);
  },
});

const locked = ledger({
  name: 'locked',
  needs: 'lock.update',
  kinds: ['lock', 'add'],
  transaction: (turn) => transactionOf([[1 + (turn.session % 2), 'lock', 'add']], turn, 16),
});

export const ledgerPrograms: readonly BurstProgram[] = [drawn, upserts, merges, deletes, ensured, locked];
