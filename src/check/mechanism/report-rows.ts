/**
 * Findings about reads: which row shows what it must not show, lacks what it must show, or contradicts another row of
 * the same snapshot. Rows of one operation that are wrong in the same way make one finding.
 */

import type { Contract } from '../../contracts/index.js';

import type { OperationId } from '../../ids.js';
import type { Tx } from '../../rows/index.js';

import { counted } from '../../words.js';

import { joined, ofData, ofOperation, ofRow, type Phrase, phrase, say } from '../explanation.js';
import type { FindingKind } from '../finding.js';
import type { CheckLevel } from '../levels.js';
import { absent, type Observation, showObservation, values } from '../observation.js';
import { originOf } from './origin.js';
import {
  describeImage,
  describePivot,
  makeFinding,
  nameTx,
  observe,
  ofTx,
  ofVersion,
  operationAt,
} from './prose.js';
import { type HiddenRow, hiddenRow, reportHidden } from './report-own-deletes.js';
import { imagesOf, type Version } from './row-chain.js';
import type { Expectation, Line, ScanRead } from './scan-read.js';
import type { Fracture } from './snapshot-bounds.js';
import type { Verification } from './verification.js';

export type RowProblem =
  | { readonly kind: 'wrong' | 'twice'; readonly expectation: Expectation; readonly line: Line }
  | { readonly kind: 'missing'; readonly expectation: Expectation }
  | { readonly kind: 'extra-line'; readonly line: Line };

interface Named {
  readonly kind: FindingKind;
  readonly object: string;
  readonly seen: Observation;
  readonly allowed: readonly Observation[];
  readonly versions: readonly Version[];
  readonly tx: Tx | undefined;
  readonly operation: OperationId | undefined;
  readonly why: Phrase;
}

export function reportRows(
  verification: Verification,
  read: ScanRead,
  problems: readonly RowProblem[],
): void {
  const byKind = new Map<FindingKind, Named[]>();
  const hidden = problems.map((problem) => findHidden(read, problem));
  const deleted = hidden.filter((each) => each !== undefined);
  if (deleted.length > 0) {
    const returned = deleted.map(({ seen }) => seen).join(', ');
    reportHidden(verification, read, deleted, returned);
  }
  const extraLines = problems.filter((problem) => problem.kind === 'extra-line');
  for (const [i, problem] of problems.entries()) {
    if (hidden[i] !== undefined) continue;
    // A wrong value without a name shows twice: a line too many and the right one missing. The first says more.
    if (problem.kind === 'missing' && extraLines.length > 0 && problems[0]!.kind === 'extra-line') continue;
    const named = name(read, problem);
    byKind.set(named.kind, [...(byKind.get(named.kind) ?? []), named]);
  }
  for (const [kind, rows] of byKind) report(verification, read, kind, rows);
}

/** The row of the problem, if the transaction's own DELETE should have hidden it. */
function findHidden(read: ScanRead, problem: RowProblem): HiddenRow | undefined {
  const { table, plan } = read;
  if (problem.kind === 'missing' || problem.kind === 'twice') return undefined;
  if (problem.kind === 'wrong')
    return hiddenRow(problem.expectation.outlook.row, read, problem.line, plan.where);
  for (const row of table.rows.values()) {
    const found = hiddenRow(row, read, problem.line, plan.where);
    if (found !== undefined) return found;
  }
  return undefined;
}

function name(read: ScanRead, problem: RowProblem): Named {
  if (problem.kind === 'extra-line') {
    for (const row of read.table.rows.values()) {
      const origin = originOf(row, problem.line, read);
      const own = row.own(read.tx);
      if (origin.kind === 'wrong-version') continue;
      const versions = row.allowed(read.view, read.tx, true);
      const gone = versions.every((version) => imagesOf(version).every((image) => image === 'absent'));
      const staleKind = origin.kind === 'stale-read' && gone ? 'extra-row' : origin.kind;
      const kind = own?.met === true ? 'own-write-missed' : staleKind;
      return named({
        kind,
        object: row.object,
        seen: values(problem.line.text),
        versions,
        tx: origin.tx,
        operation: origin.operation,
        why: phrase`that value ${origin.text}`,
      });
    }
    const why: Phrase = ['no allowed version of any row gives it'];
    const seen = values(problem.line.text);
    return named({ kind: 'extra-row', object: read.table.info.name, seen, versions: [], why });
  }
  const { outlook, inside } = problem.expectation;
  const { row, versions } = outlook;
  const { object } = row;
  const own = outlook.own ? versions[0]!.states.at(-1)!.operation : undefined;
  if (problem.kind === 'missing') {
    if (outlook.own)
      return named({
        ...{ kind: 'own-write-missed', object, seen: absent, versions, operation: own },
        why: ['it wrote that row itself'],
      });
    const writer = versions[0]!;
    const why: Phrase = ['every allowed version of the row satisfies the condition'];
    const { operation } = writer.states.at(-1)!;
    return named({ kind: 'missing-row', object, seen: absent, versions, tx: writer.tx, operation, why });
  }
  const { line } = problem;
  const seen = values(line.text);
  if (problem.kind === 'twice')
    return named({
      ...{ kind: 'extra-row', object, seen: values(`${line.text}, twice`), versions },
      why: ['one row was returned two times'],
    });
  if (outlook.own)
    return named({
      ...{ kind: 'own-write-missed', object, seen, versions, operation: own },
      why: ['it had written that row itself'],
    });
  const origin = originOf(row, line, read);
  const later = versions.find((version) => version.tx !== undefined);
  const kind =
    inside.length === 0 && origin.kind !== 'dirty-read' && origin.kind !== 'post-snapshot-read'
      ? 'extra-row'
      : origin.kind;
  const by = origin.operation ?? later?.states.at(-1)?.operation;
  return named({
    ...{ kind, object, seen, versions, tx: origin.tx ?? later?.tx, operation: by },
    why: phrase`that value ${origin.text}`,
  });
}

