/** A history in a file as the target of a replay can run it, and the contract it is held to. */
import type { Contract, Level } from '../contracts/index.js';
import { IsoldeError } from '../errors.js';
import { type History, readAnyHistory, recognizeFormat } from '../histories/index.js';
import { historyContract, translateHistory } from '../reduce/index.js';
import type { Target } from '../targets/index.js';
import type { CliContext } from './context.js';

export interface ReplayableHistory {
  readonly history: History;
  readonly contract: Contract;
}

/** Whether a file holds a history; cases are JSON too, and scripts are any text. */
export async function isHistoryFile(file: string): Promise<boolean> {
  if (file === '-') return false;
  if (/\.history\.jsonl(\.gz)?$/.test(file)) return true;
  return recognizeFormat(file).then(
    () => true,
    () => false,
  );
}

/** Reads a history and, where another engine recorded it, translates it; what that changed goes to the error stream. */
export async function readReplayable(
  file: string,
  target: Target,
  asked: { readonly contract: Contract | undefined; readonly level: Level | undefined },
  context: CliContext,
): Promise<ReplayableHistory> {
  const read = await readAnyHistory(file);
  if (read.kind !== 'sql') {
    throw new IsoldeError('usage', `${file} is a key-value history: it has no SQL that could be run again`);
  }
  const recorded: History = {
    header: {
      ...read.header,
      dialect: read.header.dialect ?? target.dialect,
      level: asked.level ?? read.header.level ?? target.defaultLevel,
    },
    operations: read.operations,
  };
  const contract = asked.contract ?? historyContract(recorded, target);
  const { history, notes } = translateHistory(recorded, contract, target);
  for (const note of notes) context.err(`note: ${note}`);
  return { history, contract };
}
