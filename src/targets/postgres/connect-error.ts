/** Why a connection failed, in words a person can act on. No message repeats a password or a whole URL. */
import { errorText, IsoldeError } from '../../errors.js';
import type { ServerAddress } from './postgres-url.js';

/** Turns what the driver threw into an error of ours. */
export function connectError(thrown: unknown, address: ServerAddress, product = 'PostgreSQL'): IsoldeError {
  if (thrown instanceof IsoldeError) return thrown;
  const where = `${address.host}:${address.port}`;
  // The cause is left out on purpose: drivers keep the connection's parameters on their errors.
  return new IsoldeError(
    'connect',
    `Cannot connect to ${product} at ${where}: ${reason(thrown, address, where)}`,
  );
}

function reason(thrown: unknown, address: ServerAddress, where: string): string {
  const { user, database } = address;
  const said = errorText(thrown);
  switch (codeOf(thrown)) {
    case 'ECONNREFUSED':
      return `nothing listens there. Is the server running, and does it accept TCP connections on ${where}?`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name "${address.host}" is not known`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return 'the host cannot be reached';
    case '28P01':
      return `the password of user "${user}" is wrong`;
    case '28000':
      return `user "${user}" may not log in (${said})`;
    case '3D000':
      return `there is no database "${database}"`;
    case '53300':
      return `the server has no connection left (${said}). Use fewer sessions, or raise max_connections`;
    case '57P03':
      return `the server is not ready (${said})`;
    default:
      if (/timeout expired/.test(said)) return 'no answer in time';
      if (/password must be a(?: non-empty)? string/.test(said)) {
        return `user "${user}" needs a password, and the URL has none`;
      }
      return said;
  }
}

function codeOf(thrown: unknown): string | undefined {
  const code = (thrown as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
