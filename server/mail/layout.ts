// The layout of every email, as text and as HTML. Subject, greeting and foot are made only here (contract 9.230 to 9.233).
// Mail programs know little CSS, and some remove <style>. So the look depends on inline styles, and <style> only adds dark mode.
// Nothing is loaded from anywhere.
import { escapeHtml } from '../basics/escape-html.ts';
import { decodeIfPossible } from '../basics/text.ts';
import type { Accent } from '../settings/accent.ts';
import type { Config } from '../settings/config.ts';
import type { Message } from './mailer.ts';

export type MailMessage = {
  /** The name of the service is added at the end. */
  subject: string;
  paragraphs: string[];
  /** Rows below the first paragraph, such as the time of a change. */
  facts?: [label: string, value: string][];
  /** `isQuiet` means an outlined button, because most readers need not press it. */
  action?: { label: string; url: string; isQuiet?: true };
  after?: string[];
  /** An outlined button for readers who did not make the change, with at most three lines on what it does. */
  denial?: { url: string; lines: string[] };
  /** Why the reader gets the email, unless the reason is that they have an account. */
  why?: string;
};

export type MailStyle = {
  name: string;
  accent: Accent;
  baseUrl: string;
  /** A URL with `mailto:` or `https:`. */
  supportUrl: string | undefined;
};

export const styleOf = ({ name, brand, baseUrl, supportUrl }: Config): MailStyle => ({
  ...{ name, baseUrl, supportUrl },
  accent: brand.accent,
});

/** `greeted` must come from `findReaders`, because strangers may have typed any other name. */
export function layOut(
  message: MailMessage,
  style: MailStyle,
  greeted?: string | null,
): Pick<Message, 'subject' | 'text' | 'html'> {
  const whole: Whole = {
    ...message,
    fullSubject: `${message.subject} – ${style.name}`,
    greeting: greeted ? `Hello ${greeted},` : 'Hello,',
    why: message.why ?? `You received this email because you have an account with ${style.name}.`,
    foot: [
      { words: `Sent by ${style.name}:`, url: style.baseUrl },
      ...(style.supportUrl ? [{ words: 'Support:', url: style.supportUrl }] : []),
    ],
  };
  return { subject: whole.fullSubject, text: buildText(whole), html: buildHtml(whole, style) };
}

type Whole = MailMessage & {
  fullSubject: string;
  greeting: string;
  why: string;
  foot: { words: string; url: string }[];
};

const denialLabel = 'This wasn’t me';

/** Writes a URL as people do: for a `mailto:` link, only the mailbox. */
const spell = (url: string) =>
  /^mailto:/i.test(url) ? decodeIfPossible(url.slice('mailto:'.length).replace(/\?.*$/s, '')) : url;

function buildText(message: Whole): string {
  const { greeting, paragraphs, facts = [], action, after = [], denial, why, foot } = message;
  const [first = '', ...others] = paragraphs;
  const parts = [
    greeting,
    first,
    facts.map(([label, value]) => `${label}: ${value}`).join('\n'),
    ...others,
    // The link has a line of its own, so that every mail program finds its end.
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...after,
    ...(denial ? [`${denialLabel}:\n${denial.url}`, denial.lines.map((line) => `- ${line}`).join('\n')] : []),
    why,
    foot.map(({ words, url }) => `${words} ${spell(url)}`).join('\n'),
  ];
  return `${parts.filter(Boolean).join('\n\n')}\n`;
}

const font = "font-family:-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";
const soft = 'color:#566069;font-size:14px';

function buildHtml(message: Whole, { name, accent }: MailStyle): string {
  const { fullSubject, subject, greeting, paragraphs, facts = [], why, foot } = message;
  const { action, after = [], denial } = message;
  const [first = '', ...others] = paragraphs;
  const link = (url: string) =>
    `<p class="soft" style="margin:0 0 16px;${soft};overflow-wrap:anywhere">Or open this link: <a class="link" href="${escapeHtml(url)}" style="color:${accent.onLight.text}">${escapeHtml(url)}</a></p>`;
  const button = ({ label, url, isQuiet }: NonNullable<MailMessage['action']>) => {
    const [kind, look] = isQuiet
      ? ['outline', `padding:10px 18px;border:2px solid ${accent.onLight.text};color:${accent.onLight.text}`]
      : [
          'button',
          `padding:11px 19px;border:1px solid ${accent.onLight.edge};background:${accent.onLight.fill};color:${accent.ink}`,
        ];
    return `<p style="margin:24px 0 16px"><a class="${kind}" href="${escapeHtml(url)}" style="display:inline-block;border-radius:8px;font-weight:600;text-decoration:none;${look}">${escapeHtml(label)}</a></p>`;
  };
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(fullSubject)}</title>
<style>
:root { color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  .ground { background: #14171a !important; }
  .card { background: #1c2024 !important; border-color: #343a40 !important; }
  .ink { color: #e6e9eb !important; }
  .soft { color: #a4adb5 !important; }
  .button { background: ${accent.onDark.fill} !important; border-color: ${accent.onDark.edge} !important; }
  .link { color: ${accent.onDark.text} !important; }
  .outline { color: ${accent.onDark.text} !important; border-color: ${accent.onDark.text} !important; }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background:#f6f7f6">
<table role="presentation" class="ground" width="100%" cellpadding="0" cellspacing="0" style="background:#f6f7f6">
<tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;text-align:left;${font};font-size:16px;line-height:1.5">
<tr><td class="ink" style="padding:0 4px 16px;color:#1d2429;font-weight:600;overflow-wrap:anywhere">${escapeHtml(name)}</td></tr>
<tr><td class="card ink" style="padding:24px 24px 8px;border:1px solid #dde1e0;border-radius:10px;background:#ffffff;color:#1d2429;overflow-wrap:anywhere">
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.25">${escapeHtml(subject)}</h1>
${paragraph(greeting)}
${paragraph(first)}
${facts.length > 0 ? listFacts(facts) : ''}
${others.map(paragraph).join('\n')}
${action ? button(action) + link(action.url) : ''}
${after.map(paragraph).join('\n')}
${denial ? button({ label: denialLabel, url: denial.url, isQuiet: true }) + listLines(denial.lines) + link(denial.url) : ''}
</td></tr>
<tr><td class="soft" style="padding:16px 4px 0;${soft};overflow-wrap:anywhere">${escapeHtml(why)}<br>
${foot.map(footLine).join('<br>\n')}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
}

const paragraph = (text: string) => `<p style="margin:0 0 16px">${escapeHtml(text)}</p>`;

const listLines = (lines: string[]) =>
  `<ul style="margin:0 0 16px;padding-left:20px">${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`;

const footLine = ({ words, url }: { words: string; url: string }) =>
  `${escapeHtml(words)} <a class="soft" href="${escapeHtml(url)}" style="${soft}">${escapeHtml(spell(url))}</a>`;

function listFacts(facts: [string, string][]): string {
  const rows = facts.map(
    ([label, value]) =>
      `<tr><td class="soft" style="padding:2px 16px 2px 0;${soft};vertical-align:baseline;white-space:nowrap">${escapeHtml(label)}</td><td style="padding:2px 0;vertical-align:baseline;overflow-wrap:anywhere">${escapeHtml(value)}</td></tr>`,
  );
  return `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 16px">${rows.join('')}</table>`;
}
