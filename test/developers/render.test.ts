import { describe, expect, it } from 'vitest';
import { highlight } from '../../app/developers/publish/highlight.ts';
import { isOwnAddress } from '../../app/developers/publish/published.ts';
import { type Rendered, renderDocument, type Site } from '../../app/developers/publish/render.ts';

const files = new Map([['clients/php/example.php', '<?php echo "1 < 2";\n']]);
const published = new Map([
  ['docs/contract/README.md', '/developers/contract'],
  ['docs/contract/03-payload.md', '/developers/contract-3'],
  ['test/sso-vectors.json', '/developers/sso-vectors.json'],
]);
const pictures = ['docs/flow.svg', 'docs/flow-narrow.svg', 'docs/inside/rooms.svg'];
const site: Site = {
  findPublished: (path) => published.get(path),
  findPicture: (path) => (pictures.includes(path) ? `/pictures/${path}` : undefined),
  isOwnAddress: (text) => text === '/developers/api',
  readText(path) {
    const text = files.get(path);
    if (text === undefined) throw new Error(`there is no ${path}`);
    return text;
  },
};

const render = (text: string, file = 'docs/x.md'): Rendered =>
  renderDocument(file, `# Title\n\n${text}`, site);

describe('a heading', () => {
  it('of the first level is the title, and not in the text', () => {
    expect(render('Text.')).toEqual({ title: 'Title', html: '<p>Text.</p>\n', sections: [] });
  });

  it('has the anchor that the forge gives it, and is a link to itself', () => {
    const { html, sections } = render(
      '## 4. `GET /sso/launch/{client}` (M: path)\n\n### Don’t\n\n## Don’t\n',
    );
    expect(html).toContain(
      '<h2 id="4-get-ssolaunchclient-m-path"><a href="#4-get-ssolaunchclient-m-path">4. <code>GET /sso/launch/{client}</code> (M: path)</a></h2>',
    );
    expect(html).toContain('<h3 id="dont">');
    expect(html).toContain('<h2 id="dont-1">');
    expect(sections).toEqual([
      { id: '4-get-ssolaunchclient-m-path', title: '4. GET /sso/launch/{client} (M: path)' },
      { id: 'dont-1', title: 'Don’t' },
    ]);
  });

  it('may not have a link in it, and a document needs a title', () => {
    expect(() => render('## A [link](contract/README.md)')).toThrow(
      'docs/x.md: the heading "A [link](contract/README.md)"',
    );
    expect(() => renderDocument('docs/x.md', 'Text.', site)).toThrow('docs/x.md has no title');
  });
});

describe('a link', () => {
  it.each([
    ['contract/README.md', '/developers/contract'],
    ['contract/03-payload.md#verification', '/developers/contract-3#verification'],
    ['../test/sso-vectors.json', '/developers/sso-vectors.json'],
    ['#here', '#here'],
    ['https://example.com/?a=1&b=2', 'https://example.com/?a=1&amp;b=2'],
    ['mailto:help@example.com', 'mailto:help@example.com'],
  ])('to %s leads to %s', (link, target) => {
    expect(render(`To [it](${link}).`).html).toBe(`<p>To <a href="${target}">it</a>.</p>\n`);
  });

  it('from a kit finds the documents', () => {
    const { html } = render('See [it](../../docs/contract/README.md#x).', 'clients/php/README.md');
    expect(html).toBe('<p>See <a href="/developers/contract#x">it</a>.</p>\n');
  });

  it.each([
    'operate/settings.md',
    '../server/main.ts',
    'src/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example',
  ])('to %s, which is not published, is left as its words', (link) => {
    expect(render(`To [it](${link}).`).html).toBe('<p>To it.</p>\n');
  });
});

describe('code', () => {
  it('is shown as it is', () => {
    const { html } = render('```js\nif (1 < 2) "&";\n```');
    expect(html).toBe(
      '<div class="code copied"><pre tabindex="0"><code>if (1 &lt; 2) <span class="string">&quot;&amp;&quot;</span>;</code></pre></div>\n',
    );
  });

  it('is not to be copied where it is text', () => {
    expect(render('```text\nCode: expired\n```').html).toContain('<div class="code"><pre');
  });

  it('comes from a file of ours where a paragraph is nothing but a link to it', () => {
    const link = '[example.php](../clients/php/example.php)';
    expect(render(link).html).toBe(
      '<div class="code copied"><p class="file">clients/php/example.php</p><pre tabindex="0"><code>&lt;?php echo <span class="string">&quot;1 &lt; 2&quot;</span>;</code></pre></div>\n',
    );
    expect(render(`See ${link}.`).html).toBe('<p>See example.php.</p>\n');
    expect(() => render('[none.php](none.php)')).toThrow('there is no docs/none.php');
  });
});

