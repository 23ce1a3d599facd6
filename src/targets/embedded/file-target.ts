/**
 * A target whose engine keeps its database in a file and speaks SQLite's dialect: scratches are folders below one parent, the
 * leftovers of earlier processes there are swept before the first, and closing drops what is still there.
 */
import { IsoldeError } from '../../errors.js';
import type { TargetStamp } from '../../histories/index.js';
import type { Scratch, Target, TargetLevel } from '../target.js';
import type { FileEngine } from './file-engine.js';
import { leftoversIn, sweepLeftovers } from './file-leftovers.js';
import { FileScratch } from './file-scratch.js';

export interface FileTargetOptions {
  readonly engine: FileEngine;
  readonly stamp: TargetStamp;
  /** As people write it. */
  readonly title: string;
  readonly level: TargetLevel;
  readonly parentFolder: string;
  /** The process scratches are marked with; default: this one. */
  readonly owner?: number | undefined;
}

export function fileTarget({ engine, stamp, title, level, parentFolder, owner }: FileTargetOptions): Target {
  const scratches = new Set<FileScratch>();
  const scratchOptions = {
    engine,
    parentFolder,
    level: level.level,
    owner,
    onDrop: (dropped: FileScratch) => scratches.delete(dropped),
  };
  let closed = false;
  let swept: Promise<void> | undefined;
  return {
    name: stamp.name,
    dialect: 'sqlite',
    stamp,
    levels: [level],
    defaultLevel: level.level,
    features: {
      conflicts: 'fail',
      counts: 'matched',
      lockingReads: false,
      savepoints: true,
      errorDoomsTransaction: false,
      transactionalDdl: true,
      cancel: false,
    },
    reach: async () => ({ kind: 'scratch' }),
    ...leftoversIn(parentFolder),
    async createScratch(): Promise<Scratch> {
      if (closed) throw new IsoldeError('usage', `The ${title} target is closed`);
      swept ??= sweepLeftovers(parentFolder);
      await swept;
      const scratch = await FileScratch.create(scratchOptions);
      scratches.add(scratch);
      return scratch;
    },
    async adoptScratch(namespace): Promise<Scratch> {
      const scratch = await FileScratch.adopt(scratchOptions, namespace);
      scratches.add(scratch);
      return scratch;
    },
    async close(): Promise<void> {
      closed = true;
      await Promise.all([...scratches].map((scratch) => scratch.drop()));
    },
  };
}
