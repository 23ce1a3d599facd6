/**
 * A local server that speaks the chat protocol and plays experts, for tests. It knows the truth by a phrase in the descriptions, which a model
 * would have to find out.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Heard {
  readonly system: string;
  readonly user: string;
  readonly key: string | undefined;
  /** What a perfect expert answers. */
  readonly truth: 'A' | 'B' | 'same' | 'different' | undefined;
}

/** What the server does with a request: a text is streamed as an answer. */
export type Player = (heard: Heard, response: ServerResponse) => string | undefined;

export interface ProtocolServer {
  readonly url: string;
  readonly heard: readonly Heard[];
  close(): Promise<void>;
}

export const opinion = (choice: unknown, confidence: unknown = 90, reason: unknown = 'because'): string =>
  JSON.stringify({ choice, confidence, reason });

/** `phrase`: what the report of the same bug says. */
export async function playExperts(phrase: string, player: Player): Promise<ProtocolServer> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    void answer(request, response, { phrase, player, heard });
  });
  await listenBelow(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    heard,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { phrase, player, heard }: { phrase: string; player: Player; heard: Heard[] },
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  const [system, user] = messages.map(({ content }) => content) as [string, string];
  const data = JSON.parse(user.split('\n\n')[0]!) as Record<string, unknown>;
  const tells = (part: unknown) => JSON.stringify(part ?? '').includes(phrase);
  const truth =
    'report' in data
      ? tells(data.report)
        ? 'same'
        : 'different'
      : tells(data.A)
        ? 'A'
        : tells(data.B)
          ? 'B'
          : undefined;
  const said: Heard = { system, user, key: request.headers.authorization, truth };
  heard.push(said);
  const text = player(said, response);
  if (text !== undefined) stream(response, text);
}

/** As endpoints do it: in pieces, with the use of tokens in the last one. */
export function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
  for (let at = 0; at < text.length; at += 20)
    send({ choices: [{ delta: { content: text.slice(at, at + 20) } }] });
  send({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 10 } });
  response.end('data: [DONE]\n\n');
}

let started = 0;

/** Ports below those that connections get by themselves; each once, or kept connections would go to the server before. */
async function listenBelow(server: Server): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const port = 20_000 + ((process.pid * 37 + started++ * 101) % 12_000);
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        server.removeListener('error', resolve);
        resolve(undefined);
      });
    });
    if (error === undefined) return;
    if (error.code !== 'EADDRINUSE' || attempt > 200) throw error;
  }
}
