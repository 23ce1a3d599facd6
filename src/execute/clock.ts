/** Nanoseconds since some fixed moment, never going back. Passed in wherever time is read. */
export type Clock = () => number;

/** A monotonic clock that starts at 0 now. */
export function monotonicClock(): Clock {
  const origin = process.hrtime.bigint();
  return () => Number(process.hrtime.bigint() - origin);
}
