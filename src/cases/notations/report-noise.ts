/**
 * What stands in a pasted report and is not SQL: prompts, result tables, messages of command-line clients, prose.
 */

const noise: readonly RegExp[] = [
  /^\+[-+=]*\+?$/, // the rules of a result table
  /^\|(?!\s*[\w"-]+\s*:\s)/, // its rows
  /^[-=*]{3,}(\s|$)/,
  /^(query ok\b|empty set\b|\d+ rows? (in set|affected)|rows matched:|records: \d|database changed|bye$)/i,
  /^\(\d+ rows?\)/,
  /^(error|warning|notice|note|hint|detail|context|statement)\b\s*(\[|\(|:|\d)/i,
  /^(reading table information|you can turn off this feature|welcome to the|type 'help|your mysql connection)/i,
  /^(INSERT \d+ \d+|(UPDATE|DELETE|SELECT|MERGE) \d+)$/, // psql's answers
  /^(\/usr\/|\$ |\[?root@|mysql -|mysql --|mariadb -|psql -|sqlite3 )/i,
  /^(```|~~~)/,
];

/** Whether a line is certainly no SQL. */
export function isNoise(line: string): boolean {
  return noise.some((pattern) => pattern.test(line));
}

/** The prompts of clients; what follows them was typed. */
const prompt =
  /^(?:(?:mysql|mariadb|tidb|sqlite|sql|cockroach|postgres|test)\s*>|(?:mysql|mariadb|tidb)\s*\[[^\]]*\][^>]{0,60}>|root@[^>\s]*>|\w+(?:=|-|\(|'|\*|!)[#>](?=\s))\s*/i;
const continuation = /^(?:-+>|'>|">|`>)(?=\s|$)\s*/;

/** A line without its prompt; `typed` says that there was one, `continued` that it goes on with the line before. */
export function stripPrompt(line: string): { rest: string; typed: boolean; continued: boolean } {
  const more = continuation.exec(line);
  if (more !== null) return { rest: line.slice(more[0].length), typed: true, continued: true };
  const match = prompt.exec(line);
  if (match === null) return { rest: line, typed: false, continued: false };
  return { rest: line.slice(match[0].length), typed: true, continued: false };
}

/** Whether a text shows signs of having been pasted from a client or a report. */
export function looksPasted(text: string): boolean {
  return text.split(/\r?\n/).some((raw) => {
    const line = raw.trim();
    if (/^-{3,}|^\*{3,}|^={3,}/.test(line)) return false;
    return isNoise(line) || stripPrompt(line).typed;
  });
}

const word = '[\\w`"\'@$.\\u0080-\\uffff]';
const object =
  '(table|tables|index|view|trigger|procedure|function|sequence|schema|database|type|user|tablespace|event|extension|domain|role)';

/** Shapes of statements, tight enough to tell `update t set a = 1` from "update the row and wait". */
const shapes: readonly RegExp[] = [
  /^(begin|commit|rollback|end|abort)( (work|transaction|tran|optimistic|pessimistic|immediate|exclusive|deferred|concurrent|read only|read write|isolation level [a-z ]+|and( no)? chain|prepared \S+))*$/i,
  /^start transaction\b( (with|read|isolation|consistent|snapshot|only|write|level|committed|uncommitted|repeatable|serializable|pessimistic|optimistic|,|as of timestamp .*))*$/i,
  /^rollback( work| transaction)? to( savepoint)? \S+$/i,
  /^(savepoint|release savepoint|release) \S+$/i,
  /^xa (start|begin|end|prepare|commit|rollback|recover)\b/i,
  /^\(*\s*select\b(?! (statement|quer|in|is|will|should|result)\b)[\s\S]*(\bfrom\b|[@(\d*'=]|\bnull\b)/i,
  /^with\s+(recursive\s+)?\S+[\s\S]*\bas\b[\s\S]*\(/i,
  /^(insert|replace)\s+((low_priority|delayed|high_priority|ignore|or \w+)\s+)*(into\s+)?\S+[\s\S]*(\bvalues?\b|\bselect\b|\bset\b|\bdefault\b|\()/i,
  new RegExp(`^update\\s+((low_priority|ignore|or \\w+)\\s+)*${word}[\\s\\S]*\\sset\\s[\\s\\S]*=`, 'i'),
  new RegExp(`^delete\\s+((low_priority|quick|ignore)\\s+)*(from\\s+)${word}`, 'i'),
  new RegExp(`^delete\\s+${word}+\\s*(,|from\\s)`, 'i'),
  /^merge\s+into\s+\S+[\s\S]*\busing\b/i,
  new RegExp(
    `^(create|alter|drop|truncate|rename)\\s+((or replace|temporary|temp|global|local|unique|fulltext|unlogged|virtual|definer\\s*=\\s*\\S+)\\s+)*${object}\\b(?!\\s*[:;.]|$)\\s+\\S`,
    'i',
  ),
  /^truncate\s+\S+$/i,
  /^set\s+(session|global|local|persist)\s+\S/i,
  /^set\s+(transaction|names|constraints|role)\s+\S/i,
  /^set\s+[@\w.]+\s*(=|:=|\bto\b)\s*\S/i,
  /^pragma\s+\w+/i,
  /^(lock|unlock)\s+tables?\b/i,
  /^(show|explain|desc|describe|check table|analyze|optimize table|flush|call|prepare|execute|deallocate|admin|split table|vacuum|reset|do|handler)\s+\S/i,
  /^\/\*!/,
];

const kept = /^(explain|analyze|check table|call|prepare|execute|deallocate|vacuum|reset|do|handler)\b/i;
const dropped =
  /^(show|desc|describe|flush|admin|split|optimize|(create|drop|alter)\s+(database|schema|user|role)\b|show)/i;

/** Whether a statement taken from prose is one, and is worth sending. */
export function isStatement(sql: string): boolean {
  if (!shapes.some((shape) => shape.test(sql))) return false;
  return kept.test(sql) || !dropped.test(sql);
}

/** Whether a line can begin a statement. */
export function startsStatement(line: string): boolean {
  return /^\(*\s*(begin|commit|rollback|end|abort|start|savepoint|release|xa|select|with|insert|replace|update|delete|merge|create|alter|drop|truncate|rename|set|pragma|lock|unlock|show|explain|desc|describe|check|analyze|optimize|flush|call|prepare|execute|deallocate|admin|split|vacuum|reset|do|handler|use|grant|revoke|comment|attach|detach|copy|load|install|import|export|listen|notify|discard|declare|fetch|close|kill|refresh|checkpoint|vacuum|exec|\/\*!)(?![\w:])/i.test(
    line,
  );
}

/** Transaction control that needs no semicolon to be seen as complete. */
export function isWholeLine(sql: string): boolean {
  return shapes.slice(0, 4).some((shape) => shape.test(sql));
}

/** Whether what stands where a statement should is a sentence. */
export function isProse(sql: string): boolean {
  return !startsStatement(sql) && /^\W*([\w'",().-]+\s+){4,}/.test(sql) && !/[=*<>]/.test(sql);
}

/** Words that head the parts of a report, with a colon, and name no session. */
export function isProseLabel(word: string): boolean {
  return /^(descriptions?|expect(ed|ation)?|actual|results?|outputs?|notes?|errors?|warnings?|pq|quer(y|ies)|steps?|examples?|cases?|summary|prepare|preparation|setup|init|version|environment|problem|instead|however|schema|tables?|data|analysis|hint|detail|test\w*|reproduce|repeat|fix|cause|log|http|https|statement|sql)$/i.test(
    word,
  );
}

/** Whether a line must be the start of another statement, given what is collected of the one before. */
export function startsAnother(collected: string, line: string): boolean {
  const pending = collected.trim();
  if (!startsStatement(line)) return false;
  const control = /^(begin|commit|rollback|start transaction)\b/i.test(line);
  if (/^(with|explain|prepare)\b/i.test(pending)) return control && isStatement(pending);
  const fresh = /^(create|drop|alter|begin|commit|rollback|start|savepoint|insert)\b/i.test(line);
  // The body of a procedure or trigger, or the query of a CREATE TABLE … AS, may begin like a statement.
  if (/^create\b/i.test(pending)) return fresh && /^create\s+(temporary\s+)?table\b/i.test(pending);
  if (fresh) return true;
  const unfinished = /(\b(for|key|as|union|all|except|intersect|in|exists|into|set|from|on|and|or)|[,(=])$/i;
  return isStatement(pending) && !unfinished.test(pending);
}
