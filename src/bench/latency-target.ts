/** A target behind a slow network: every answer comes later by a fixed time. Nothing else changes. */
import type { Scratch, Session, Target } from '../targets/index.js';

export function withLatency(target: Target, latencyMs: number): Target {
  /** What the engine calls its sessions, for `waiting`. */
  const outer = new WeakMap<Session, Session>();
  const slow = (session: Session): Session => {
    const wrapped: Session = {
      id: session.id,
      execute: async (sql) => {
        const answer = session.execute(sql);
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        return answer;
      },
      cancel: () => session.cancel(),
      close: () => session.close(),
    };
    outer.set(session, wrapped);
    return wrapped;
  };
  const slowScratch = (scratch: Scratch): Scratch => ({
    namespace: scratch.namespace,
    reset: (setup) => scratch.reset(setup),
    openSession: async (options) => slow(await scratch.openSession(options)),
    waiting: async () =>
      new Set([...(await scratch.waiting())].map((session) => outer.get(session) ?? session)),
    drop: () => scratch.drop(),
  });
  return {
    name: target.name,
    dialect: target.dialect,
    stamp: target.stamp,
    levels: target.levels,
    defaultLevel: target.defaultLevel,
    features: target.features,
    createScratch: async () => slowScratch(await target.createScratch()),
    close: () => target.close(),
  };
}
