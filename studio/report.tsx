/** `report.html`: the page of one bug, whose data stands in the document. */
import { render } from 'preact';
import type { BugPage } from '../src/studio/api.js';
import { BugArticle } from './bug.js';

const page = JSON.parse(document.getElementById('bug')!.textContent) as BugPage;
render(
  <main>
    <BugArticle page={page} />
  </main>,
  document.getElementById('app')!,
);
