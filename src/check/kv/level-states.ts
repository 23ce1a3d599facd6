/** What is known of the levels while a history is checked. */
import { type CheckLevel, checkLevels, implies, orderOf, strongestOf } from '../levels.js';
import type { CheckResult, LevelStatus } from './kv-result.js';

/** What is known of each level; the lattice spreads every fact. */
export class Levels {
  readonly #status = new Map<CheckLevel, LevelStatus>();

  status(level: CheckLevel): LevelStatus {
    return this.#status.get(level) ?? 'unknown';
  }

  nothingBroken(): boolean {
    return ![...this.#status.values()].includes('broken');
  }

  break(level: CheckLevel): void {
    for (const other of checkLevels) if (implies(other, level)) this.#status.set(other, 'broken');
  }

  hold(level: CheckLevel): void {
    for (const other of checkLevels) {
      if (implies(level, other) && !this.#status.has(other)) this.#status.set(other, 'holds');
    }
  }

  /** The strongest that hold or still may; those of real time may only where there are times. */
  strongest(timed: boolean): CheckLevel[] {
    const mayHold = (level: CheckLevel): boolean => {
      const status = this.status(level);
      if (status === 'broken') return false;
      return status === 'holds' || orderOf(level) !== 'real-time' || timed;
    };
    return strongestOf(checkLevels.filter(mayHold));
  }

  /** The same with every level open again that `keep` does not let stay broken. */
  static reopened(levels: CheckResult['levels'], keep: (level: CheckLevel) => boolean): Levels {
    const copy = new Levels();
    for (const level of checkLevels) {
      const status = levels[level];
      if (status === 'holds' || (status === 'broken' && keep(level))) copy.#status.set(level, status);
    }
    return copy;
  }

  /** The same with every level open again that was said to hold. */
  static withoutHeld(levels: CheckResult['levels']): Levels {
    const copy = new Levels();
    for (const level of checkLevels) if (levels[level] === 'broken') copy.#status.set(level, 'broken');
    return copy;
  }

  all(): Record<CheckLevel, LevelStatus> {
    return Object.fromEntries(checkLevels.map((level) => [level, this.status(level)])) as Record<
      CheckLevel,
      LevelStatus
    >;
  }
}
