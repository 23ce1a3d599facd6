/**
 * The studio as a fuzz subject: requests as bytes on a socket, changed before they are sent. Samples hold placeholders for what a
 * running server chose (its port, its token), so that the same seed makes the same requests. An answer of the 5xx family is
 * a failure, and so is a connection that the server neither answers nor ends.
 */
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { IsoldeError } from '../../errors.js';
import { startStudio } from '../../studio/index.js';
import type { FuzzSubject } from './fuzz-subject.js';

const answerWithinMs = 20_000;
/** A request without an answer by then lacks its end, as far as the server knows. */
const endAfterMs = 200;

/** A whole request, its placeholders not filled in. */
function request(path: string, text?: string): string {
  const heads = [
    `${text === undefined ? 'GET' : 'POST'} /@TOKEN@/${path} HTTP/1.1`,
    'Host: 127.0.0.1:@PORT@',
    'Connection: close',
    ...(text === undefined
      ? []
      : [
          'Origin: http://127.0.0.1:@PORT@',
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(text)}`,
        ]),
  ];
  return `${heads.join('\r\n')}\r\n\r\n${text ?? ''}`;
}

const script = 'CREATE TABLE t (a INT);\nT1: BEGIN;\nT2: SELECT a FROM t;\nT1: COMMIT;\n';

interface Sample {
  readonly path: string;
  /** Absent: it is a GET. */
  readonly body?: unknown;
}

/** One of each kind of request a page makes; those that would work for minutes name a database that is not on the list. */
function samples(bug: string): readonly Sample[] {
  const target = 'no-such-target';
  return [
    ...['', 'app.js', 'api/bugs', `api/bugs/${bug}`, 'api/targets', 'api/hunt', 'api/probe'],
    ...['api/probe/cell/serializable/G0', 'api/shrink/1', 'api/shrink/1/case.sql', 'api/shrink/1/texts'],
  ]
    .map((path): Sample => ({ path }))
    .concat([
      { path: 'api/run', body: { script, targets: [target] } },
      { path: 'api/shrink', body: { bug: 'none' } },
      { path: 'api/shrink', body: { script, target } },
      { path: 'api/shrink/1/change', body: { kind: 'off', at: 0 } },
      { path: 'api/shrink/1/change', body: { kind: 'edit', at: 1, of: 'setup', sql: 'SELECT 1' } },
      { path: 'api/shrink/1/change', body: { kind: 'move', at: 0, to: 2 } },
      { path: 'api/shrink/1/change', body: { kind: 'merge', at: 1 } },
      { path: 'api/shrink/1/go', body: { to: 0 } },
      { path: 'api/shrink/1/stop', body: {} },
      { path: 'api/hunt/start', body: { target, profile: 'mixed', seed: '1' } },
      { path: 'api/hunt/stop', body: {} },
      { path: 'api/probe/start', body: { target } },
      { path: 'api/probe/stop', body: {} },
    ]);
}

/** A studio on a store with a bug; `close` ends it. */
export async function studioRequests(
  folder: string,
  store: string,
  bug: string,
): Promise<{ readonly subjects: readonly FuzzSubject[]; readonly close: () => Promise<void> }> {
  // The page itself is not what is tried.
  for (const name of ['index.html', 'app.js', 'app.css', 'icon.svg']) await writeFile(join(folder, name), '');
  const studio = await startStudio({ store, client: folder });
  const { port, pathname } = new URL(studio.url);
  const token = pathname.replaceAll('/', '');
  const filledIn = (input: Buffer) =>
    Buffer.from(input.toString('latin1').replaceAll('@PORT@', port).replaceAll('@TOKEN@', token), 'latin1');
  const send = (text: string, patienceMs = endAfterMs) =>
    statusOf(filledIn(Buffer.from(text)), Number(port), patienceMs);
  // The session of shrinking that samples name.
  const opened = await send(request('api/shrink', JSON.stringify({ bug })), answerWithinMs);
  if (opened !== 200) throw new Error(`the studio answers ${opened} to a valid request`);
  const all = samples(bug).map(({ path, body }) => ({
    path,
    text: body === undefined ? undefined : JSON.stringify(body),
  }));
  const raw: FuzzSubject = {
    name: 'studio-request',
    samples: all.map(({ path, text }) => Buffer.from(request(path, text))),
    read: async (input) => judge(await statusOf(filledIn(input), Number(port), endAfterMs)),
  };
  // What is behind the guard: a path and a body in a request that is right otherwise.
  const inner: FuzzSubject = {
    name: 'studio-body',
    samples: all.map(({ path, text }) => Buffer.from(text === undefined ? path : `${path}\n${text}`)),
    read: async (input) => {
      const [path = '', ...lines] = input.toString().split('\n');
      const body = lines.length === 0 ? undefined : lines.join('\n');
      judge(await send(request(encodeURI(path), body)));
    },
  };
  return { subjects: [raw, inner], close: () => studio.close() };
}

function judge(status: number): void {
  if (status >= 500) throw new Error(`the studio answers ${status}`);
  if (status >= 400) throw new IsoldeError('usage', `${status}`);
}

/** The status of the answer; a request that never ends is ended here, and refused. */
function statusOf(bytes: Buffer, port: number, patienceMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    const done = (act: () => void) => {
      clearTimeout(timer);
      clearTimeout(ending);
      socket.destroy();
      act();
    };
    const timer = setTimeout(
      () => done(() => reject(new Error('neither an answer nor an end'))),
      answerWithinMs,
    );
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
      if (status !== undefined) done(() => resolve(Number(status)));
    });
    socket.on('error', (error) => done(() => reject(error)));
    // Whoever sends half a request and hangs up gets nothing: that is a refusal.
    socket.on('close', () => done(() => resolve(400)));
    socket.write(bytes);
    const ending = setTimeout(() => socket.end(), patienceMs);
  });
}
