/**
 * The report as one self-contained page: no script, no request, a policy that forbids both. Every text that comes from
 * a case, a database or a file goes through `escapeHtml`; pictures are our own SVG, escaped where they are drawn.
 */
import { printScript } from '../cases/index.js';
import { findingToSvg } from '../check/index.js';
import { type InterleavingEntry, interleave } from '../histories/index.js';
import { escapeHtml, isWebAddress } from '../markup.js';
import { argumentHtml } from './argument.js';
import type { Bug } from './bug.js';
import { discrepancies, witnessOperations } from './evidence.js';
import { factsOf, versionLine, versionsOf } from './facts.js';
import { timelineSvg } from './timeline.js';

const style = `
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f23; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #d0d7de; }
table { border-collapse: collapse; } th, td { border: 1px solid #d0d7de; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #f6f8fa; } code, pre { font: 13px/1.45 ui-monospace, monospace; } td code { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: #f6f8fa; padding: .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.result { color: #0b5394; display: block; } .error { color: #b3261e; display: block; } .witness { background: #fdecea; }
.picture { overflow-x: auto; } .picture svg { max-width: 100%; height: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dt { font-weight: 600; } dd { margin: 0; }
`;

export function reportHtml(bug: Bug): string {
  const title = escapeHtml(bug.title);
  const witnesses = new Set(bug.finding.operations.map(({ index }) => index));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<dl>
${factsOf(bug)
  .map(({ label, value }) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`)
  .join('\n')}
${bug.sources.map(source).join('\n')}
</dl>
<h2>Interleaving</h2>
<p>Time goes down; each column is a session, results in place. The operations that prove the bug are shaded.</p>
${interleavingHtml(bug, witnesses)}
<h2>Expected against actual</h2>
${expectations(bug)}
<h2>Why this is wrong</h2>
${argumentHtml(bug)}
${(bug.finding.assumes ?? []).map((text) => `<p>Assumes: ${escapeHtml(text)}</p>`).join('\n')}
<h2>Timeline</h2>
<div class="picture">${timelineSvg(bug.history, new Set(witnessOperations(bug).map(({ index }) => index)))}</div>
<h2>Dependencies</h2>
<div class="picture">${findingToSvg(bug.finding)}</div>
<h2>To reproduce</h2>
<pre>${escapeHtml(bug.replay)}</pre>
<p>The case and its order, for <code>isolde run</code>:</p>
<pre>${escapeHtml(printScript(bug))}</pre>
<h2>Versions tried</h2>
${table(
  ['engine', 'version', 'settings', 'outcome', 'shown', 'when'],
  versionsOf(bug).map((version) => versionLine(version).map(escapeHtml)),
)}
<h2>Behaviour signature</h2>
<pre>${escapeHtml(bug.behaviour)}</pre>
</body>
</html>
`;
}

function source({ clause, title, url }: Bug['sources'][number]): string {
  const text = escapeHtml(title);
  const link = isWebAddress(url)
    ? `<a href="${escapeHtml(url)}" rel="noreferrer">${text}</a>`
    : `${text} (${escapeHtml(url)})`;
  return `<dt>Source (${escapeHtml(clause)})</dt><dd>${link}</dd>`;
}

function interleavingHtml({ history }: Bug, witnesses: ReadonlySet<number>): string {
  const { sessions } = history.header;
  const cell = ({ operation, sql, result, failed, begins }: InterleavingEntry) => {
    const shade = witnesses.has(operation.index) ? ' class="witness"' : '';
    const text = sql === undefined ? '' : `<code>${escapeHtml(sql)}</code>`;
    const tone = failed ? 'error' : 'result';
    const label = begins === undefined ? '' : `<b>${escapeHtml(begins)}:</b> `;
    const answer = result === '' ? '' : `<code class="${tone}">${escapeHtml(result)}</code>`;
    return `<td${shade}>${label}${text}${answer}</td>`;
  };
  const rows = interleave(history).map(
    (entry) =>
      `<tr><td>${entry.operation.index}</td>${sessions.map((_, s) => (s === entry.session ? cell(entry) : '<td></td>')).join('')}</tr>`,
  );
  const heads = sessions.map((name) => `<th>${escapeHtml(name)}</th>`).join('');
  return `<table>\n<thead><tr><th>operation</th>${heads}</tr></thead>\n<tbody>\n${rows.join('\n')}\n</tbody>\n</table>`;
}

function expectations(bug: Bug): string {
  const list = discrepancies(bug);
  if (list.length === 0) return '<p>See the argument below.</p>';
  const code = (text: string) => `<code>${escapeHtml(text)}</code>`;
  return table(
    ['transaction', 'statement', 'object', 'actual', 'expected'],
    list.map(({ transaction, statement, object, actual, expected }) => [
      escapeHtml(transaction),
      code(statement),
      code(object),
      code(actual),
      code(expected),
    ]),
  );
}

/** Cells are HTML already. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((cells) => `<tr>${cells.map((text) => `<td>${text}</td>`).join('')}</tr>`);
  return `<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>`;
}
