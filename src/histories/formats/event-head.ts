import type { EventType } from './edn-event.js';

/** What every event of a Jepsen history has, whatever it is about. */
export interface EventHead {
  readonly type: EventType;
  /** NaN where the event has none. */
  readonly process: number;
  readonly time: number;
  readonly index: number;
}
