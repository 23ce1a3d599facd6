/**
 * Several nodes of one database as a target. The first node has the set-up: scratches are made and reset there, and a reset ends when
 * every other node shows it. Sessions are real connections to the node that they ask for; who waits is asked of each node, for no lock
 * reaches from one to another.
 *
 * What a node shows of the commits of another one, and when, is the contract's to say (`otherNodesLag`). `catchUp` waits until they
 * are one state; it asks for positions in the order of commits and never for time.
 */
import { IsoldeError } from '../../errors.js';
import type { TargetStamp } from '../../histories/index.js';
import type {
  OpenedNode,
  Scratch,
  Session,
  SessionOptions,
  Target,
  TargetLevel,
  TargetReach,
} from '../target.js';

/** How long the other nodes may take to show a set-up. */
const resetLimitMs = 10_000;

export interface ClusterOptions {
  /** The first has the set-up. */
  readonly nodes: readonly [OpenedNode, ...OpenedNode[]];
  readonly levels: readonly TargetLevel[];
  readonly stamp: TargetStamp;
}

export function openCluster({ nodes, levels, stamp }: ClusterOptions): Target {
  const [first, ...others] = nodes;
  const { target } = first;
  const wanted = levels.find(({ level }) => level === target.defaultLevel) ?? levels.at(-1)!;
  const limits = nodes.flatMap((node) => node.target.features.maxSessions ?? []);
  return {
    name: target.name,
    dialect: target.dialect,
    stamp,
    levels,
    defaultLevel: wanted.level,
    features: { ...target.features, ...(limits.length > 0 && { maxSessions: Math.min(...limits) }) },
    nodes: nodes.map(({ name, readOnly }) => ({ name, ...(readOnly && { readOnly }) })),
    reach: () => widest(nodes),
    ...(target.foundScratches && { foundScratches: () => target.foundScratches!() }),
    ...(target.dropFound && { dropFound: (namespace) => target.dropFound!(namespace) }),
    memoryBytes: () => memoryOf(nodes),
    createScratch: async () => {
      const made = await target.createScratch();
      try {
        await catchUp(nodes, resetLimitMs);
        const joined = await Promise.all(others.map((node) => node.target.joinScratch(made.namespace)));
        return new ClusterScratch(nodes, [made, ...joined]);
      } catch (error) {
        await made.drop().catch(() => undefined);
        throw error;
      }
    },
    // Followers first: they would miss the node they follow.
    close: async () => {
      for (const node of nodes.toReversed()) await node.target.close();
    },
  };
}

/** Waits until every node shows what was committed on any. */
async function catchUp(nodes: readonly OpenedNode[], limitMs: number): Promise<void> {
  const writers = nodes.filter(({ readOnly }) => readOnly !== true);
  const positions = await Promise.all(writers.map(({ target }) => target.position()));
  await Promise.all(
    nodes.flatMap((node) =>
      positions.flatMap((position, i) =>
        writers[i] === node ? [] : [node.target.awaitPosition(position, limitMs)],
      ),
    ),
  );
}

/** What the login may change on any of the nodes. */
async function widest(nodes: readonly OpenedNode[]): Promise<TargetReach> {
  let found: TargetReach = { kind: 'scratch' };
  for (const { target, readOnly } of nodes) {
    if (readOnly === true) continue;
    const reach = (await target.reach?.()) ?? { kind: 'unknown' as const };
    if (reach.kind === 'beyond') return reach;
    if (reach.kind === 'unknown') found = reach;
  }
  return found;
}

function memoryOf(nodes: readonly OpenedNode[]): number | undefined {
  const sizes = nodes.map(({ target }) => target.memoryBytes?.());
  return sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, bytes) => sum + bytes!, 0);
}

class ClusterScratch implements Scratch {
  readonly namespace: string;

  constructor(
    private readonly nodes: readonly OpenedNode[],
    /** Of each node; the first is the one that has the set-up. */
    private readonly scratches: readonly [Scratch, ...Scratch[]],
  ) {
    this.namespace = scratches[0].namespace;
  }

  async reset(setup: readonly string[]): Promise<void> {
    // What is still on its way to another node would be there before the set-up.
    await this.catchUp(resetLimitMs);
    await this.scratches[0].reset(setup);
    await this.catchUp(resetLimitMs);
  }

  catchUp(limitMs: number): Promise<void> {
    return catchUp(this.nodes, limitMs);
  }

  openSession({ node, ...options }: SessionOptions): Promise<Session> {
    const at = node === undefined ? 0 : this.nodes.findIndex(({ name }) => name === node);
    if (at >= 0) return this.scratches[at]!.openSession(options);
    const names = this.nodes.map(({ name }) => name).join(', ');
    return Promise.reject(new IsoldeError('usage', `The cluster has no node "${node}"; it has ${names}`));
  }

  async waiting(): Promise<ReadonlySet<Session>> {
    const found = await Promise.all(this.scratches.map((scratch) => scratch.waiting()));
    return new Set(found.flatMap((sessions) => [...sessions]));
  }

  async drop(): Promise<void> {
    // A session of another node could keep the namespace in use.
    for (const scratch of this.scratches.toReversed()) await scratch.drop();
  }
}
