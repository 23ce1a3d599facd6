/** Small things that several views show. */
import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { PhrasePart } from '../src/studio/api.js';
import { FocusContext, isPointedAt, usePointing } from './focus.js';
import { Sql } from './sql.js';

export function Failure({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : (
    <p class="failure" role="alert">
      {text}
    </p>
  );
}

export function Loading({
  of: { value, error },
}: {
  readonly of: { readonly value: unknown; readonly error: string | undefined };
}) {
  if (error !== undefined) return <Failure text={error} />;
  return value === undefined ? <p class="quiet">loading …</p> : null;
}

/** Bugs of the store that are passed over. */
export function Unreadable({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <details class="failure">
      <summary>{problems.length} folders could not be read</summary>
      <ul>
        {problems.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </details>
  );
}

export function Label({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return <span class={`pill label-${label}`}>{children}</span>;
}

/** A transaction's name in the colour of its session. */
export function Transaction({
  name,
  sessions,
}: {
  readonly name: string;
  readonly sessions: readonly string[];
}) {
  const pointing = usePointing({ transaction: name });
  const holder = useContext(FocusContext);
  const lit = isPointedAt(holder, { transaction: name }) ? ' lit' : '';
  return (
    <span class={`tx s${sessionOf(name, sessions)}${lit}`} {...pointing}>
      {name}
    </span>
  );
}

/** `T2#2` is the second transaction of session T2. Six colours go round. */
export function sessionOf(name: string, sessions: readonly string[]): number {
  const at = sessions.indexOf(name);
  const base = at >= 0 ? at : sessions.findIndex((session) => name.startsWith(`${session}#`));
  return base < 0 ? 0 : base % 6;
}

/** A sentence of an explanation. */
export function Phrase({
  parts,
  sessions,
}: {
  readonly parts: readonly PhrasePart[];
  readonly sessions: readonly string[];
}) {
  return (
    <>
      {parts.map((part, i) => (
        <Part key={i} part={part} sessions={sessions} />
      ))}
    </>
  );
}

function Part({ part, sessions }: { readonly part: PhrasePart; readonly sessions: readonly string[] }) {
  if ('text' in part) return <>{part.text}</>;
  if ('transaction' in part) return <Transaction name={part.transaction} sessions={sessions} />;
  if ('operation' in part) return <OperationLink index={part.operation} sql={part.sql} />;
  if ('data' in part) return <code class="data">{part.data}</code>;
  return <Source title={part.title} url={part.url} />;
}

function OperationLink({ index, sql }: { readonly index: number; readonly sql: string }) {
  const pointing = usePointing({ operations: [index] });
  return (
    <span class="operation-link" {...pointing}>
      <b>#{index}</b> <Sql text={sql} />
    </span>
  );
}

export function Source({ title, url }: { readonly title: string; readonly url: string }) {
  if (!/^https?:\/\//i.test(url)) return <span>{title}</span>;
  return (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {title}
    </a>
  );
}

export function Section({
  title,
  children,
  id,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly id?: string;
}) {
  return (
    <section class="card" id={id} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A time as people read it; the exact one on pointing. */
export function Time({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {at.slice(0, 16).replace('T', ' ')}
    </time>
  );
}