function named(about: Omit<Named, 'allowed' | 'tx' | 'operation'> & Partial<Named>): Named {
  const allowed = new Map(
    about.versions.flatMap((version) =>
      imagesOf(version).map((image) => [describeImage(image), observe(image)]),
    ),
  );
  return { tx: undefined, operation: undefined, ...about, allowed: [...allowed.values()] };
}

const levels: Readonly<Partial<Record<FindingKind, readonly CheckLevel[]>>> = {
  'dirty-read': ['read committed'],
  'intermediate-read': ['read committed'],
};

function report(verification: Verification, read: ScanRead, kind: FindingKind, rows: readonly Named[]): void {
  const { tx, operation } = read;
  const contract = tx.contract!;
  const clause = kind === 'own-write-missed' ? 'ownWrites' : clauseOf(contract, read);
  const steps = [
    say.ran`${ofTx(tx)} ran ${ofOperation(operation)}.`,
    kind === 'own-write-missed'
      ? say.rule`Under ${contract.id} a transaction sees its own writes.`
      : say.rule`Under ${contract.id} ${ruleOf(contract, read)}.${stateOf(read)}`,
  ];
  for (const { object, seen, versions, why, operation: by } of rows.slice(0, 10)) {
    if (versions.length > 0)
      steps.push(say.allowed`Of ${ofRow(object)} it may see ${joined(versions.map(ofVersion), '; or ')}.`);
    if (kind === 'own-write-missed' && by !== undefined)
      steps.push(say.fact`${ofTx(tx)} wrote it in ${ofOperation(operationAt(verification.history, by))}.`);
    const returned = seen.as === 'absent' ? 'no such row' : ofData(showObservation(seen));
    steps.push(say.contradiction`However, it returned ${returned}; ${why}.`);
  }
  if (rows.length > 10)
    steps.push(say.contradiction`The same holds for ${counted(rows.length - 10, 'more row')}.`);
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind,
      clause,
      contract,
      operations: [operation.index, ...rows.map((row) => row.operation), tx.snapshotBy?.index],
      txs: [tx, ...rows.map((row) => row.tx)],
      versions: rows.map(({ object, seen, allowed }) => ({
        operation: operation.index,
        object,
        seen,
        allowed,
      })),
      rulesOut: levels[kind] ?? [],
      steps,
    }),
  );
}

function clauseOf(contract: Contract, read: ScanRead): string {
  return read.plan.lock === 'none'
    ? `pivot ${contract.mechanism!.pivot}`
    : `lockingReadsSee ${contract.mechanism!.lockingReadsSee}`;
}

function ruleOf(contract: Contract, read: ScanRead): string {
  if (read.plan.lock === 'none') return `a plain read sees ${describePivot(contract)}`;
  return contract.mechanism!.lockingReadsSee === 'current'
    ? 'a locking read sees the newest committed rows'
    : 'a locking read sees its transaction’s snapshot';
}

function stateOf(read: ScanRead): Phrase {
  const { snapshotBy } = read.tx;
  if (snapshotBy === undefined || read.view.current || snapshotBy === read.operation) return [];
  return phrase` Its snapshot was taken by ${ofOperation(snapshotBy)}.`;
}

/** Two rows of one snapshot that no instant explains. */
export function reportFracture(verification: Verification, read: ScanRead, { seen, missed }: Fracture): void {
  const { tx, operation } = read;
  const contract = tx.contract!;
  const same = seen.tx === missed.tx;
  const { history } = verification;
  const commitOf = (as: 'before-commit' | 'after-commit', of: Tx): Observation => ({
    as,
    transaction: of.id,
    name: nameTx(history, of),
  });
  const readIn = (index: number) => ofOperation(operationAt(history, index));
  const steps = [
    say.rule`${ofTx(tx)} reads from one snapshot under ${contract.id}: ${describePivot(contract)}.`,
    seen.earlier === undefined
      ? say.fact`In ${readIn(seen.operation)} it saw ${ofRow(seen.object)} as ${ofTx(seen.tx)} committed it, so the snapshot is after ${ofTx(seen.tx)}.`
      : say.fact`Before that snapshot was taken, its node had ${seen.earlier} what ${ofTx(seen.tx)} wrote (${readIn(seen.operation)}), so the snapshot is after ${ofTx(seen.tx)}.`,
    say.fact`In ${readIn(missed.operation)} it saw ${ofRow(missed.object)} from before ${ofTx(missed.tx)}, which had written it too, so the snapshot is before ${ofTx(missed.tx)}.`,
    same
      ? say.contradiction`However, no instant is both before and after one commit.`
      : say.contradiction`However, ${ofTx(missed.tx)} had committed before ${ofTx(seen.tx)} began to commit: no instant is before the first and after the second.`,
  ];
  verification.findings.push(
    makeFinding(verification.history, verification.txs, {
      kind: 'fractured-snapshot',
      clause: seen.earlier === undefined ? `pivot ${contract.mechanism!.pivot}` : 'otherNodesLag true',
      contract,
      operations: [operation.index, seen.operation, missed.operation],
      txs: [tx, seen.tx, missed.tx],
      versions: [
        {
          operation: seen.operation,
          object: seen.object === '' ? missed.object : seen.object,
          seen: commitOf('after-commit', seen.tx),
          allowed: [],
        },
        {
          operation: missed.operation,
          object: missed.object,
          seen: commitOf('before-commit', missed.tx),
          allowed: [],
        },
      ],
      steps,
    }),
  );
}
