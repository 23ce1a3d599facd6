/**
 * Who may talk to the studio. It runs with the user's rights on the user's machine, where every page the user's browser has
 * open can send requests to it. So a request is answered only if
 *
 * 1. its Host is this server's own address: a name that an attacker makes point to 127.0.0.1 (DNS rebinding) is refused;
 * 2. its path begins with the secret token, which only whoever started the studio was shown;
 * 3. where it says from which site it comes (Origin, Sec-Fetch-Site), that is this server; what changes something must say so.
 *
 * Everything else gets 403, whatever it asks for.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

export interface Door {
  readonly port: number;
  readonly token: string;
}

export interface Knock {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/** The path behind the token (without query), or why the request is refused. */
export function admitRequest(
  { method, url, headers }: Knock,
  door: Door,
): { readonly path: string } | { readonly refused: string } {
  const hosts = ['127.0.0.1', 'localhost'].map((name) => `${name}:${door.port}`);
  const { host, origin } = headers;
  if (typeof host !== 'string' || !hosts.includes(host)) return { refused: 'another Host' };
  if (origin !== undefined && origin !== `http://${host}`) return { refused: 'another Origin' };
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return { refused: 'another site' };
  if (method !== 'GET' && method !== 'HEAD' && origin === undefined) return { refused: 'no Origin' };
  const match = /^\/([^/?#]*)\/([^?#]*)/.exec(url);
  if (match === null || !isSame(match[1]!, door.token)) return { refused: 'no token' };
  return { path: match[2]! };
}

/** In a time that does not tell how much of it is right. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Nothing is loaded from anywhere else, nothing inline runs, no page frames this one. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
