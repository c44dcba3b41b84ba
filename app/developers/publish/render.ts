// Turns our documents into HTML. Documents that contain HTML are refused.
import { dirname, posix } from 'node:path';
import { Lexer, Parser, Renderer, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../../../server/basics/escape-html.ts';
import { highlight } from './highlight.ts';

export type Section = { id: string; title: string };

export type Rendered = {
  title: string;
  html: string;
  sections: Section[];
};

export type Site = {
  /** Returns the path at which this service publishes a file of the project. Undefined for a file that is not published. */
  findPublished: (path: string) => string | undefined;
  readText: (path: string) => string;
  /** Returns the URL of a picture. Undefined if there is no such picture. */
  findPicture: (path: string) => string | undefined;
  /** Returns whether `text` is a path of this service that everybody can open. */
  isOwnAddress: (text: string) => boolean;
};

export function renderDocument(file: string, text: string, site: Site): Rendered {
  const renderer = new DocumentRenderer(file, site);
  const html = Parser.parse(Lexer.lex(text), { renderer });
  if (renderer.title === '') throw new Error(`${file} has no title.`);
  return { title: renderer.title, html, sections: renderer.sections };
}

class DocumentRenderer extends Renderer {
  title = '';
  readonly sections: Section[] = [];
  /** A link must not contain another link. */
  #isInLink = false;
  readonly #anchors = new Map<string, number>();
  readonly #file: string;
  readonly #site: Site;

  constructor(file: string, site: Site) {
    super();
    this.#file = file;
    this.#site = site;
  }

  /** The page shows the title itself, so the title is left out here. Every other heading links to itself. */
  override heading({ tokens, depth, text }: Tokens.Heading): string {
    if (tokens.some(({ type }) => type === 'link'))
      throw new Error(`${this.#file}: the heading "${text}" has a link.`);
    const id = this.#nameAnchor(text);
    const title = text.replaceAll('`', '');
    if (depth === 1) {
      this.title = title;
      return '';
    }
    if (depth === 2) this.sections.push({ id, title });
    const words = this.#parseLinked(tokens);
    return `<h${depth} id="${id}"><a href="#${id}">${words}</a></h${depth}>\n`;
  }

  /** Names an anchor as GitHub does, so that a link works here and on GitHub. */
  #nameAnchor(heading: string): string {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = this.#anchors.get(anchor) ?? 0;
    this.#anchors.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  }

  /** If the target is not published, the text of the link is shown without a link. */
  override link({ href, tokens }: Tokens.Link): string {
    const words = this.#parseLinked(tokens);
    const target = this.#findTarget(href);
    return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`;
  }

  #parseLinked(tokens: Tokens.Generic[]): string {
    this.#isInLink = true;
    const words = this.parser.parseInline(tokens as Token[]);
    this.#isInLink = false;
    return words;
  }

  /** Code that is a public path of this service becomes a link to that path. */
  override codespan({ text }: Tokens.Codespan): string {
    const code = `<code>${escapeHtml(text)}</code>`;
    return this.#site.isOwnAddress(text) && !this.#isInLink
      ? `<a href="${escapeHtml(text)}">${code}</a>`
      : code;
  }

  #findTarget(href: string): string | undefined {
    if (/^(?:https?:|mailto:|#)/.test(href)) return href;
    const [path = '', anchor] = href.split('#');
    const published = this.#site.findPublished(this.#pathTo(path));
    return published && (anchor === undefined ? published : `${published}#${anchor}`);
  }

  #pathTo(link: string): string {
    return posix.join(posix.normalize(dirname(this.#file)), link);
  }

  /** A paragraph that is only a link to a source file shows that file. */
  override paragraph(token: Tokens.Paragraph): string {
    const [only, ...more] = token.tokens;
    if (only?.type === 'link' && more.length === 0 && /^[^:#]+\.(?:ts|js|mjs|php|py)$/.test(only.href)) {
      const path = this.#pathTo(only.href);
      return showCode(this.#site.readText(path), { name: path, language: path.replace(/^.*\./, '') });
    }
    return super.paragraph(token);
  }

  override code({ text, lang = 'text' }: Tokens.Code): string {
    return showCode(text, { language: lang, isCopied: lang !== 'text' });
  }

  /**
   * On a phone each row is a block, so each cell names its column. The roles tell screen readers that this is still a table.
   */
  override table({ header, rows }: Tokens.Table): string {
    const head = header.map(
      ({ tokens }) => `<th role="columnheader">${this.parser.parseInline(tokens)}</th>`,
    );
    const body = rows.map((row) => {
      const cells = row.map(({ tokens }, at) => {
        const label = escapeHtml(header[at]?.text.replaceAll('`', '') ?? '');
        return `<td role="cell" data-label="${label}">${this.parser.parseInline(tokens)}</td>`;
      });
      return `<tr role="row">${cells.join('')}</tr>\n`;
    });
    return (
      '<div class="document-table" tabindex="0"><table role="table">\n' +
      `<thead role="rowgroup"><tr role="row">${head.join('')}</tr></thead>\n` +
      `<tbody role="rowgroup">\n${body.join('')}</tbody></table></div>\n`
    );
  }

  /** A picture may have a second file for narrow screens, such as `flow-narrow.svg`. */
  override image({ href, text }: Tokens.Image): string {
    const path = this.#pathTo(href);
    const address = this.#site.findPicture(path);
    if (address === undefined) throw new Error(`${this.#file}: there is no ${path}.`);
    const narrow = this.#site.findPicture(path.replace(/(?=\.\w+$)/, '-narrow'));
    const picture = `<img src="${address}" alt="${escapeHtml(text)}">`;
    if (narrow === undefined) return picture;
    return `<picture><source media="(max-width: 40rem)" srcset="${narrow}">${picture}</picture>`;
  }

  override checkbox(): string {
    return '<span aria-hidden="true">☐</span> ';
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    throw new Error(`${this.#file} has HTML in it: ${text}`);
  }
}

type Showing = { language: string; name?: string; isCopied?: boolean };

/** app/developers/copy.js adds a button to code that readers may copy. */
function showCode(text: string, { language, name, isCopied = true }: Showing): string {
  const caption = name === undefined ? '' : `<p class="file">${escapeHtml(name)}</p>`;
  return `<div class="code${isCopied ? ' copied' : ''}">${caption}<pre tabindex="0"><code>${highlight(text.trimEnd(), language)}</code></pre></div>\n`;
}
