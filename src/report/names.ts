/** What engines and findings are called in sentences. */
import { describeKind, type FindingKind } from '../contracts/index.js';
import { findDeclaration } from '../targets/index.js';

export function nameEngine(name: string): string {
  return findDeclaration(name)?.title ?? name;
}

/** What a report about a finding of this kind is called. */
export function nameFinding(kind: FindingKind): string {
  return describeKind(kind).title;
}
