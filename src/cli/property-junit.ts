/**
 * The outcome of properties as JUnit XML: a property that failed is a failure, one that was left out is skipped, and a feature that an
 * earlier build had is a failure.
 */
import type { Property, PropertyTestResult } from '../properties/index.js';
import { printJunitSuite } from '../store/index.js';
import { describeLost } from './capabilities-file.js';

export function printPropertyJunit(
  properties: readonly Property[],
  { failures, leftOut, mistaken, lost }: PropertyTestResult,
  replays: readonly string[],
): string {
  const named = new Set(properties.map(({ name }) => name));
  const others = failures
    .map(({ failure }) => failure.property ?? failure.kind)
    .filter((name) => !named.has(name));
  const gone = lost.map((each) => ({
    ...{ classname: 'isolde.capabilities', name: each.feature, seconds: 0 },
    problem: { element: 'failure' as const, type: 'lost', message: describeLost(each), body: each.example },
  }));
  const tested = [...named, ...new Set(others)].map((name) => {
    const at = failures.findIndex(({ failure }) => (failure.property ?? failure.kind) === name);
    const skipped = leftOut.find(({ property }) => property === name)?.why;
    const base = { classname: 'isolde.property', name, seconds: 0 };
    if (at >= 0)
      return {
        ...base,
        problem: {
          element: 'failure' as const,
          type: failures[at]!.failure.kind,
          message: failures[at]!.failure.message,
          body: `replay: ${replays[at]}`,
        },
      };
    if (mistaken.includes(name))
      return {
        ...base,
        problem: {
          element: 'error' as const,
          type: 'mistaken',
          message: 'the shadow state contradicts an assertion of this property',
          body: '',
        },
      };
    return skipped === undefined ? base : { ...base, skipped };
  });
  return printJunitSuite('isolde property', [...tested, ...gone]);
}
