/** Engines and versions that promise the same, held to each other: the answers of one plan on both. */
import { expect, it } from 'vitest';
import { errorText, IsoldeError } from '../src/errors.js';
import { shippedProperties, testProperties } from '../src/properties/index.js';
import { openTarget } from '../src/targets/index.js';
import { enginesRequired } from './isolde.js';

/** `differ`: what is known to be answered differently, without a source that says why. `required`: CI has both. */
const pairs: readonly {
  readonly one: string;
  readonly other: string;
  readonly required: boolean;
  readonly differ?: RegExp;
}[] = [
  { one: 'turso:', other: 'sqlite:', required: true },
  // MySQL refuses TIME '00:00:00' as a default value.
  { one: 'mariadb:', other: 'mysql:', required: false, differ: /Invalid default value/ },
  { one: 'mariadb:', other: 'mariadb@11.8:', required: false },
];

it.for(pairs)('$one answers as $other does', { timeout: 240_000 }, async (pair, { skip }) => {
  const { one, other, required, differ } = pair;
  let result: Awaited<ReturnType<typeof testProperties>>;
  try {
    result = await testProperties({
      ...{ open: () => openTarget(one), reference: () => openTarget(other) },
      ...{ properties: shippedProperties, seed: 'differential', plans: 12, length: 40 },
      ...{ failures: Number.POSITIVE_INFINITY, shrink: false, now: () => 0 },
    });
  } catch (error) {
    if (!(error instanceof IsoldeError) || (required && enginesRequired)) throw error;
    return skip(errorText(error).split('\n')[0]);
  }
  const messages = result.failures.map(({ failure }) => failure.message);
  expect(messages.filter((message) => differ?.test(message) !== true)).toEqual([]);
  expect(result.counts.asserted).toBeGreaterThan(50);
});
