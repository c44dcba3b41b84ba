// A document as a part of a page. What is in it is ours, and yet no HTML of its own passes.
import { dirname, posix } from 'node:path';
import { Lexer, Parser, Renderer, type Tokens } from 'marked';

export type Section = { id: string; title: string };

export type Rendered = {
  title: string;
  html: string;
  /** Its headings of the second level. */
  sections: Section[];
};

export type Site = {
  /** Where a file of ours is published, if it is. */
  findPublished: (path: string) => string | undefined;
  /** The text of a file of ours that a page shows. */
  readText: (path: string) => string;
  /** The address of a picture of ours. */
  findPicture: (path: string) => string;
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
  readonly #anchors = new Map<string, number>();
  readonly #file: string;
  readonly #site: Site;

  constructor(file: string, site: Site) {
    super();
    this.#file = file;
    this.#site = site;
  }

  /** The title is shown by the page. Each further heading is a link to itself. */
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
    const words = this.parser.parseInline(tokens);
    return `<h${depth} id="${id}"><a href="#${id}">${words}</a></h${depth}>\n`;
  }

  /** As the forge names it, so that one link works in both places. */
  #nameAnchor(heading: string): string {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = this.#anchors.get(anchor) ?? 0;
    this.#anchors.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  }

  /** A link to something that is not published is left as its words. */
  override link({ href, tokens }: Tokens.Link): string {
    const words = this.parser.parseInline(tokens);
    const target = this.#findTarget(href);
    return target === undefined ? words : `<a href="${escapeHtml(target)}">${words}</a>`;
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

  /** A paragraph that is nothing but a link to a source file shows that file. */
  override paragraph(token: Tokens.Paragraph): string {
    const [only, ...more] = token.tokens;
    if (only?.type === 'link' && more.length === 0 && /^[^:#]+\.(?:ts|js|mjs|php|py)$/.test(only.href)) {
      const path = this.#pathTo(only.href);
      return showCode(this.#site.readText(path), path);
    }
    return super.paragraph(token);
  }

  override code({ text }: Tokens.Code): string {
    return showCode(text);
  }

  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`;
  }

  override image({ href, text }: Tokens.Image): string {
    return `<img src="${this.#site.findPicture(this.#pathTo(href))}" alt="${escapeHtml(text)}">`;
  }

  override checkbox(): string {
    return '<span aria-hidden="true">☐</span> ';
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    throw new Error(`${this.#file} has HTML in it: ${text}`);
  }
}

/** It can be scrolled by keyboard, and a script adds a button to copy it (app/developers/copy.js). */
function showCode(text: string, name?: string): string {
  const caption = name === undefined ? '' : `<p class="file">${escapeHtml(name)}</p>`;
  return `<div class="code">${caption}<pre tabindex="0"><code>${escapeHtml(text.trimEnd())}</code></pre></div>\n`;
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string) => text.replaceAll(/[&<>"]/g, (character) => escapes[character] ?? '');
