/** Passes on what a read row reveals about the snapshot (`snapshot-bounds.ts`), and reports a fracture. */

import { reportFracture } from './report-rows.js';
import { comesBefore } from './row-chain.js';
import { type Expectation, explainingVersions, type Line, type ScanRead } from './scan-read.js';
import type { Verification } from './verification.js';

export function noteSnapshot(
  verification: Verification,
  read: ScanRead,
  expectation: Expectation,
  line: Line | undefined,
): void {
  const { view, tx, operation, plan, bounds } = read;
  const { row, own, hiddenBy } = expectation.outlook;
  if (
    view.current ||
    view.dirty ||
    own ||
    hiddenBy !== undefined ||
    expectation.open ||
    row.versions.length < 2
  )
    return;
  const explaining = explainingVersions(expectation, plan.where, line);
  if (explaining.length !== 1) return;
  const version = explaining[0]!;
  const hint = { operation: operation.index, object: row.object };
  if (version.tx !== undefined && version.certain)
    verification.lag?.saw(tx, operation, { tx: version.tx, ...hint });
  const fractures = [
    version.tx === undefined || !version.certain || version.tx === tx
      ? undefined
      : bounds.seen({ tx: version.tx, ...hint }),
  ];
  for (const later of row.versions) {
    if (later === version || !later.certain || later.tx === undefined || later.tx === tx) continue;
    if (later.tx.fate !== 'aborted' && comesBefore(version, later, verification.exclusive))
      fractures.push(bounds.missed({ tx: later.tx, ...hint }));
  }
  for (const fracture of fractures) if (fracture !== undefined) reportFracture(verification, read, fracture);
}
