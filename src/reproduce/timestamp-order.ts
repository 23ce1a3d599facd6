/**
 * Timestamp ordering (technical report §E.1): conflicting operations of two transactions run in the order of the
 * transactions' timestamps, on every row alike. So what one row proves about two transactions holds for their other
 * overlapping conflicts too, and for the statements that gave them their timestamps. Edges added here are soft: an engine that
 * moves a transaction's timestamp may break the rule.
 */
import { because, type Evidence } from './evidence.js';

export function addTimestampOrder({ edges, steps, locks }: Evidence): void {
  const before = new Set<string>();
  const firstOf = new Int32Array(steps.transactionCount).fill(-1);
  for (let step = steps.count - 1; step >= 0; step--) firstOf[steps.transaction[step]!] = step;
  for (let i = 0, found = edges.from.length; i < found; i++) {
    if (edges.soft.at(i) === 1) continue;
    const [a, b] = [steps.transaction[edges.from.at(i)]!, steps.transaction[edges.to.at(i)]!];
    if (a === b || before.has(`${a}<${b}`)) continue;
    before.add(`${a}<${b}`);
    const [first, second] = [firstOf[a]!, firstOf[b]!];
    const overlap = steps.end[first]! >= steps.start[second]! && steps.end[second]! >= steps.start[first]!;
    if (overlap && steps.session[first] !== steps.session[second])
      edges.add({ from: first, to: second, why: because.conflict, object: edges.object.at(i) }, true);
  }
  const last = new Map<number, number>();
  for (let i = 0; i < locks.step.length; i++) {
    const step = locks.step.at(i);
    const object = locks.object.at(i);
    const other = last.get(object);
    last.set(object, step);
    if (other === undefined || steps.session[other] === steps.session[step]) continue;
    const [a, b] = [steps.transaction[other]!, steps.transaction[step]!];
    const overlaps = steps.end[other]! >= steps.start[step]! && steps.end[step]! >= steps.start[other]!;
    if (overlaps && before.has(`${a}<${b}`))
      edges.add({ from: other, to: step, why: because.conflict, object }, true);
  }
}
