/**
 * On which node of a cluster each session of a case runs. One that says it (`T1@standby`) runs there. The others take turns: session
 * i on node i mod n; where there are nodes that take no writes, a session that only reads takes its turn among these and one that
 * writes or locks among the others. Sessions that look at what a run left behind (`after`, `observer`) run on the first node.
 *
 * The name of a session then says where it ran, in histories, findings and reports, and a part of the case runs where it ran in the whole.
 */
import { type Case, namedNode } from '../cases/index.js';
import { classifyStatement, type Dialect } from '../sql/index.js';
import type { Target, TargetNode } from '../targets/index.js';

/** The session that reads what a run left behind, of the executors and of hunts and probes. */
export const observerName = 'observer';
const lookingBack: readonly string[] = [observerName, 'after'];

const harmless = new Set([
  'select',
  'begin',
  'commit',
  'rollback',
  'savepoint',
  'rollback-to',
  'release',
  'set',
]);

/** The case with every session named after its node; as it is where there is one node. */
export function placeSessions<T extends Pick<Case, 'sessions'>>(
  program: T,
  { nodes, dialect }: Pick<Target, 'nodes' | 'dialect'>,
): T {
  if (nodes === undefined) return program;
  const turn = turns(nodes);
  const sessions = program.sessions.map((session, number) =>
    lookingBack.includes(session.name) || nodeOf(session.name, nodes) !== undefined
      ? session
      : { ...session, name: `${session.name}@${turn(number, isReader(session.statements, dialect)).name}` },
  );
  return { ...program, sessions };
}

/** The node that a session of this name runs on. */
export function nodeOf(name: string, nodes: readonly TargetNode[]): string | undefined {
  const said = namedNode(name);
  if (lookingBack.includes(name)) return nodes[0]!.name;
  return nodes.find((node) => node.name === said)?.name;
}

function turns(nodes: readonly TargetNode[]): (number: number, reads: boolean) => TargetNode {
  const readers = nodes.filter(({ readOnly }) => readOnly === true);
  if (readers.length === 0) return (number) => nodes[number % nodes.length]!;
  const writers = nodes.filter(({ readOnly }) => readOnly !== true);
  const next = [0, 0];
  return (_, reads) => {
    const among = reads ? readers : writers;
    return among[next[Number(reads)]!++ % among.length]!;
  };
}

/** Whether a node that takes no writes can run it. */
function isReader(statements: readonly string[], dialect: Dialect): boolean {
  return statements.every((sql) => {
    const { kind, locking } = classifyStatement(sql, dialect);
    return harmless.has(kind) && locking === 'none' && !/\bnextval\b/i.test(sql);
  });
}
