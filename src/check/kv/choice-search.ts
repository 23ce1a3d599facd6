/**
 * Looks for a value for each of several questions, avoiding what was found impossible together. Questions are settled one after the
 * other, each with its first value that nothing forbids. Where everything is forbidden, the earlier choices that forbid it are impossible
 * together as well: that is remembered, and the last of them is made anew.
 */

/** A question, by its number, and the value it is given. */
export type Choice = readonly [question: number, value: number];

export class ChoiceSearch {
  readonly #values: readonly (readonly number[])[];
  /** Choices that cannot be made together, under the question that is settled last. */
  readonly #forbidden: (readonly Choice[])[][];

  /** The values that each question may have, the likeliest first. */
  constructor(values: readonly (readonly number[])[]) {
    this.#values = values;
    this.#forbidden = values.map(() => []);
  }

  /** A value for each that nothing forbids; undefined if there is none, or time is up. */
  next(spent: () => boolean): readonly number[] | undefined {
    const chosen: number[] = [];
    for (let steps = 1; chosen.length < this.#values.length; steps++) {
      if (steps % 1000 === 0 && spent()) return undefined;
      const question = chosen.length;
      const blockers: (readonly Choice[])[] = [];
      const free = this.#values[question]!.find((value) => {
        const blocker = this.#blocker(chosen, question, value);
        if (blocker !== undefined) blockers.push(blocker);
        return blocker === undefined;
      });
      if (free !== undefined) {
        chosen.push(free);
        continue;
      }
      const earlier = new Map(blockers.flat().filter(([other]) => other !== question));
      if (earlier.size === 0) return undefined;
      chosen.length = this.#remember([...earlier]);
    }
    return chosen;
  }

  /** What forbids a choice behind those made. */
  #blocker(chosen: readonly number[], question: number, value: number): readonly Choice[] | undefined {
    return this.#forbidden[question]!.find((choices) =>
      choices.every(([other, made]) => (other === question ? value : chosen[other]) === made),
    );
  }

  /** These cannot be made together; none at all: there is no solution. */
  forbid(choices: readonly Choice[]): void {
    if (choices.length > 0) this.#remember(choices);
    else
      for (const [i, values] of this.#values.entries())
        for (const value of values) this.#remember([[i, value]]);
  }

  /** The question that is settled last of those in the choices. */
  #remember(choices: readonly Choice[]): number {
    const last = Math.max(...choices.map(([question]) => question));
    this.#forbidden[last]!.push(choices);
    return last;
  }
}