describe('in code', () => {
  /** Puts `C()` around what is marked as a comment, and `S()` around a string. */
  const mark = (code: string, language: string) =>
    highlight(code, language)
      .replaceAll(
        /<span class="(c|s)\w+">([\s\S]*?)<\/span>/g,
        (_, kind, text) => `${kind.toUpperCase()}(${text})`,
      )
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'");

  it.each([
    ['js', `a("//x", 'b'); // "c"`, `a(S("//x"), S('b')); C(// "c")`],
    ['ts', "/** it's\n a */ `x'y` / 2", "C(/** it's\n a */) S(`x'y`) / 2"],
    ['php', String.raw`f('it\\'); # g`, String.raw`f(S('it\\')); C(# g)`],
    ['python', '"""a # b"""\nc = "#" # d', 'S("""a # b""")\nc = S("#") C(# d)'],
    ['sh', 'curl http://a/#b "c" # d', 'curl http://a/#b S("c") C(# d)'],
    ['sql', "select 'a' -- b", "select S('a') C(-- b)"],
    ['json', '{ "a": 1 }', '{ S("a"): 1 }'],
    ['text', `it's "a" // b`, `it's "a" // b`],
    ['constructor', '"a"', '"a"'],
  ])('comments and strings are marked: %s', (language, code, marked) => {
    expect(mark(code, language)).toBe(marked);
  });

  it('nothing is lost or made HTML', () => {
    const code = "<b>'&' // <i>\"</i>\n`</b>";
    const plain = highlight(code, 'js').replaceAll(/<\/?span[^>]*>/g, '');
    expect(plain).toBe(highlight(code, 'text'));
    expect(plain).not.toContain('<');
  });
});

describe('an address of the service', () => {
  it('is a link, but within one', () => {
    expect(render('Open `/developers/api`.').html).toBe(
      '<p>Open <a href="/developers/api"><code>/developers/api</code></a>.</p>\n',
    );
    expect(render('[The `/developers/api`](contract/README.md)').html).toBe(
      '<p><a href="/developers/contract">The <code>/developers/api</code></a></p>\n',
    );
    expect(render('## `/developers/api`').html.match(/<a /g)).toHaveLength(1);
    expect(render('[It](contract/README.md), `/developers/api`').html.match(/<a /g)).toHaveLength(2);
  });

  it('is nothing else', () => {
    for (const code of ['/developers/api?', '/login', 'GET /developers/api'])
      expect(render(`Open \`${code}\`.`).html).toBe(`<p>Open <code>${code}</code>.</p>\n`);
    expect(isOwnAddress('/openapi.json')).toBe(true);
    expect(isOwnAddress('/developers/sso-vectors.json')).toBe(true);
    expect(isOwnAddress('/developers/operate')).toBe(false);
    expect(isOwnAddress('/login')).toBe(false);
  });
});

describe('a picture', () => {
  it('is one of ours', () => {
    expect(render('![How "it" works](inside/rooms.svg)').html).toBe(
      '<p><img src="/pictures/docs/inside/rooms.svg" alt="How &quot;it&quot; works"></p>\n',
    );
    expect(() => render('![It](none.svg)')).toThrow('docs/x.md: there is no docs/none.svg');
  });

  it('is another one on narrow screens, where there is one', () => {
    expect(render('![It](flow.svg)').html).toBe(
      '<p><picture><source media="(max-width: 40rem)" srcset="/pictures/docs/flow-narrow.svg"><img src="/pictures/docs/flow.svg" alt="It"></picture></p>\n',
    );
  });
});

it('a table can be scrolled by keyboard, and each of its cells says what it is', () => {
  expect(render('| a | `b` < "c" |\n| --- | --- |\n| 1 | `2` |').html).toBe(
    '<div class="document-table" tabindex="0"><table role="table">\n' +
      '<thead role="rowgroup"><tr role="row"><th role="columnheader">a</th>' +
      '<th role="columnheader"><code>b</code> &lt; &quot;c&quot;</th></tr></thead>\n' +
      '<tbody role="rowgroup">\n<tr role="row"><td role="cell" data-label="a">1</td>' +
      '<td role="cell" data-label="b &lt; &quot;c&quot;"><code>2</code></td></tr>\n</tbody></table></div>\n',
  );
});

it.each(['<b>bold</b>', 'Text <b>bold</b>.', '<script>1</script>', '<!-- note -->'])(
  'refuses HTML: %s',
  (text) => {
    expect(() => render(text)).toThrow('docs/x.md has HTML in it');
  },
);
