/**
 * The studio's server: a page and a JSON interface on 127.0.0.1, for whoever was shown its address. It computes nothing itself;
 * routes ask the stages. `guard.ts` says who is answered.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { errorText, IsoldeError } from '../errors.js';
import { listenBelow } from '../free-port.js';
import type { HuntOptions } from '../hunt/index.js';
import { shown } from '../report/index.js';
import { openBugStore } from '../store/index.js';
import { BugPages, bugList } from './bugs.js';
import { type ClientFiles, readClient } from './client-files.js';
import { NewsHub, watchStore } from './events.js';
import { admitRequest, type Door, newToken, securityHeaders } from './guard.js';
import type { CheckFile } from './history/findings.js';
import { Histories } from './history/histories.js';
import { Hunting } from './hunting.js';
import { playRoutes } from './playing.js';
import { Probing } from './probing.js';
import { Download, Exactly, findRoute, NotFound, type Routes } from './routes.js';
import { Shrinking } from './shrinking.js';
import { StudioTargets } from './studio-targets.js';

export interface StudioOptions {
  /** The store: a folder, or the URL of one that machines share. */
  readonly store: string;
  /** Databases that pages may use besides the embedded ones, as URLs. */
  readonly targets?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
  /** Where the built page lies; default: beside this program. */
  readonly client?: string;
  /** Files of histories that pages may open. */
  readonly histories?: readonly string[];
  /** How a history file is checked; without it pages cannot. */
  readonly checkFile?: CheckFile;
  /** Asks whether others have reported a bug that a hunt found; without it nobody is asked. */
  readonly identify?: HuntOptions['identify'];
}

export interface Studio {
  /** The address, with its token. */
  readonly url: string;
  close(): Promise<void>;
}

const mostBodyBytes = 8 * 1024 * 1024;

export async function startStudio(options: StudioOptions): Promise<Studio> {
  const files = await readClient(options.client);
  const store = await openBugStore(options.store);
  const hub = new NewsHub();
  const unwatch = watchStore(store, hub);
  const pages = new BugPages(store);
  const targets = new StudioTargets(options.targets);
  const shrinking = new Shrinking(store, targets, hub);
  const hunting = new Hunting(options.store, targets, hub, options.identify);
  const probing = new Probing(targets, hub);
  const { histories: given = [], checkFile } = options;
  const histories = new Histories({ files: given, store, hub, checkFile });
  const routes: Routes = {
    ...shrinking.routes,
    ...hunting.routes,
    ...probing.routes,
    ...histories.routes,
    ...playRoutes(targets),
    'GET bugs': () => bugList(store),
    'GET bugs/:id': ({ params }) => pages.of(params.id!),
  };
  const token = newToken();
  const door = { token, port: 0 };
  const server = createServer((request, response) => {
    void answer(request, response, { door, files, routes, hub });
  });
  door.port = await listenBelow(server, options.port);
  return {
    url: `http://127.0.0.1:${door.port}/${token}/`,
    close: async () => {
      unwatch();
      histories.close();
      await closeServer(server);
      await Promise.all([shrinking.close(), hunting.close(), probing.close()]);
      await store.close();
    },
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface Behind {
  readonly door: Door;
  readonly files: ClientFiles;
  readonly routes: Routes;
  readonly hub: NewsHub;
}

async function answer(request: IncomingMessage, response: ServerResponse, behind: Behind): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  const admitted = admitRequest({ method, url, headers }, behind.door);
  if ('refused' in admitted) {
    send(response, 403, 'text/plain', `403: ${admitted.refused}\n`);
    return;
  }
  try {
    const { path } = admitted;
    const file = method === 'GET' ? behind.files.get(path) : undefined;
    if (file !== undefined) send(response, 200, file.type, file.content);
    else if (path === 'api/events' && method === 'GET') tellNews(response, behind.hub);
    else if (path.startsWith('api/')) await answerRoute(request, response, behind.routes, path.slice(4));
    else send(response, 404, 'text/plain', '404\n');
  } catch (error) {
    sendError(response, error);
  }
}

async function answerRoute(
  request: IncomingMessage,
  response: ServerResponse,
  routes: Routes,
  path: string,
): Promise<void> {
  const route = findRoute(routes, request.method ?? 'GET', path);
  if (route === undefined) throw new NotFound(`there is nothing at ${path}`);
  const body = request.method === 'POST' ? await readBody(request) : undefined;
  const query = new URL(request.url ?? '/', 'http://studio').searchParams;
  const result = await route.answer({ params: route.params, query, body });
  if (result instanceof Download) {
    const name = result.name.replaceAll(/[^\w.-]/g, '_');
    response.setHeader('content-disposition', `attachment; filename="${name}"`);
    send(response, 200, 'text/plain; charset=utf-8', result.text);
  } else if (result instanceof Uint8Array) send(response, 200, 'application/octet-stream', result);
  else sendJson(response, 200, result instanceof Exactly ? result.value : shown(result ?? null));
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  if (!(request.headers['content-type'] ?? '').startsWith('application/json'))
    throw new IsoldeError('usage', 'the body must be JSON');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBodyBytes) throw new IsoldeError('usage', 'the body is larger than 8 MiB');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw new IsoldeError('usage', `the body is not JSON: ${errorText(error)}`);
  }
}

function tellNews(response: ServerResponse, hub: NewsHub): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': here\n\n');
  const stop = hub.listen((news) => response.write(`data: ${JSON.stringify(news)}\n\n`));
  response.on('close', stop);
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = error instanceof NotFound ? 404 : error instanceof IsoldeError ? 400 : 500;
  sendJson(response, status, shown({ error: errorText(error) }));
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, content: string | Uint8Array): void {
  response.writeHead(status, { 'content-type': type });
  response.end(content);
}
