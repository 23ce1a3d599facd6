/** Writes down what each operation met and should have met, as the verifier judges it. */
import { type History, type Operation, transactionNames } from '../../histories/index.js';
import type { OperationId } from '../../ids.js';
import { hasSnapshot, type Tx } from '../../rows/index.js';
import type { FindingKind } from '../finding.js';
import { absent, type Observation, values } from '../observation.js';
import type { AccessObserver, RowLines } from './access-observer.js';
import type { AccessState, AccessStep, AccessVersion, RowAccess } from './access-step.js';
import type { Write } from './followed-write.js';
import { originOf } from './origin.js';
import type { Outlook } from './outlook.js';
import { describeImage, observe } from './prose.js';
import type { RowChain, State, Version, View } from './row-chain.js';
import { type Expectation, explainingVersions, type Line, type Read, type ScanRead } from './scan-read.js';

export function idleStep({ index, session, transaction }: Operation, notJudged?: string): AccessStep {
  const reason = notJudged === undefined ? undefined : { notJudged: [notJudged] };
  return { operation: index, session, transaction, rows: [], findings: [], ...reason };
}

interface Draft {
  readonly tx: Tx;
  readonly operation: Operation;
  view: View | undefined;
  /** By row; by line, where a line is of no row. */
  readonly rows: Map<RowChain | Line, RowAccess>;
  answer?: AccessStep['answer'];
  readonly reasons: Set<string>;
  readonly findings: Set<FindingKind>;
}

export class AccessRecorder implements AccessObserver {
  readonly #drafts = new Map<number, Draft>();
  readonly #names: ReadonlyMap<number, string>;
  #current: Draft | undefined;

  constructor(private readonly history: History) {
    this.#names = transactionNames(history);
  }

  begin(tx: Tx, operation: Operation): void {
    this.#current = {
      ...{ tx, operation, view: undefined, rows: new Map() },
      ...{ reasons: new Set<string>(), findings: new Set<FindingKind>() },
    };
    this.#drafts.set(operation.index, this.#current);
  }

  skipped(reason: string): void {
    this.#current?.reasons.add(reason);
  }

  blame(operation: OperationId, kind: FindingKind): void {
    this.#drafts.get(operation)?.findings.add(kind);
  }

  scanned(read: ScanRead, expectations: readonly Expectation[], lines: RowLines): void {
    const draft = this.#current!;
    draft.view = read.view;
    for (const expectation of expectations) {
      const line = lines.of(expectation);
      if (line === undefined && !expectation.mayBeIn) continue;
      const { outlook, open, inside, mayBeOut } = expectation;
      const agrees =
        line === undefined
          ? mayBeOut || read.plan.skipsLocked
          : open || inside.some((image) => line.fits(image) !== false);
      draft.rows.set(outlook.row, {
        object: outlook.row.object,
        actual: this.#actual(read, expectation, line, agrees),
        expected: this.#expected(outlook, read.view),
        agrees,
      });
    }
    const object = read.table.info.name;
    for (const line of lines.left)
      draft.rows.set(line, { object, actual: { value: observeLine(line) }, expected: [], agrees: false });
  }

  queried(
    read: Read,
    rows: readonly Outlook[],
    answer: { fits: boolean; expected: readonly string[] },
  ): void {
    const draft = this.#current!;
    draft.view = read.view;
    const actual = (read.operation.rows ?? []).map(describeImage).sort().join(', ') || 'no rows';
    const expected = answer.fits ? [actual] : [...new Set(answer.expected)];
    draft.answer = { actual, expected, agrees: answer.fits };
    for (const outlook of rows) {
      const expectedOfRow = this.#expected(outlook, read.view);
      if (expectedOfRow.every(({ value }) => value.as === 'absent')) continue;
      draft.rows.set(outlook.row, { object: outlook.row.object, expected: expectedOfRow });
    }
  }

  met(write: Write, outlook: Outlook): void {
    const draft = this.#current!;
    draft.view = write.view;
    const { row } = outlook;
    draft.rows.set(row, { object: row.object, expected: this.#expected(outlook, write.view) });
  }

  wrote(write: Write, row: RowChain): void {
    const draft = this.#current!;
    draft.view = write.view;
    const own = row.own(write.tx);
    // A DELETE of a row that is gone already hides it from its own transaction, and writes nothing.
    if (own === undefined) return;
    const { images } = own.states.at(-1)!;
    const before = draft.rows.get(row) ?? { object: row.object, expected: [{ value: absent }] };
    draft.rows.set(row, { ...before, wrote: images.map(observe) });
  }

  /** The version that gave what the answer shows of a row. */
  #actual(read: ScanRead, expectation: Expectation, line: Line | undefined, agrees: boolean): AccessVersion {
    if (line === undefined) return { value: absent };
    const value = observeLine(line);
    if (agrees) {
      const version = explainingVersions(expectation, read.plan.where, line).at(-1);
      return version === undefined ? { value } : this.#named(version, value, version.states.at(-1)!);
    }
    const { row } = expectation.outlook;
    const own = row.own(read.tx);
    const { kind, tx, operation } = originOf(row, line, read);
    if (kind === 'wrong-version' && own === undefined) return { value };
    if (tx === undefined) return kind === 'stale-read' ? { value, initial: true } : { value };
    return { value, ...this.#writer(tx), ...(operation !== undefined && { operation }) };
  }

  #expected(outlook: Outlook, view: View): AccessVersion[] {
    if (outlook.hiddenBy?.certain === true) {
      const { tx, operation } = outlook.hiddenBy;
      return [{ value: absent, ...this.#writer(tx), operation }];
    }
    return outlook.versions.flatMap((version) => {
      const states = view.dirty && version.tx !== undefined ? version.states : [version.states.at(-1)!];
      return states.flatMap((state) =>
        state.images.map((image) => this.#named(version, observe(image), state)),
      );
    });
  }

  #named(version: Version, value: Observation, { operation }: State): AccessVersion {
    if (version.tx === undefined) return version.joined === true ? { value } : { value, initial: true };
    return { value, ...this.#writer(version.tx), operation };
  }

  #writer({ id }: Tx): Pick<AccessVersion, 'transaction' | 'name'> {
    const name = this.#names.get(id);
    return { transaction: id, ...(name !== undefined && { name }) };
  }

  steps(): AccessStep[] {
    return this.history.operations.map((operation) => {
      const draft = this.#drafts.get(operation.index);
      if (draft === undefined) return idleStep(operation);
      const { tx, view, rows, answer, reasons, findings } = draft;
      const state = view === undefined ? undefined : stateOf(tx, view);
      const pivot = state === 'snapshot' ? (tx.snapshotBy ?? operation).index : operation.index;
      return {
        ...idleStep(operation),
        ...(state !== undefined && { state, pivot }),
        rows: [...rows.values()],
        ...(answer !== undefined && { answer }),
        ...(reasons.size > 0 && { notJudged: [...reasons] }),
        findings: [...findings],
      };
    });
  }
}

/** What a line shows of its row: the row itself, where it has all columns in their order. */
function observeLine({ text, whole }: Line): Observation {
  const row = whole === undefined ? undefined : observe(whole);
  return row?.as === 'values' && row.text === text ? row : values(text);
}

function stateOf(tx: Tx, view: View): AccessState {
  if (view.dirty) return 'uncommitted';
  if (view.current) return 'current';
  const mechanism = tx.contract?.mechanism;
  return mechanism !== undefined && hasSnapshot(mechanism) && tx.snapshot !== undefined
    ? 'snapshot'
    : 'statement';
}
