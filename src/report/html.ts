/**
 * The report as one self-contained page: no script, no request, a policy that forbids both. Every text that comes from
 * a case, a database or a file goes through `escapeHtml`; pictures are our own SVG, escaped where they are drawn.
 */
import { findingToSvg } from '../check/index.js';
import { type InterleavingEntry, interleave } from '../histories/index.js';
import type { KnownReference } from '../known/index.js';
import { escapeHtml, isWebAddress } from '../markup.js';
import { argumentHtml, summaryHtml } from './argument.js';
import type { Bug } from './bug.js';
import type { Comparison } from './comparison.js';
import { reportDocument } from './document.js';
import { witnessOperations } from './evidence.js';
import { versionLine } from './facts.js';
import { knownLine } from './known.js';
import { timelineSvg } from './timeline.js';

const style = `
:root { color-scheme: light dark; --ink: #1b1f23; --paper: #fff; --line: #d0d7de; --soft: #f6f8fa; --result: #0b5394; --error: #b3261e; --mark: #fdecea; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d; --soft: #161b22; --result: #79c0ff; --error: #ff7b72; --mark: #4a1d1a; } .picture { background: #fff; } a { color: #79c0ff; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 1rem auto; padding: 0 1rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; margin: .5rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid var(--line); }
.standing { font-weight: 600; margin: .3rem 0; } table { border-collapse: collapse; margin: .8rem 0; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; min-width: 4rem; }
th { background: var(--soft); } code, pre { font: 13px/1.45 ui-monospace, monospace; } td code { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
.result { color: var(--result); display: block; } .error { color: var(--error); display: block; } .witness { background: var(--mark); }
.picture { overflow-x: auto; } .picture svg { max-width: 100%; max-height: 40rem; height: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { body { padding: 0 .5rem; } dl { grid-template-columns: 1fr; } }
@media print { body { max-width: none; } details::details-content { content-visibility: visible; } }
`;

export function reportHtml(bug: Bug): string {
  const report = reportDocument(bug);
  const title = escapeHtml(report.title);
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
<p class="standing">${escapeHtml(report.standing)}</p>
<p>${summaryHtml(report.summary)}</p>
${report.known === undefined ? '' : `<p class="known">${knownLine(report.known, knownLink, escapeHtml)}</p>`}
<pre>${escapeHtml(report.setup.map((sql) => `${sql};`).join('\n'))}</pre>
${interleavingHtml(bug, witnesses)}
${comparisonTable(report.comparisons)}
<h2>Why this is wrong</h2>
${argumentHtml(bug)}
${report.assumes.map((text) => `<p>Assumes: ${escapeHtml(text)}</p>`).join('\n')}
${report.sources.length === 0 ? '' : `<ul>\n${report.sources.map(source).join('\n')}\n</ul>`}
${pictures(bug)}
<h2>To reproduce</h2>
<p>Save this as <code>repro.sql</code>:</p>
<pre>${escapeHtml(report.reproduction.script)}</pre>
<p>Run and judge it:</p>
<pre>${escapeHtml(report.reproduction.command)}</pre>
<h2>Versions tried</h2>
${table(
  ['engine', 'version', 'settings', 'outcome', 'shown', 'when'],
  report.versions.map((version) => versionLine(version).map(escapeHtml)),
)}
<details>
<summary>Details</summary>
<dl>
${report.details
  .map(({ label, value }) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`)
  .join('\n')}
<dt>Found by</dt><dd><code>${escapeHtml(report.reproduction.again)}</code></dd>
</dl>
<pre>${escapeHtml(report.behaviour)}</pre>
</details>
</body>
</html>
`;
}

/** Only where they add something: waits for a timeline, several transactions for a graph. */
function pictures(bug: Bug): string {
  const waits = bug.history.operations.some(({ blocked }) => blocked === true);
  const marked = new Set(witnessOperations(bug).map(({ index }) => index));
  const timeline = waits
    ? `<h2>Timeline</h2>
<p>Operations that prove the bug are red; a dashed bar waited.</p>
<div class="picture">${timelineSvg(bug.history, marked)}</div>`
    : '';
  const graph =
    (bug.finding.cycle?.length ?? 0) > 1
      ? `<h2>Dependencies</h2>
<p>An arrow says which transaction must come first: <b>ww</b> both wrote, <b>wr</b> the second read what the first wrote, <b>rw</b> the first read what the second overwrote.</p>
<div class="picture">${findingToSvg(bug.finding)}</div>`
      : '';
  return `${timeline}\n${graph}`;
}

function knownLink({ name, url }: KnownReference): string {
  const text = escapeHtml(name);
  return url !== undefined && isWebAddress(url)
    ? `<a href="${escapeHtml(url)}" rel="noreferrer">${text}</a>`
    : text;
}

function source({ title, url }: Bug['sources'][number]): string {
  const text = escapeHtml(title);
  return isWebAddress(url)
    ? `<li><a href="${escapeHtml(url)}" rel="noreferrer">${text}</a></li>`
    : `<li>${text} (${escapeHtml(url)})</li>`;
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

function comparisonTable(list: readonly Comparison[]): string {
  if (list.length === 0) return '';
  const code = (text: string) => `<code>${escapeHtml(text)}</code>`;
  return table(
    ['transaction', 'statement', 'actual', 'expected'],
    list.map(({ transaction, statement, actual, expected }) => [
      escapeHtml(transaction),
      code(statement),
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
