import type { Contract, Level } from '../contracts/index.js';
import type { RunRequest } from '../judge/index.js';

/** A run of a hunt: everything about it is chosen. */
export interface HuntRequest extends RunRequest {
  readonly level: Level;
  readonly contract: Contract;
}
