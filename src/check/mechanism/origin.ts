/** Where a value that no allowed version explains came from: the name of the violation, and its writer. */

import type { OperationId } from '../../ids.js';
import { type Image, intervalOf, type Tx } from '../../rows/index.js';

import { during, type Phrase, phrase } from '../explanation.js';
import { ofTx } from './prose.js';
import { imagesOf, isIdleVersion, type RowChain } from './row-chain.js';
import type { Line, Read } from './scan-read.js';

export interface Origin {
  readonly kind: 'dirty-read' | 'intermediate-read' | 'post-snapshot-read' | 'stale-read' | 'wrong-version';
  readonly tx: Tx | undefined;
  readonly operation: OperationId | undefined;
  /** Completes "that value …". */
  readonly text: Phrase;
}

/**
 * Looks for the line among versions the reader may not see. Where one that was committed has the same values as one that was not, it is not
 * said to be dirty: a statement that leaves a column as it is makes such versions.
 */
export function originOf(row: RowChain, line: Line, read: Read): Origin {
  const origins = originsOf(row, line, read);
  const newest = origins.next().value;
  if (newest?.kind !== 'dirty-read') return newest ?? ofOldVersions(row, line);
  return [...origins].find(({ kind }) => kind === 'post-snapshot-read') ?? newest;
}

/** Versions with the line, newest first. */
function* originsOf(
  row: RowChain,
  line: Line,
  { view, tx: reader, operation: read }: Read,
): Generator<Origin, undefined> {
  const readEnd = intervalOf(read).end;
  const shows = showing(line);
  for (const version of row.versions.toReversed()) {
    const { tx } = version;
    if (tx === undefined || tx === reader || isIdleVersion(version)) continue;
    const state = version.states.findLast(({ images }) => shows(images));
    if (state === undefined) continue;
    const from = { tx, operation: state.operation };
    if (tx.fate === 'aborted')
      yield { kind: 'dirty-read', ...from, text: phrase`was written by ${ofTx(tx)}, which rolled back` };
    else if (tx.commit.start > readEnd)
      yield {
        kind: 'dirty-read',
        ...from,
        text: phrase`was written by ${ofTx(tx)}, which had not begun to commit yet`,
      };
    else if (state !== version.states.at(-1) && !shows(imagesOf(version)))
      yield {
        kind: 'intermediate-read',
        ...from,
        text: phrase`was overwritten by ${ofTx(tx)} itself before it committed`,
      };
    else if (tx.commit.start > view.span.end)
      yield {
        kind: 'post-snapshot-read',
        ...from,
        text: phrase`was committed by ${ofTx(tx)}${during(tx.commit)}, after that state`,
      };
    else
      yield {
        kind: 'stale-read',
        ...from,
        text: phrase`of ${ofTx(tx)} had been overwritten before that state`,
      };
  }
  return undefined;
}

function ofOldVersions(row: RowChain, line: Line): Origin {
  const shows = showing(line);
  const initial = row.versions.find((version) => version.tx === undefined);
  const old =
    initial !== undefined && initial.joined !== true && shows(imagesOf(initial)) ? initial : undefined;
  const retired =
    old === undefined
      ? row.retired.findLast(({ images }) => shows(images))
      : { tx: undefined, operation: -1, images: imagesOf(old) };
  if (retired === undefined)
    return {
      kind: 'wrong-version',
      tx: undefined,
      operation: undefined,
      text: ['is of no known version'],
    };
  const operation = retired.operation < 0 ? undefined : retired.operation;
  if (retired.tx?.fate === 'aborted')
    return {
      kind: 'dirty-read',
      tx: retired.tx,
      operation,
      text: phrase`was written by ${ofTx(retired.tx)}, which rolled back`,
    };
  const whose = retired.tx === undefined ? 'the initial state' : ofTx(retired.tx);
  return {
    kind: 'stale-read',
    tx: retired.tx,
    operation,
    text: phrase`of ${whose} had been overwritten before that state`,
  };
}

const showing = (line: Line) => (images: readonly Image[]) =>
  images.some((image) => typeof image !== 'string' && line.fits(image) === true);
