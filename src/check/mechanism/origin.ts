/** Where a value that no allowed version explains came from: the name of the violation, and its writer. */

import type { OperationId } from '../../ids.js';
import { type Image, intervalOf, type Tx } from '../../rows/index.js';

import { during, type Phrase, phrase } from '../explanation.js';
import { ofTx } from './prose.js';
import { imagesOf, type RowChain } from './row-chain.js';
import type { Line, Read } from './scan-read.js';

export interface Origin {
  readonly kind: 'dirty-read' | 'intermediate-read' | 'post-snapshot-read' | 'stale-read' | 'wrong-version';
  readonly tx: Tx | undefined;
  readonly operation: OperationId | undefined;
  /** Completes "that value …". */
  readonly text: Phrase;
}

/** Looks for the line among versions the reader may not see, newest first. */
export function originOf(row: RowChain, line: Line, { view, tx: reader, operation: read }: Read): Origin {
  const readEnd = intervalOf(read).end;
  const shows = (images: readonly Image[]) =>
    images.some((image) => typeof image !== 'string' && line.fits(image) === true);
  for (const version of row.versions.toReversed()) {
    const { tx } = version;
    if (tx === undefined || tx === reader) continue;
    const state = version.states.findLast(({ images }) => shows(images));
    if (state === undefined) continue;
    const from = { tx, operation: state.operation };
    if (tx.fate === 'aborted')
      return { kind: 'dirty-read', ...from, text: phrase`was written by ${ofTx(tx)}, which rolled back` };
    if (tx.commit.start > readEnd)
      return {
        kind: 'dirty-read',
        ...from,
        text: phrase`was written by ${ofTx(tx)}, which had not begun to commit yet`,
      };
    if (state !== version.states.at(-1) && !shows(imagesOf(version)))
      return {
        kind: 'intermediate-read',
        ...from,
        text: phrase`was overwritten by ${ofTx(tx)} itself before it committed`,
      };
    if (tx.commit.start > view.span.end)
      return {
        kind: 'post-snapshot-read',
        ...from,
        text: phrase`was committed by ${ofTx(tx)}${during(tx.commit)}, after that state`,
      };
    return {
      kind: 'stale-read',
      ...from,
      text: phrase`of ${ofTx(tx)} had been overwritten before that state`,
    };
  }
  const initial = row.versions.find((version) => version.tx === undefined);
  const old = initial !== undefined && shows(imagesOf(initial)) ? initial : undefined;
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
