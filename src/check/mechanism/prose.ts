/** How findings of this oracle are worded, so that all of them speak alike. */

import { type Contract, type ContractSource, reportsOf } from '../../contracts/index.js';
import { type History, type Operation, transactionNames } from '../../histories/index.js';

import type { OperationId, TransactionId } from '../../ids.js';
import type { Image, Tx } from '../../rows/index.js';

import { isUndecidable, showValue } from '../../sql/index.js';

import {
  joined,
  ofTransaction,
  type Phrase,
  type Piece,
  phrase,
  type Step,
  say,
  spanOf,
  withNames,
} from '../explanation.js';
import type { Finding, FindingKind, FindingOperation, FindingTransaction, VersionSeen } from '../finding.js';
import type { CheckLevel } from '../levels.js';
import { absent, type Observation, unknownValues, values } from '../observation.js';
import type { Version } from './row-chain.js';

export function describeImage(image: Image): string {
  if (image === 'absent') return 'no row';
  if (image === 'unknown') return unknownValues;
  return `(${image.map((cell) => (isUndecidable(cell) ? '?' : showValue(cell))).join(', ')})`;
}

/** What is known of a version: the values it last had, and its writer. */
export function ofVersion(version: Version): Piece {
  const { tx } = version;
  const { images } = version.states.at(-1)!;
  const text = images.map(describeImage).join(' or ');
  if (tx === undefined) return { version: text };
  return {
    version: text,
    writer: { transaction: tx.id, fate: tx.fate },
    ...(tx.fate === 'committed' ? { committed: spanOf(tx.commit) } : {}),
    ...(images.every((image) => image === 'absent') ? { deleted: true } : {}),
    ...(version.certain ? {} : { doubtful: true }),
  };
}

/** What an image shows of its row. */
export function observe(image: Image): Observation {
  if (image === 'absent') return absent;
  return image === 'unknown' ? values(unknownValues) : values(describeImage(image), image.length);
}

export const ofTx = ({ id }: Tx): Piece => ofTransaction(id);

export function textOf(operation: Operation): string {
  return operation.sql ?? operation.kind;
}

const pivots = {
  begin: 'the newest version committed before its BEGIN',
  'first-statement': 'the newest version committed before its first statement',
  'first-read': 'the newest version committed before its first plain read',
  statement: 'the newest version committed before the statement',
  uncommitted: 'the newest version, committed or not',
} as const;

/** What the contract lets a plain read see, as the end of "… sees". */
export function describePivot(contract: Contract): string {
  return pivots[contract.mechanism!.pivot];
}

/** Where a clause is written down, in parentheses. */
export function describeSource({ sources }: Contract, clause: string): Phrase {
  const source = sources.find((each) => each.clause === clause);
  return source === undefined ? [] : phrase` (${ofSource(source)})`;
}

const ofSource = ({ title, url }: ContractSource): Piece => ({ source: { title, url } });

/** For a clause beyond the manual: who allows it, and who reported it. */
export function describeReports(contract: Contract, clause: string): Step[] {
  const reports = reportsOf(contract, clause).map(ofSource);
  if (reports.length === 0) return [];
  return [
    say.reported`The manual allows this (${contract.extends!}); it was reported as a defect: ${joined(reports, '; ')}.`,
  ];
}

export interface FindingParts {
  readonly kind: FindingKind;
  readonly clause: string;
  readonly contract: Contract;
  /** Witness operations by number, the judged one first; each once. */
  readonly operations: readonly (OperationId | undefined)[];
  readonly txs: readonly (Tx | undefined)[];
  readonly versions?: readonly VersionSeen[];
  readonly rulesOut?: readonly CheckLevel[];
  readonly steps: readonly Step[];
}

export function makeFinding(
  history: History,
  txById: ReadonlyMap<TransactionId, Tx>,
  parts: FindingParts,
): Finding {
  const indexes = [...new Set(parts.operations)].filter(
    (index) => index !== undefined && index >= 0,
  ) as number[];
  const operations = indexes.map((index) => operationAt(history, index));
  const txs = new Set<Tx>(parts.txs.filter((tx) => tx !== undefined));
  for (const operation of operations) txs.add(txById.get(operation.transaction)!);
  const transactions = [...txs].map((tx) => describeTx(history, tx));
  return {
    kind: parts.kind,
    oracle: 'mechanism',
    certainty: 'proved',
    rulesOut: parts.rulesOut ?? [],
    contract: parts.contract.id,
    clause: parts.clause,
    transactions,
    operations: operations.map(describeWitness),
    ...(parts.versions === undefined ? undefined : { versions: parts.versions }),
    explanation: nameSteps(history, parts.steps, transactions),
  };
}

/** Steps may speak of writers that are no witnesses: these are named in place. */
function nameSteps(
  history: History,
  steps: readonly Step[],
  witnesses: readonly FindingTransaction[],
): readonly Step[] {
  const names = transactionNames(history);
  const listed = new Set(witnesses.map(({ id }) => id));
  return steps.map(({ reason, says }) => ({
    reason,
    says: withNames(says, (id) => (listed.has(id) ? undefined : names.get(id))),
  }));
}

/** Positions and numbers agree in whole histories; a part of one keeps its numbers. */
export function operationAt(history: History, index: OperationId): Operation {
  const direct = history.operations[index];
  return direct?.index === index
    ? direct
    : history.operations.find((operation) => operation.index === index)!;
}

function describeWitness(operation: Operation): FindingOperation {
  return { index: operation.index, transaction: operation.transaction, text: textOf(operation) };
}

export function describeTx(history: History, tx: Tx): FindingTransaction {
  return {
    id: tx.id,
    name: nameTx(history, tx),
    session: history.header.sessions[tx.session] ?? String(tx.session),
    status: tx.fate,
  };
}

/** What a person calls the transaction. */
export function nameTx(history: History, tx: Tx): string {
  return transactionNames(history).get(tx.id) ?? `transaction ${tx.id}`;
}
