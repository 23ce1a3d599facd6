/**
 * A client for any endpoint that speaks the chat protocol of OpenAI: `POST URL/chat/completions`, answers streamed as server-sent
 * events or given whole.
 *
 * What comes back is hostile text: it is decoded, cut at a length, and handed on as a string, nothing else. An answer that does not
 * end (or has 100 MB) is cut off and its connection closed; a server that is silent for too long is given up. Requests that failed
 * on the way, and those the server asks to repeat (429, 5xx), are sent again a few times.
 */
import { errorText, IsoldeError } from '../errors.js';
import { oneLine } from '../visible.js';

export interface Message {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface Reply {
  readonly text: string;
  /** The answer was longer than allowed; `text` is its beginning. */
  readonly cut: boolean;
  /** As the endpoint says, or a quarter of the characters. */
  readonly promptTokens: number;
  readonly answerTokens: number;
  /** Requests it took; 1: the first one worked. */
  readonly requests: number;
}

export interface EndpointOptions {
  /** `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  readonly key?: string;
  /** For one request, from sending it to its last byte. Default 120 s. */
  readonly timeoutMs?: number;
  /** Requests after the first. Default 2. */
  readonly retries?: number;
  /** Before the first retry; doubled for each further one. Default 500 ms. */
  readonly pauseMs?: number;
  /** Default: the process’s own. */
  readonly fetch?: typeof fetch;
  readonly signal?: AbortSignal;
}

export interface Endpoint {
  readonly model: string;
  ask(messages: readonly Message[]): Promise<Reply>;
}

/** Characters of an answer that are kept. A verdict with its reasons has some hundred. */
export const mostAnswerChars = 16_384;
/** Bytes of a response that are read: events have a frame around every word. */
const mostBytes = 4 * 1024 * 1024;
/** An error’s text is shown in a line. */
const mostErrorBytes = 4096;

class Refused extends Error {
  constructor(
    message: string,
    readonly again: boolean,
  ) {
    super(message);
  }
}

export function openEndpoint(options: EndpointOptions): Endpoint {
  const address = addressOf(options.url);
  const { retries = 2, pauseMs = 500, signal } = options;
  return {
    model: options.model,
    async ask(messages) {
      for (let attempt = 0; ; attempt++) {
        try {
          return { ...(await send(address, messages, options)), requests: attempt + 1 };
        } catch (error) {
          if (signal?.aborted === true) throw new IsoldeError('connect', 'the question was interrupted');
          const again = !(error instanceof Refused) || error.again;
          if (!again || attempt >= retries)
            throw new IsoldeError(
              'connect',
              `the endpoint ${address.origin} does not answer: ${oneLine(errorText(error)).slice(0, 300)} (${attempt + 1} requests)`,
              { cause: error },
            );
          await pause(pauseMs * 2 ** attempt, signal);
        }
      }
    },
  };
}

function addressOf(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new IsoldeError(
      'usage',
      `"${text}" is no address of an endpoint, such as http://127.0.0.1:11434/v1`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new IsoldeError('usage', `an endpoint is reached by http or https, not by ${url.protocol}`);
  if (url.username !== '' || url.password !== '')
    throw new IsoldeError(
      'usage',
      'the key of an endpoint comes from the environment (ISOLDE_LLM_KEY), not from its address',
    );
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/chat/completions') ? path : `${path}/chat/completions`;
  return url;
}

async function send(
  address: URL,
  messages: readonly Message[],
  options: EndpointOptions,
): Promise<Omit<Reply, 'requests'>> {
  const { model, key, timeoutMs = 120_000, fetch: request = fetch, signal } = options;
  const limit = AbortSignal.timeout(timeoutMs);
  const body = {
    ...{ model, messages, stream: true, stream_options: { include_usage: true } },
    ...{ temperature: 0.7, max_tokens: 1024 },
  };
  const response = await request(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  }).catch((error: unknown) => {
    if (limit.aborted) throw new Refused(`no answer in ${timeoutMs / 1000} s`, true);
    throw new Error(causeText(error));
  });
  if (!response.ok) {
    const { text } = await readBytes(response, mostErrorBytes);
    throw new Refused(
      `status ${response.status}: ${text}`,
      response.status === 429 || response.status >= 500,
    );
  }
  const asked = messages.reduce((sum, { content }) => sum + content.length, 0);
  const read = response.headers.get('content-type')?.includes('text/event-stream') ? readEvents : readWhole;
  try {
    const { text, cut, usage } = await read(response);
    const promptTokens = usage?.prompt_tokens ?? Math.ceil(asked / 4);
    return { text, cut, promptTokens, answerTokens: usage?.completion_tokens ?? Math.ceil(text.length / 4) };
  } catch (error) {
    if (limit.aborted) throw new Refused(`the answer did not end in ${timeoutMs / 1000} s`, true);
    throw error;
  }
}

/** What is wrong with a connection stands in the cause of what `fetch` throws. */
function causeText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== '' ? cause.message : errorText(error);
}

