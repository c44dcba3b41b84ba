// Marks comments and strings in code, which is enough for readers to find their way.
import { escapeHtml } from '../../../server/basics/escape-html.ts';

const quoted = [/"(?:[^"\\]|\\.)*"/, /'(?:[^'\\]|\\.)*'/];
const slashes = [/\/\*[\s\S]*?\*\//, /\/\/.*/];
const template = /`(?:[^`\\]|\\.)*`/;
const hash = /(?<=^|\s)#.*/;

type Language = { comments: RegExp[]; strings: RegExp[] };

const js: Language = { comments: slashes, strings: [template, ...quoted] };
const python: Language = { comments: [hash], strings: [/"""[\s\S]*?"""/, ...quoted] };
const languages = new Map<string, Language>(
  Object.entries({
    js,
    mjs: js,
    ts: js,
    json: { comments: [], strings: quoted },
    php: { comments: [...slashes, hash], strings: quoted },
    py: python,
    python,
    sh: { comments: [hash], strings: quoted },
    sql: { comments: [/--.*/], strings: quoted },
  }),
);
const plain: Language = { comments: [], strings: [] };

export function highlight(code: string, language: string): string {
  const { comments, strings } = languages.get(language) ?? plain;
  const either = (patterns: RegExp[]) => patterns.map(({ source }) => source).join('|') || '(?!)';
  // If a comment and a string overlap, the one that starts first wins. So a quote in a comment opens no string.
  const token = new RegExp(`(?<comment>${either(comments)})|(?<string>${either(strings)})`, 'gm');
  let html = '';
  let at = 0;
  for (const { 0: found, index, groups } of code.matchAll(token)) {
    const kind = groups?.comment === undefined ? 'string' : 'comment';
    html += `${escapeHtml(code.slice(at, index))}<span class="${kind}">${escapeHtml(found)}</span>`;
    at = index + found.length;
  }
  return html + escapeHtml(code.slice(at));
}
