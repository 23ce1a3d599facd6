/** Version numbers of engines and packages: `1.1.3`, `17.6`, `0.5.0-pre.17`, `1.4.0-r.2`. */

const pattern = /^\d{1,6}(?:\.\d{1,9}){0,3}(?:-[0-9A-Za-z]{1,20}(?:\.[0-9A-Za-z]{1,20}){0,5})?$/;

/** Whether a text is a version number: no path, no range, no option can look like one. */
export function isVersion(text: string): boolean {
  return pattern.test(text);
}

/** Below zero: `a` is the older one. Numbers count as numbers, and what stands behind a hyphen comes before the plain release. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [takeApart(a), takeApart(b)];
  const release = compareParts(one.release, other.release);
  if (release !== 0) return release;
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  return compareParts(one.pre, other.pre);
}

function takeApart(version: string): {
  readonly release: readonly string[];
  readonly pre: readonly string[];
} {
  const hyphen = version.indexOf('-');
  const release = (hyphen < 0 ? version : version.slice(0, hyphen)).split('.');
  return { release, pre: hyphen < 0 ? [] : version.slice(hyphen + 1).split('.') };
}

/** A part that is missing comes first: `17` before `17.0`. */
function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [one, other] = [a[i], b[i]];
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    if (one === other) continue;
    const numbers = [Number(one), Number(other)] as const;
    const [x, y] = numbers;
    if (Number.isNaN(x) || Number.isNaN(y)) {
      if (Number.isNaN(x) && Number.isNaN(y)) return one < other ? -1 : 1;
      // Numbers come before words, as in npm's order.
      return Number.isNaN(x) ? 1 : -1;
    }
    if (x !== y) return x - y;
  }
  return 0;
}

/** A release, not something before one. */
export function isRelease(version: string): boolean {
  return !version.includes('-');
}

/** Whether `version` is the one asked for or, where a series is asked for (`1.1`), a release of it. */
export function isOfSeries(version: string, asked: string): boolean {
  return version === asked || (isRelease(version) && version.startsWith(`${asked}.`));
}
