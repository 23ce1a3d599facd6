/**
 * How much each component of a feature vector tells reports apart, and how alike two reports are (Pisco §6.1).
 *
 * The weight of a component f is its part of the mutual information between components and bugs,
 *
 *     w(f) = Σ_y p(f, y) log( p(f, y) / (p(f) p(y)) ),    p(f, y) = (n(f, y) + 1) / (M + n)
 *
 * where n(f, y) sums f over the reports of bug y, n sums all of them, and M is the number of pairs (f, y): Laplace's rule, so
 * that a pair nobody has reported yet is unlikely, not impossible. p(f) and p(y) are the sums of p(f, y), which makes every
 * weight at least 0. (With p(f) counted apart, as a share of reports, the joint probabilities of one component do not add up
 * to it and most weights come out negative.)
 *
 * Likeness is the cosine of the weighted vectors. Equal likeness is ordered by id.
 */
export type Vector = ReadonlyMap<string, number>;

export interface Labelled {
  /** Reports of one bug carry the same name. */
  readonly bug: string;
  readonly vector: Vector;
}

/** In natural units of information; linear in the size of all vectors together. */
export function weigh(reports: readonly Labelled[]): ReadonlyMap<string, number> {
  const components = new Set(reports.flatMap(({ vector }) => [...vector.keys()]));
  const perBug = new Map<string, Map<string, number>>();
  let all = 0;
  for (const { bug, vector } of reports) {
    const counts = perBug.get(bug) ?? new Map<string, number>();
    perBug.set(bug, counts);
    for (const [component, value] of vector) {
      counts.set(component, (counts.get(component) ?? 0) + value);
      all += value;
    }
  }
  const total = all + components.size * perBug.size;
  const bugShare = [...perBug.values()].map((counts) => {
    let sum = components.size;
    for (const value of counts.values()) sum += value;
    return { counts, share: sum / total };
  });
  const weights = new Map<string, number>();
  for (const component of [...components].sort()) {
    const joint = bugShare.map(({ counts }) => ((counts.get(component) ?? 0) + 1) / total);
    const own = joint.reduce((sum, each) => sum + each, 0);
    const weight = joint.reduce((sum, p, i) => sum + p * Math.log(p / (own * bugShare[i]!.share)), 0);
    weights.set(component, Math.max(0, weight));
  }
  return weights;
}

/** Between 0 and 1; components without a weight do not count. */
export function likeness(a: Vector, b: Vector, weights: ReadonlyMap<string, number>): number {
  const norm = Math.sqrt(product(a, a, weights) * product(b, b, weights));
  return norm === 0 ? 0 : Math.min(1, product(a, b, weights) / norm);
}

function product(a: Vector, b: Vector, weights: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [component, value] of a) {
    const weight = weights.get(component) ?? 0;
    sum += weight * weight * value * (b.get(component) ?? 0);
  }
  return sum;
}

/** The `most` reports that are most alike, the best first. */
export function nearest<T extends { readonly id: string; readonly vector: Vector }>(
  vector: Vector,
  reports: readonly T[],
  weights: ReadonlyMap<string, number>,
  most: number,
): { readonly report: T; readonly likeness: number }[] {
  return reports
    .map((report) => ({ report, likeness: likeness(vector, report.vector, weights) }))
    .sort((a, b) => b.likeness - a.likeness || (a.report.id < b.report.id ? -1 : 1))
    .slice(0, most);
}
