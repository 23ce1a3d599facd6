/** What a login may write besides databases of Isolde's, read from the lines of SHOW GRANTS. */
import type { TargetReach } from '../target.js';

/** Rights that change nothing: to look, to log in, to see what others do. */
const harmless: ReadonlySet<string> = new Set([
  'USAGE',
  'SELECT',
  'SHOW VIEW',
  'SHOW DATABASES',
  'PROCESS',
  'REPLICATION CLIENT',
  'BINLOG MONITOR',
  'SLAVE MONITOR',
  'REPLICA MONITOR',
]);

/** The database part of a grant that covers databases named `isolde_…` only. */
const ourDatabases = /^[`"']?isolde\\?_[^.]*\.\*$/i;

/** Decides from the lines of SHOW GRANTS; without them nothing is known, and that counts as more. */
export function reachOfGrants(lines: readonly string[] | undefined, user: string): TargetReach {
  if (lines === undefined) return beyond(`the rights of user "${user}" cannot be read`, user);
  for (const line of lines) {
    const why = reachOfGrant(line);
    if (why !== undefined) return beyond(`user "${user}" ${why}`, user);
  }
  return { kind: 'scratch' };
}

function reachOfGrant(line: string): string | undefined {
  if (/^SET DEFAULT ROLE\b/i.test(line)) return undefined;
  const match = /^GRANT (.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(\S+) TO /i.exec(line);
  // A role's own rights are not looked at: the role may be changed while we run.
  if (match === null) return `has a role or a right that Isolde does not know (${line.slice(0, 80)})`;
  const [, rights, place] = match;
  if (ourDatabases.test(place!)) return undefined;
  // Column lists may hold commas: (a, b).
  const beyondReading = rights!
    .replaceAll(/\([^)]*\)/g, '')
    .split(',')
    .map((right) => right.trim().toUpperCase())
    .find((right) => !harmless.has(right));
  return beyondReading === undefined ? undefined : `has ${beyondReading} on ${place}`;
}

function beyond(why: string, user: string): TargetReach {
  const name = user === 'root' ? 'isolde' : `${user}_cases`;
  const account = `'${name.replaceAll(/['\\]/g, '\\$&')}'@'%'`;
  return {
    kind: 'beyond',
    why,
    advice: [
      'Make a user who may not, and use it in the URL:',
      `  CREATE USER ${account} IDENTIFIED BY '…';`,
      `  GRANT ALL ON \`isolde\\_%\`.* TO ${account};`,
      `  GRANT PROCESS ON *.* TO ${account};`,
    ].join('\n'),
  };
}
