/** Comma-separated values with quotes and line breaks inside them (RFC 4180), bounded; a byte-order mark is passed over. */
import { FileError } from '../errors.js';

/** Characters of a file, and fields of a row. */
const mostChars = 64 * 1024 * 1024;
const mostFields = 1000;

/** Rows with the line each begins at. */
export function parseCsv(
  text: string,
  file: string,
): { readonly fields: readonly string[]; readonly line: number }[] {
  if (text.length > mostChars) throw new FileError({ file }, `it is longer than ${mostChars} characters`);
  const rows: { fields: string[]; line: number }[] = [];
  const end = text.length;
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < end) {
    const row = { fields: [] as string[], line };
    for (;;) {
      let field = '';
      if (text[at] === '"') {
        const from = line;
        at++;
        for (;;) {
          const quote = text.indexOf('"', at);
          if (quote < 0) throw new FileError({ file, line: from }, 'the quote that begins here never ends');
          field += text.slice(at, quote);
          at = quote + 1;
          if (text[at] !== '"') break;
          field += '"';
          at++;
        }
        line += field.split('\n').length - 1;
      }
      const from = at;
      while (at < end && text[at] !== ',' && text[at] !== '\n') at++;
      row.fields.push(field + text.slice(from, at).replace(/\r$/, ''));
      if (row.fields.length > mostFields)
        throw new FileError({ file, line: row.line }, `the row has more than ${mostFields} fields`);
      if (text[at] !== ',') break;
      at++;
    }
    at++;
    line++;
    if (row.fields.length > 1 || row.fields[0] !== '') rows.push(row);
  }
  return rows;
}
