/**
 * The mark a scratch carries in itself (a comment on the schema or database, a macro, a file), so that one that was left behind can be
 * told from something of the user's that merely has a similar name. `isolde clean` drops what carries it, and nothing else.
 */

const form = /^isolde scratch, made (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)(?: by (\d+))?$/;
/** Names scratches have: nothing in them needs quoting. */
const namespaceForm = /^isolde_[0-9a-f]{12,16}$/;

/** A scratch that was found on a target. */
export interface FoundScratch {
  readonly namespace: string;
  /** ISO, UTC; undefined: nobody knows. */
  readonly madeAt: string | undefined;
  /** Somebody works in it right now. */
  readonly inUse: boolean;
}

/** `owner`: the process that works in it, where nothing else tells. */
export function scratchMark(owner?: number): string {
  return `isolde scratch, made ${new Date().toISOString()}${owner === undefined ? '' : ` by ${owner}`}`;
}

/** The process a mark names. */
export function ownerOf(mark: string): number | undefined {
  const pid = form.exec(mark)?.[2];
  return pid === undefined ? undefined : Number(pid);
}

/** When a namespace was made; undefined: it is none of ours. */
export function madeAt(namespace: string, mark: unknown): string | undefined {
  return namespaceForm.test(namespace) && typeof mark === 'string' ? form.exec(mark)?.[1] : undefined;
}
