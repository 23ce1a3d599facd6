import { describeLiveServer, type Live } from '../mysql/live-server.case.js';
import { mariadbAvailable, mariadbDriver, startMariadbServer } from './index.js';

export { type Live, until } from '../mysql/live-server.case.js';

/** Why tests on a real server are skipped; where engines are required they run, and fail. */
export const mariadbMissing: string | undefined =
  process.env.ISOLDE_REQUIRE_ENGINES === '1' ? undefined : mariadbAvailable();

/** Declares tests that need a real server; without one they are skipped, or fail where engines are required. */
export function describeLive(title: string, tests: (live: () => Live) => void): void {
  const engine = {
    scheme: 'mariadb',
    driver: mariadbDriver,
    start: startMariadbServer,
    missing: mariadbMissing,
  };
  describeLiveServer(engine, title, tests);
}
