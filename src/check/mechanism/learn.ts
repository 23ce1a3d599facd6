/**
 * Learning from reads. A version whose values are not known (its statement could not be evaluated, or may have missed
 * the row) still has one value. Once a read that can only have seen this version, or the one below it, shows a row in
 * full, that value is known, and later reads are judged by it.
 */
import { type Image, imageKey, isVague } from '../../rows/index.js';
import { comesBefore, imagesOf, type Version, type View } from './row-chain.js';
import type { Expectation, Line } from './scan-read.js';

export function learnFromRead(
  expectation: Expectation,
  line: Line | undefined,
  view: View,
  exclusive: boolean,
): void {
  const { versions, images, pending } = expectation.outlook;
  const seen: Image | undefined = line?.whole;
  if (seen === undefined || pending || !images.some(isVague)) return;
  if (versions.length === 1) {
    learn(versions[0]!, seen);
    return;
  }
  if (versions.length !== 2) return;
  const [below, above] = versions as [Version, Version];
  if (!isVague(imagesOf(above)[0]!) || above.certain || above.commit.end >= view.span.start) return;
  if (!comesBefore(below, above, exclusive)) return;
  const known = imagesOf(below);
  if (known.length !== 1 || isVague(known[0]!)) return;
  learn(above, seen);
  if (imageKey(known[0]!) !== imageKey(seen)) Object.assign(above, { certain: true, met: true });
}

function learn(version: Version, image: Image): void {
  version.states.at(-1)!.images = [image];
}
