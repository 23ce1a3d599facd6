import type { Random } from '../../generate/index.js';

/** Something that reads text of others, with a few valid samples. */
export interface FuzzSubject {
  readonly name: string;
  readonly samples: readonly Buffer[];
  /** Throws an `IsoldeError` where it refuses, any other error where it fails. */
  read(input: Buffer, random: Random): Promise<void>;
}
