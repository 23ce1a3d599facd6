/** The outcome of properties as JUnit XML: a property that failed is a failure, one that was left out is skipped. */
import type { Property, PropertyTestResult } from '../properties/index.js';
import { printJunitSuite } from '../store/index.js';

export function printPropertyJunit(
  properties: readonly Property[],
  { failures, leftOut, mistaken }: PropertyTestResult,
  replays: readonly string[],
): string {
  const named = new Set(properties.map(({ name }) => name));
  const others = failures
    .map(({ failure }) => failure.property ?? failure.kind)
    .filter((name) => !named.has(name));
  return printJunitSuite(
    'isolde property',
    [...named, ...new Set(others)].map((name) => {
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
    }),
  );
}
