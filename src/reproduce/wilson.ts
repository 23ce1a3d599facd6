/**
 * Wilson's score interval: where the true ratio lies with 95 % confidence, after so many successes in so many runs. It
 * stays inside [0, 1] and is honest for few runs: 20 of 20 still only says "at least 84 %".
 */
export function wilsonInterval(successes: number, runs: number): readonly [low: number, high: number] {
  if (runs === 0) return [0, 1];
  const z = 1.959964;
  const ratio = successes / runs;
  const scale = 1 + (z * z) / runs;
  const center = ratio + (z * z) / (2 * runs);
  const margin = z * Math.sqrt((ratio * (1 - ratio)) / runs + (z * z) / (4 * runs * runs));
  return [Math.max(0, (center - margin) / scale), Math.min(1, (center + margin) / scale)];
}
