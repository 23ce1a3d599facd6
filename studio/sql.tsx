/** SQL with its words coloured. */
import { Fragment } from 'preact';

const words =
  'ADD|ALL|ALTER|AND|AS|ASC|BEGIN|BETWEEN|BY|CASE|CHECK|COMMIT|CONFLICT|CONSTRAINT|CREATE|CROSS|DEFAULT|DELETE|DESC|DISTINCT|DO|DROP|ELSE|END|EXISTS|FALSE|FOR|FOREIGN|FROM|GROUP|HAVING|IGNORE|IN|INDEX|INNER|INSERT|INTO|IS|ISOLATION|JOIN|KEY|LEFT|LEVEL|LIKE|LIMIT|LOCKED|MERGE|NOT|NOTHING|NOWAIT|NULL|ON|OR|ORDER|PRIMARY|READ|REFERENCES|RELEASE|REPLACE|RETURNING|ROLLBACK|SAVEPOINT|SELECT|SERIALIZABLE|SET|SHARE|SKIP|START|TABLE|THEN|TO|TRANSACTION|TRUE|UNION|UNIQUE|UPDATE|USING|VALUES|WHEN|WHERE|WITH';
const token = new RegExp(
  String.raw`(--[^\n]*|/\*[\s\S]*?\*/)|('(?:[^']|'')*'?)|\b(${words})\b|(\b\d+(?:\.\d+)?\b)`,
  'gi',
);
const kinds = ['comment', 'string', 'word', 'number'] as const;

export function Sql({ text }: { readonly text: string }) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(token)) {
    if (match.index > at) parts.push(<Fragment key={at}>{text.slice(at, match.index)}</Fragment>);
    const kind = kinds[match.slice(1).findIndex((group) => group !== undefined)];
    parts.push(
      <span key={match.index} class={`sql-${kind}`}>
        {match[0]}
      </span>,
    );
    at = match.index + match[0].length;
  }
  parts.push(text.slice(at));
  return <code class="sql">{parts}</code>;
}
