import { describe, expect, it } from 'vitest';
import { type Rendered, renderDocument, type Site } from '../../server/runtime/developers/render.ts';

const files = new Map([['clients/php/example.php', '<?php echo "1 < 2";\n']]);
const published = new Map([
  ['docs/contract.md', '/developers/contract'],
  ['test/sso-vectors.json', '/developers/sso-vectors.json'],
]);
const site: Site = {
  findPublished: (path) => published.get(path),
  findPicture: (path) => `/pictures/${path}`,
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
    expect(() => render('## A [link](contract.md)')).toThrow(
      'docs/x.md: the heading "A [link](contract.md)"',
    );
    expect(() => renderDocument('docs/x.md', 'Text.', site)).toThrow('docs/x.md has no title');
  });
});

describe('a link', () => {
  it.each([
    ['contract.md', '/developers/contract'],
    ['contract.md#3-the-payload', '/developers/contract#3-the-payload'],
    ['../test/sso-vectors.json', '/developers/sso-vectors.json'],
    ['#here', '#here'],
    ['https://example.com/?a=1&b=2', 'https://example.com/?a=1&amp;b=2'],
    ['mailto:help@example.com', 'mailto:help@example.com'],
  ])('to %s leads to %s', (link, target) => {
    expect(render(`To [it](${link}).`).html).toBe(`<p>To <a href="${target}">it</a>.</p>\n`);
  });

  it('from a kit finds the documents', () => {
    const { html } = render('See [it](../../docs/contract.md#x).', 'clients/php/README.md');
    expect(html).toBe('<p>See <a href="/developers/contract#x">it</a>.</p>\n');
  });

  it.each([
    'operate.md#settings',
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
      '<div class="code"><pre tabindex="0"><code>if (1 &lt; 2) &quot;&amp;&quot;;</code></pre></div>\n',
    );
  });

  it('comes from a file of ours where a paragraph is nothing but a link to it', () => {
    const link = '[example.php](../clients/php/example.php)';
    expect(render(link).html).toBe(
      '<div class="code"><p class="file">clients/php/example.php</p><pre tabindex="0"><code>&lt;?php echo &quot;1 &lt; 2&quot;;</code></pre></div>\n',
    );
    expect(render(`See ${link}.`).html).toBe('<p>See example.php.</p>\n');
    expect(() => render('[none.php](none.php)')).toThrow('there is no docs/none.php');
  });
});

it('a picture is one of ours, and a wide table can be scrolled by keyboard', () => {
  expect(render('![How "it" works](flow.svg)').html).toBe(
    '<p><img src="/pictures/docs/flow.svg" alt="How &quot;it&quot; works"></p>\n',
  );
  expect(render('| a | b |\n| --- | --- |\n| 1 | 2 |').html).toMatch(
    /^<div class="table" tabindex="0"><table>[\s\S]*<\/table>\s*<\/div>\n$/,
  );
});

it.each(['<b>bold</b>', 'Text <b>bold</b>.', '<script>1</script>', '<!-- note -->'])(
  'refuses HTML: %s',
  (text) => {
    expect(() => render(text)).toThrow('docs/x.md has HTML in it');
  },
);
