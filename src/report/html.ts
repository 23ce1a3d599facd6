/**
 * The report as one self-contained page: the studio's page of a bug, with its script, its style and the bug's data in it. It works from a
 * disk, asks for nothing, and its policy allows that one script and that one style by their hashes and nothing else.
 *
 * Text of others is data only: JSON in an element that is not executed, with every `<` escaped, so that no text ends it; the script puts
 * it into text nodes. Where scripts do not run, and in a build without the page's script, the report stands there as Markdown.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtPageFolder } from '../built-page.js';
import { escapeHtml } from '../markup.js';
import type { Bug } from './bug.js';
import { bugPage } from './bug-page.js';
import { reportMarkdown } from './markdown.js';
import { shown } from './shown.js';

/** What a build makes of `studio/report.tsx`. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/** `parts`: what the page shows the bug with; null: nothing, the report stands in it as text. Default: what was built. */
export function reportHtml(bug: Bug, parts: PageParts | null = builtParts()): string {
  const page = shown(bugPage(bug));
  const { script, style } = parts ?? { script: '', style: plainStyle };
  const text = `<pre>${escapeHtml(reportMarkdown(bug))}</pre>`;
  const policy = [
    "default-src 'none'",
    ...(script === '' ? [] : [`script-src '${hashOf(script)}'`]),
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy.join('; ')}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.report.title)}</title>
<style>${style}</style>
</head>
<body>
${
  script === ''
    ? text
    : `<div id="app"></div>
<noscript>${text}</noscript>
<script type="application/json" id="bug">${JSON.stringify(page).replaceAll('<', '\\u003c')}</script>
<script>${script}</script>`
}
</body>
</html>
`;
}

const plainStyle = ':root{color-scheme:light dark}pre{white-space:pre-wrap;overflow-wrap:anywhere}';

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

let built: PageParts | null = null;

/** Read once; null where nobody has built the page. */
function builtParts(): PageParts | null {
  const folder = built === null ? builtPageFolder('report.js') : undefined;
  if (folder !== undefined) built = readParts(folder);
  return built;
}

export function readParts(folder: string): PageParts {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { script: read('report.js'), style: read('report.css') };
}
