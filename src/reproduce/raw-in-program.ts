/** The raw run with its operations named by their statements in the inferred program, which is not always the program that ran. */
import type { StatementRef } from '../cases/index.js';
import type { History, Operation } from '../histories/index.js';
import type { InferredOrder } from './infer.js';

export function rawInProgram({ raw, sources }: Pick<InferredOrder, 'raw' | 'sources'>): History {
  const refs = new Map<number, StatementRef>();
  sources.forEach((places, session) => {
    places.forEach((place, position) => {
      if (place >= 0) refs.set(place, [session, position]);
    });
  });
  const operations = raw.operations.map((operation, place): Operation => {
    const { statement: _, ...rest } = operation;
    const ref = refs.get(place);
    return ref === undefined ? rest : { ...rest, statement: ref };
  });
  return { header: raw.header, operations };
}
