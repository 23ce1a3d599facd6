/** What strategies know about the operations of a case: the finding's own, and what depends on what. Worked out when asked for. */
import type { CaseModel, Subset } from './case-model.js';
import { type DependencyGraph, type DependencySource, dependencyGraph, rowWriters } from './dependencies.js';

export interface Surroundings {
  readonly model: CaseModel;
  /** Operations the finding itself names. */
  readonly witness: Subset;
  readonly graph: () => DependencyGraph;
  /** The writers of the rows the finding is about, in order, up to its last operation. */
  readonly rowWriters: () => Subset;
}

export function surroundingsOf(
  model: CaseModel,
  witness: Subset,
  dependencies: (model: CaseModel) => DependencySource,
): Surroundings {
  const source = once(() => dependencies(model));
  return {
    model,
    witness,
    graph: once(() => dependencyGraph(model, source())),
    rowWriters: () => (witness.length === 0 ? [] : rowWriters(model, source(), witness)),
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
