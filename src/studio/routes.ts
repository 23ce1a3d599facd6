/** What the studio answers: one entry for each request a page can make. Paths name parts with `:name`. */
import { IsoldeError } from '../errors.js';

export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON that was sent; undefined for GET. */
  readonly body: unknown;
}

/** A file to be saved rather than shown. */
export class Download {
  constructor(
    readonly name: string,
    readonly text: string,
  ) {}
}

/** A value whose texts are to be edited: they go out as they are. */
export class Exactly {
  constructor(readonly value: unknown) {}
}

export type Answer = (asked: Asked) => Promise<unknown> | unknown;
export type Routes = Readonly<Record<`${'GET' | 'POST'} ${string}`, Answer>>;

/** There is nothing of that name. */
export class NotFound extends IsoldeError {
  constructor(message: string) {
    super('usage', message);
  }
}

/** The route of a request with the values of its parts; undefined: there is none. */
export function findRoute(
  routes: Routes,
  method: string,
  path: string,
): { readonly answer: Answer; readonly params: Asked['params'] } | undefined {
  const parts = path.split('/').map(decoded);
  for (const [route, answer] of Object.entries(routes)) {
    const [verb, pattern = ''] = route.split(' ');
    const names = pattern.split('/');
    if (verb !== method || names.length !== parts.length) continue;
    if (!names.every((name, i) => name.startsWith(':') || name === parts[i])) continue;
    const params = Object.fromEntries(
      names.flatMap((name, i) => (name.startsWith(':') ? [[name.slice(1), parts[i]!]] : [])),
    );
    return { answer, params };
  }
  return undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A member of a body that must be a text. */
export function textIn(body: unknown, name: string): string {
  const value = memberOf(body, name);
  if (typeof value === 'string') return value;
  throw new IsoldeError('usage', `"${name}" must be a text`);
}

export function maybeTextIn(body: unknown, name: string): string | undefined {
  return memberOf(body, name) === undefined ? undefined : textIn(body, name);
}

/** A member that must be a whole number from 0 on. */
export function countIn(body: unknown, name: string): number {
  const value = memberOf(body, name);
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new IsoldeError('usage', `"${name}" must be a whole number from 0 on`);
}

/** A member that must be a list of texts. */
export function textsIn(body: unknown, name: string): readonly string[] {
  const value = memberOf(body, name);
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new IsoldeError('usage', `"${name}" must be a list of texts`);
}

function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
