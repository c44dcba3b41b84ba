import { describe, expect, it } from 'vitest';
import { billingMails } from '../../server/mail/billing-words.ts';
import { isPlain } from '../../server/mail/greeting.ts';
import { layOut } from '../../server/mail/layout.ts';
import { letters } from '../../server/mail/letters.ts';
import { buildNotice } from '../../server/mail/notices.ts';
import { buildAccent } from '../../server/settings/accent.ts';
import { linkIn } from '../support/people/mail-server.ts';
import {
  baseUrl,
  messages,
  money,
  notice,
  style,
  supportUrl,
  words,
} from '../support/people/sample-mails.ts';

const decode = (html: string) =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const wordsOf = (html: string) =>
  decode(html.replace(/<(style|title)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ');

const linksOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => decode(href ?? ''));

describe.each(Object.entries(messages))('the mail %s', (_, message) => {
  const { subject, text, html } = layOut(message, style);

  it('has each button as a line of the text, and in the HTML as a button and as text', () => {
    const links = [message.action?.url, message.denial?.url].filter((url) => url !== undefined);
    for (const link of links) expect(linkIn({ text }, new URL(link).pathname).href).toBe(link);
    // Besides the links of its buttons, a mail has links only in its foot.
    expect(text.match(/https?:\S+/g)).toEqual([...links, baseUrl]);
    expect(linksOf(html)).toEqual([...links.flatMap((link) => [link, link]), baseUrl, supportUrl]);
  });

  it('ends with “This wasn’t me” and three lines if its reader may have done it (contract 9.370)', () => {
    const filled = html.match(/class="button"/g) ?? [];
    const quiet = html.match(/class="outline"/g) ?? [];
    const isQuiet = message.action?.isQuiet === true;
    expect(filled).toHaveLength(message.action && !isQuiet ? 1 : 0);
    expect(quiet).toHaveLength((message.denial ? 1 : 0) + (isQuiet ? 1 : 0));
    if (!message.denial) return;
    // If the reader may have done it, no button is filled, because they may have nothing to do (contract 9.371).
    expect(filled).toEqual([]);
    expect(message.denial.lines).toHaveLength(3);
    const [done = ''] = message.after ?? [];
    expect(done).toMatch(/^If .*you (?:are done|do not need to do anything)\.$/);
    const order = [message.paragraphs[0], done, 'This wasn’t me:', ...message.denial.lines];
    const places = order.map((part) => text.indexOf(part ?? ''));
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it('says times with the short name of their zone (contract 9.377)', () => {
    expect(text.replaceAll(/\d\d:\d\d UTC/g, '')).not.toMatch(/\d\d:\d\d/);
  });

  it('has the name of the service in its subject, after what it is about (contract 9.230)', () => {
    expect(subject).toBe(`${message.subject} – Château & <Söhne>`);
    expect(decode(html)).toContain(`<title>${subject}</title>`);
    expect(decode(/<h1 [^>]*>([^<]*)</.exec(html)?.[1] ?? '')).toBe(message.subject);
  });

  it('says the same in both parts, and whose it is (contract 9.124 and 9.230)', () => {
    const words = wordsOf(html);
    const said = [
      ...['Hello,', ...message.paragraphs, ...(message.after ?? [])],
      ...(message.denial?.lines ?? []),
    ];
    for (const sentence of said) expect(words).toContain(sentence);
    for (const sentence of said) expect(text).toContain(sentence);
    for (const [label, value] of message.facts ?? []) {
      expect(text).toContain(`${label}: ${value}\n`);
      expect(words).toContain(`${label} ${value}`);
    }
    const foot = [
      'You received this email because .*',
      '',
      `Sent by Château & <Söhne>: ${baseUrl}`,
      'Support: help\\+id@example.test',
    ];
    expect(text).toMatch(new RegExp(`\n\n${foot.join('\n')}\n$`));
    expect(words).toMatch(new RegExp(`${foot.filter(Boolean).join(' ')} $`));
  });

  it('loads nothing from anywhere, and has no script (contract 9.124)', () => {
    expect(html).not.toMatch(/<(img|script|link|iframe|object|form|base)\b|src=|url\(|@import|\son\w+=/i);
  });
});

it('names support only where the foot says how to reach it', () => {
  for (const kind of ['email_change_undone', 'factors_removed'] as const) {
    const say = (hasSupport: boolean) => {
      const message = buildNotice(kind, { ...notice, hasSupport });
      return layOut(message, { ...style, supportUrl: hasSupport ? supportUrl : undefined }).text;
    };
    expect(say(true)).toMatch(/contact support\..*Support: help\+id@example\.test\n$/s);
    expect(say(false)).not.toMatch(/contact support|Support:/);
    expect(say(false)).toMatch(new RegExp(`: ${baseUrl}\n$`));
  }
});

it('writes an address of support as it is', () => {
  const page = 'https://help.example.test/contact?from=id&page=1';
  const { text, html } = layOut(messages.welcome, { ...style, supportUrl: page });
  expect(text).toContain(`\nSupport: ${page}\n`);
  expect(linksOf(html)).toContain(page);
});

it('names the product that a link leads on to', () => {
  const kinds = ['set_password', 'prove_address', 'verify_email', 'sign_up', 'account_exists'] as const;
  for (const kind of kinds) {
    const say = (product?: string) => layOut(letters[kind].build({ ...words, product }), style).text;
    expect(say('Shop & Söhne')).toContain(' You will then go on to Shop & Söhne.');
    expect(say()).not.toContain('go on to');
  }
});

it('greets by the name that it is given', () => {
  const { text, html } = layOut(messages.set_password, style, 'Zoë O’Neil');
  expect(text.startsWith('Hello Zoë O’Neil,\n')).toBe(true);
  expect(wordsOf(html)).toContain('Hello Zoë O’Neil,');
});

it.each([
  ...[
    'Zoë',
    'Zoë O’Neil',
    "Zoë O'Neil",
    'Anne-Marie',
    'J. R. Smith',
    'St. John',
    'Ana María',
    '花 子',
    'नमिता',
  ],
])('%s can be a greeting', (name) => expect(isPlain(name)).toBe(true));

it.each([
  ...[
    'evil.example',
    'Click http://evil.example',
    'a@b.example',
    'Call 0900 123',
    '٠٩٠٠',
    'www. evil .example',
  ],
  ...['Zoë, your account', 'Zoë\nHello', 'Zoë: go', 'a/b', '<b>', 'Zoë!', '', ' Zoë', '🎁', 'z'.repeat(61)],
])('%j cannot', (name) => expect(isPlain(name)).toBe(false));

it('says first how to keep an account, and then on which day it is deleted (contract 9.374)', () => {
  for (const kind of ['deletion_requested', 'deletion_requested with a take-back link'] as const)
    expect(messages[kind].paragraphs[0]).toMatch(
      /^To keep your account, log in and choose “Keep your account”\. Otherwise we will delete it on 16 January 2026 at 03:04 UTC,/,
    );
});

it('gives one order after the second factor was removed (contract 9.374)', () => {
  const { text } = layOut(messages.factors_removed, style);
  expect(text.match(/set a new password/gi)).toEqual(['Set a new password']);
  expect(messages.factors_removed.action).toBeUndefined();
});

it('says which role and which right there was and is (contract 9.372 and 9.376)', () => {
  const say = (kind: keyof typeof messages) => layOut(messages[kind], style).text;
  expect(say('role_changed')).toContain('changed the role of your account from manager to customer.');
  expect(say('role_changed without facts')).toContain('changed the role of your account. ');
  expect(say('role_granted')).toContain('is now an administrator. Before, the role was customer.');
  expect(say('rights_decided')).toContain(
    'has given your account the right to sell products. It did not have this right before.',
  );
  expect(say('rights_decided of the verification')).toContain(
    'your account is no longer verified. It was verified before.',
  );
  const both = { ...notice, what: 'verification sell_services', to: 'yes no' };
  expect(layOut(buildNotice('rights_decided', both), style).text).toMatch(
    /has verified your account\. .* has taken from your account the right to sell services\. /,
  );
  expect(say('rights_decided without facts')).toContain('has decided what your account may do.');
});

it('says of a role or a right only words of ours', () => {
  const typed = { ...notice, was: 'constructor', role: 'evil.example', what: 'toString', to: 'evil.example' };
  for (const kind of ['role_changed', 'rights_decided', 'invoice_email_changed', 'role_granted'] as const)
    expect(layOut(buildNotice(kind, typed), style).text).not.toMatch(/evil|constructor|toString|function/);
});

it('names plan, company and products of what was ordered, and who asked (contract 9.373)', () => {
  for (const kind of ['welcome', 'contract_added'] as const) {
    const { text } = layOut(messages[kind], style);
    expect(text).toContain(
      'Someone ordered the plan Starter from Blumen & <Söhne> with this email address, or asked for a trial.',
    );
    expect(text).toContain('Plan: Starter\nCompany: Blumen & <Söhne>\nProducts: Flower CRM\n');
    expect(layOut(messages[`${kind} without facts`], style).text).toContain(
      'Someone ordered with this email address, or asked for a trial.',
    );
  }
});

it('has no button to our pages for an accounts department, not even without the PDF (contract 7.460)', () => {
  const kinds = [
    'invoice_issued to an accounts department',
    'invoice_issued to an accounts department, without its PDF',
    'trial_ends to an accounts department',
    'contract_cancel_asked to an accounts department',
    'contract_kept to an accounts department',
  ] as const;
  for (const kind of kinds) {
    const { text, html } = layOut(messages[kind], style);
    expect(text).not.toMatch(
      /Log in|password|Billing|You (?:canceled|kept)|not be made.*The invoice says how to pay/,
    );
    expect(html).not.toMatch(/class="(?:button|outline)"/);
  }
  expect(layOut(messages[kinds[1]], style).text).toContain(
    'Ask Blumen & <Söhne> for it: billing@example.test.',
  );
});

it('has bank account and reference in the text of a reminder (contract 7.461)', () => {
  const { text } = layOut(messages.invoice_reminder_1, style);
  expect(text).toContain(
    'Recipient: Blumen & <Söhne>\nIBAN: DE89 3704 0044 0532 0130 00\nBIC: COBADEFFXXX\nReference: INV-2026-0001\n',
  );
  const bare = billingMails.invoice_reminder_1({ ...money, bank: undefined });
  expect(layOut(bare, style).text).not.toMatch(/IBAN|Reference/);
});

it('escapes every text that it is given', () => {
  const bad = `"><img src=x onerror='alert(1)'>&amp;`;
  const message = {
    subject: bad,
    paragraphs: [bad, bad],
    facts: [[bad, bad]] as [string, string][],
    action: { label: bad, url: `https://id.example.test/?${bad}` },
    after: [bad],
    denial: { url: `https://id.example.test/?${bad}`, lines: [bad] },
    why: bad,
  };
  const { html } = layOut(message, { ...style, name: bad, baseUrl: bad, supportUrl: bad }, bad);
  expect(html).not.toContain('<img');
  expect(html.match(/&quot;&gt;&lt;img src=x onerror=&#39;alert\(1\)&#39;&gt;&amp;amp;/g)).toHaveLength(24);
});

it('a mail has buttons and links that can be read, whatever the accent colour (contract 8.88 and 8.89)', () => {
  const { ink, onLight, onDark } = buildAccent('#ffee00');
  const { html } = layOut(messages.welcome, { ...style, accent: buildAccent('#ffee00') });
  expect(html).toContain(`border:1px solid ${onLight.edge};background:#ffee00;color:${ink}"`);
  expect(html).toContain(
    `.button { background: ${onDark.fill} !important; border-color: ${onDark.edge} !important; }`,
  );
  expect(html.match(/class="link"[^>]*style="color:(#\w+)"/)?.[1]).toBe(onLight.text);
  expect(html).toContain(`.link { color: ${onDark.text} !important; }`);
});
