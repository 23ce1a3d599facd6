/** A private server shared by one test file. */
import { afterAll, beforeAll, describe } from 'vitest';
import type { Scratch, Session, SessionOptions, Target } from '../target.js';
import { type MariadbServer, mariadbAvailable, mariadbDriver, startMariadbServer } from './index.js';

export interface Live {
  readonly server: MariadbServer;
  readonly target: Target;
  readonly scratch: Scratch;
  /** A URL for this server, as another user or with other parameters. */
  url(parameters?: string, user?: string): string;
  session(options?: Partial<SessionOptions>): Promise<Session>;
}

/** Why tests on a real server are skipped; where engines are required they run, and fail. */
export const mariadbMissing: string | undefined =
  process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : mariadbAvailable();

/** Declares tests that need a real server; without one they are skipped, or fail where engines are required. */
export function describeLive(title: string, tests: (live: () => Live) => void): void {
  const reason = mariadbMissing === undefined ? '' : ` (${mariadbMissing})`;
  describe.skipIf(mariadbMissing !== undefined)(`${title}${reason}`, () => {
    let live: Live | undefined;
    beforeAll(async () => {
      const server = await startMariadbServer();
      const url = (parameters = '', user = 'root') =>
        `mariadb://${user}@localhost/?socket=${server.address.socket}${parameters}`;
      const target = await mariadbDriver.open(url(), {});
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
