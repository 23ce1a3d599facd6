/** How findings of this oracle are worded, so that all of them speak alike. */

import { type Contract, reportsOf } from '../../contracts/index.js';
import type { History, Operation } from '../../histories/index.js';
import type { Interval } from '../../rows/index.js';
import { isUndecidable, showValue } from '../../sql/index.js';
import type { Finding, FindingKind, FindingOperation, FindingTransaction, VersionSeen } from '../finding.js';
import type { CheckLevel } from '../levels.js';
import type { Image, Version } from './row-chain.js';
import type { Tx } from './transactions.js';

export function describeImage(image: Image): string {
  if (image === 'absent') return 'no row';
  if (image === 'unknown') return 'values not known';
  return `(${image.map((cell) => (isUndecidable(cell) ? '?' : showValue(cell))).join(', ')})`;
}

/** A version with its writer: `(1, 11) by T2, committed in [300, 400]`. */
export function describeVersion(version: Version): string {
  const images = version.states.at(-1)!.images.map(describeImage).join(' or ');
  const { tx } = version;
  if (tx === undefined) return `${images} from the initial state`;
  const fate =
    tx.fate === 'committed'
      ? `committed ${describeSpan(tx.commit)}`
      : tx.fate === 'aborted'
        ? 'rolled back'
        : 'perhaps committed';
  return `${images} by T${tx.id}, ${fate}${version.certain ? '' : ', if it wrote the row'}`;
}

export function describeSpan({ start, end }: Interval): string {
  const at = (time: number) => (Number.isFinite(time) ? String(time) : '…');
  return `in [${at(start)}, ${at(end)}]`;
}

export function textOf(operation: Operation): string {
  return operation.sql ?? operation.kind;
}

export function describeOperation(operation: Operation): string {
  return `operation ${operation.index} (${textOf(operation)})`;
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
export function describeSource({ sources }: Contract, clause: string): string {
  const source = sources.find((each) => each.clause === clause);
  return source === undefined ? '' : ` (${source.title}, ${source.url})`;
}

/** For a clause beyond the manual: who allows it, and who reported it. */
export function describeReports(contract: Contract, clause: string): string[] {
  const reports = reportsOf(contract, clause).map(({ title, url }) => `${title} (${url})`);
  if (reports.length === 0) return [];
  return [
    `The manual allows this (${contract.extends}); it was reported as a defect: ${reports.join('; ')}.`,
  ];
}

export interface FindingParts {
  readonly kind: FindingKind;
  readonly clause: string;
  readonly contract: Contract;
  /** Witness operations by number, the judged one first; each once. */
  readonly operations: readonly (number | undefined)[];
  readonly txs: readonly (Tx | undefined)[];
  readonly versions?: readonly VersionSeen[];
  readonly rulesOut?: readonly CheckLevel[];
  /** The argument; one line each. */
  readonly steps: readonly string[];
}

export function makeFinding(history: History, txById: ReadonlyMap<number, Tx>, parts: FindingParts): Finding {
  const indexes = [...new Set(parts.operations)].filter(
    (index) => index !== undefined && index >= 0,
  ) as number[];
  const operations = indexes.map((index) => operationAt(history, index));
  const txs = new Set<Tx>(parts.txs.filter((tx) => tx !== undefined));
  for (const operation of operations) txs.add(txById.get(operation.transaction)!);
  return {
    kind: parts.kind,
    oracle: 'mechanism',
    certainty: 'proved',
    rulesOut: parts.rulesOut ?? [],
    contract: parts.contract.id,
    clause: parts.clause,
    transactions: [...txs].map((tx) => describeTx(history, tx)),
    operations: operations.map(describeWitness),
    ...(parts.versions === undefined ? undefined : { versions: parts.versions }),
    explanation: parts.steps.join('\n'),
  };
}

/** Positions and numbers agree in whole histories; a part of one keeps its numbers. */
export function operationAt(history: History, index: number): Operation {
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
    name: `T${tx.id}`,
    session: history.header.sessions[tx.session] ?? String(tx.session),
    status: tx.fate,
  };
}
