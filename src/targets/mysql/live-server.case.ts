/** A private server shared by one test file. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { Scratch, Session, SessionOptions, Target, TargetOpener } from '../target.js';
import type { PrivateServer, PrivateServerOptions } from './private-server.js';

export interface Live {
  readonly server: PrivateServer;
  readonly target: Target;
  readonly scratch: Scratch;
  /** A URL for this server, as another user or with other parameters. */
  url(parameters?: string, user?: string): string;
  session(options?: Partial<SessionOptions>): Promise<Session>;
}

export interface LiveEngine {
  readonly scheme: string;
  readonly driver: TargetOpener;
  readonly start: (options?: PrivateServerOptions) => Promise<PrivateServer>;
  /** Why its tests are skipped. */
  readonly missing: string | undefined;
}

/** Declares tests that need a real server of this engine; without one they are skipped. */
export function describeLiveServer(
  { scheme, driver, start, missing }: LiveEngine,
  title: string,
  tests: (live: () => Live) => void,
): void {
  const reason = missing === undefined ? '' : ` (${missing})`;
  describe.skipIf(missing !== undefined)(`${title}${reason}`, () => {
    let live: Live | undefined;
    beforeAll(async () => {
      const server = await start();
      const url = (parameters = '', user = 'root') =>
        `${scheme}://${user}@localhost/?socket=${server.address.socket}${parameters}`;
      const target = await driver.open(url(), {});
      const scratch = await target.createScratch();
      const session = (options: Partial<SessionOptions> = {}) =>
        scratch.openSession({
          level: 'repeatable read',
          statementTimeoutMs: 20_000,
          lockTimeoutMs: 10_000,
          ...options,
        });
      live = { server, target, scratch, url, session };
    });
    afterAll(async () => {
      await live?.target.close();
      await live?.server.stop();
    });
    tests(() => live!);
  });
}

/** Asks until the condition holds. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 5000,
): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
