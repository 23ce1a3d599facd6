/** A reporter for vitest: says at the end why tests were skipped, each reason once with its count. Where a test gives none, its title says it. */
import type { Reporter, TestModule, Vitest } from 'vitest/node';

export default class SkipReasons implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Whoever picks tests by name knows why the others were left out.
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    const counts = new Map<string, number>();
    for (const { children } of modules)
      for (const test of children.allTests('skipped')) {
        const result = test.result();
        const reason = (result.state === 'skipped' && result.note) || test.fullName;
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    if (counts.size === 0) return;
    console.log('\nSkipped, and why:');
    for (const [reason, count] of [...counts].sort((a, b) => b[1] - a[1]))
      console.log(`  ${count} × ${reason}`);
  }
}
