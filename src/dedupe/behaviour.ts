import type { Case, Schedule } from '../cases/index.js';
import type { Finding } from '../check/index.js';
import type { History } from '../histories/index.js';

/** What a signature is made of; every bug has it. */
export interface Behaviour {
  readonly case: Case;
  readonly schedule: Schedule;
  readonly finding: Finding;
  /** The run the finding is about. */
  readonly history: History;
  /** It shows with its sessions one after another, too. */
  readonly notIsolation?: true | undefined;
}
