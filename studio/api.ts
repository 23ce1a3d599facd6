/**
 * How pages get their data: from the server they came from, or, in an exported site, from the data that was written beside them.
 * Texts that come from a store are put into text nodes only; nothing here or elsewhere makes markup of them.
 */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { News, NewsKind } from '../src/studio/api.js';

declare global {
  /** Data of an exported site, by path. */
  var isoldeExport: Readonly<Record<string, unknown>> | undefined;
}

export const isExport = globalThis.isoldeExport !== undefined;

export class RequestFailed extends Error {}

export async function get<T>(path: string): Promise<T> {
  if (!isExport) return request<T>(path);
  if (!Object.hasOwn(globalThis.isoldeExport!, path)) await loadData(path);
  const data = globalThis.isoldeExport!;
  if (Object.hasOwn(data, path)) return data[path] as T;
  throw new RequestFailed('this is not part of the exported site');
}

/** A page opened from a file may not fetch; it may load scripts. Only names of bugs lead to one. */
function loadData(path: string): Promise<void> {
  const name = /^bugs\/([a-z0-9][a-z0-9-]*)$/.exec(path)?.[1];
  if (name === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const script = document.createElement('script');
    script.src = `data/${name}.js`;
    script.onload = () => resolve();
    script.onerror = () => resolve();
    document.head.append(script);
  });
}

export function post<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return request<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function request<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`api/${path}`, init);
  } catch {
    throw new RequestFailed('the studio does not answer; is it still running?');
  }
  const answer = (await response.json()) as T & { readonly error?: string };
  if (!response.ok) throw new RequestFailed(answer.error ?? `the studio answered ${response.status}`);
  return answer;
}

/** News, or that they come from now on: what changed before, or while the connection was lost, nobody was told. */
export type Heard = News | { readonly kind: 'connected' };
type Listener = (heard: Heard) => void;
const listeners = new Set<Listener>();
/** One connection serves all views of a tab. */
const connection: { opened?: EventSource } = {};

/** Calls back when something changed on the server. */
export function useNews(listener: Listener): void {
  useEffect(() => {
    if (isExport) return;
    listeners.add(listener);
    connection.opened ??= openNews();
    return () => {
      listeners.delete(listener);
    };
  }, [listener]);
}

function openNews(): EventSource {
  const opened = new EventSource('api/events');
  const tell = (heard: Heard) => {
    for (const listener of [...listeners]) listener(heard);
  };
  opened.onopen = () => tell({ kind: 'connected' });
  opened.onmessage = ({ data }) => tell(JSON.parse(String(data)) as News);
  return opened;
}

export interface Resource<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly reload: () => void;
  readonly set: (value: T) => void;
}

/** A value of the server that is asked for again when news of these kinds come. */
export function useResource<T>(path: string, kinds: readonly NewsKind[] = []): Resource<T> {
  const [state, setState] = useState<{ path: string; value?: T; error?: string }>({ path });
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  useEffect(() => {
    let current = true;
    void turn;
    get<T>(path).then(
      (value) => current && setState({ path, value }),
      (error: Error) =>
        current && setState((old) => ({ ...(old.path === path ? old : { path }), error: error.message })),
    );
    return () => {
      current = false;
    };
  }, [path, turn]);
  const key = kinds.join();
  useNews(
    useCallback(
      ({ kind }: Heard) => {
        if (kind === 'connected' || key.split(',').includes(kind)) reload();
      },
      [key, reload],
    ),
  );
  const set = useCallback((value: T) => setState({ path, value }), [path]);
  const mine = state.path === path ? state : { path };
  return { value: mine.value, error: mine.error, reload, set };
}
