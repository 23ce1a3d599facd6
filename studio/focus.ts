/**
 * What the reader points at: operations, one transaction or one version. Lanes, version chains, sentences and the graph all look
 * here, so that pointing at something in one of them shows it in the others.
 */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export interface Focus {
  readonly operations?: readonly number[];
  readonly transaction?: string;
  readonly version?: number;
}

export interface FocusHolder {
  readonly focus: Focus;
  readonly point: (focus: Focus) => void;
}

export const FocusContext = createContext<FocusHolder>({ focus: {}, point: () => undefined });

/** What makes an element point at something, by mouse or keyboard. */
export function usePointing(what: Focus) {
  const { point } = useContext(FocusContext);
  return {
    onPointerEnter: () => point(what),
    onPointerLeave: () => point({}),
    onFocus: () => point(what),
    onBlur: () => point({}),
  };
}

export function isPointedAt({ focus }: FocusHolder, what: Focus): boolean {
  if (what.version !== undefined && focus.version === what.version) return true;
  if (what.transaction !== undefined && focus.transaction === what.transaction) return true;
  return (what.operations ?? []).some((operation) => focus.operations?.includes(operation) === true);
}
