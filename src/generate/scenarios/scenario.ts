/** Programs built around one situation instead of drawn statement by statement; profiles name them (`profile.ts`). */
import type { Case, Schedule } from '../../cases/index.js';
import type { Capabilities } from '../capabilities.js';
import { Random } from '../random.js';
import { drawKeyRace } from './key-races.js';
import { drawWaitChain } from './wait-chains.js';

export const scenarioNames = ['races', 'waits'] as const;
export type ScenarioName = (typeof scenarioNames)[number];

export interface Scenario {
  readonly case: Pick<Case, 'setup' | 'sessions'>;
  /** The order it is about; absent: any. */
  readonly schedule?: Schedule;
}

/**
 * The program of a seed. `plan` is the number of the situation, for kinds that list theirs; without it, seeds that end in a
 * number (`7-12`) take them in turn.
 */
export function drawScenario(
  name: ScenarioName,
  seed: string,
  capabilities: Capabilities,
  plan?: number,
): Scenario {
  const random = new Random(`${name}/${seed}`);
  if (name === 'races') return drawKeyRace(random, capabilities);
  const number = plan ?? Number(/(\d{1,9})$/.exec(seed)?.[1] ?? random.below(1000));
  return drawWaitChain(random, capabilities, number);
}