interface Usage {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
}

interface Content {
  readonly text: string;
  readonly cut: boolean;
  readonly usage?: Usage | undefined;
}

async function readWhole(response: Response): Promise<Content> {
  const { text, cut } = await readBytes(response, mostBytes);
  if (cut) return { text: '', cut: true };
  const { content, usage } = pieceOf(text, 'message');
  return { text: content.slice(0, mostAnswerChars), cut: content.length > mostAnswerChars, usage };
}

/** Lines `data: {…}`, each with a piece of the answer; `data: [DONE]` ends it. */
async function readEvents(response: Response): Promise<Content> {
  let text = '';
  let usage: Usage | undefined;
  let line = '';
  let done = false;
  const take = (data: string): void => {
    if (!data.startsWith('data:')) return;
    const payload = data.slice('data:'.length).trim();
    if (payload === '[DONE]') done = true;
    else if (payload !== '') {
      const piece = pieceOf(payload, 'delta');
      text += piece.content;
      usage = piece.usage ?? usage;
    }
  };
  const { cut } = await readChunks(response, mostBytes, (chunk) => {
    line += chunk;
    const lines = line.split('\n');
    line = lines.pop()!;
    for (const each of lines) take(each);
    return !done && text.length <= mostAnswerChars;
  });
  if (!done) take(line);
  return { text: text.slice(0, mostAnswerChars), cut: cut || text.length > mostAnswerChars, usage };
}

/** The text of `choices[0].message` or `.delta`; anything else in it is not looked at. */
function pieceOf(json: string, where: 'message' | 'delta'): { content: string; usage: Usage | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Refused('it answers with something that is not JSON', false);
  }
  const parsed = value as { choices?: { [where: string]: { content?: unknown } }[]; usage?: Usage } | null;
  const content = parsed?.choices?.[0]?.[where]?.content;
  const number = (given: unknown) => (typeof given === 'number' && given >= 0 ? given : undefined);
  const [prompt, answer] = [number(parsed?.usage?.prompt_tokens), number(parsed?.usage?.completion_tokens)];
  const usage =
    prompt === undefined || answer === undefined
      ? undefined
      : { prompt_tokens: prompt, completion_tokens: answer };
  return { content: typeof content === 'string' ? content : '', usage };
}

async function readBytes(response: Response, most: number): Promise<{ text: string; cut: boolean }> {
  let text = '';
  const { cut } = await readChunks(response, most, (chunk) => {
    text += chunk;
    return true;
  });
  return { text, cut };
}

/** Hands on decoded chunks until `use` has enough or the limit is reached, then closes the connection. */
async function readChunks(
  response: Response,
  most: number,
  use: (chunk: string) => boolean,
): Promise<{ cut: boolean }> {
  const reader = response.body?.getReader();
  if (reader === undefined) return { cut: false };
  const decoder = new TextDecoder();
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { cut: false };
    bytes += value.length;
    const enough = !use(decoder.decode(value, { stream: true }));
    if (!enough && bytes <= most) continue;
    await reader.cancel().catch(() => undefined);
    return { cut: bytes > most };
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
