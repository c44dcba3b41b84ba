// Writes the report as the command line prints it: in words, or for programs.
import { describeClock } from './clock.ts';
import type { Report } from './examine.ts';
import { groups } from './findings.ts';
import type { Finding } from './notes.ts';
import type { Target } from './target.ts';

/** What the doctor prints before it begins, so that the reader knows what it will do. */
export function announce(
  { client, callbackUrl, loginUrl, eventsUrl, demoUnless }: Target,
  hasEvents = false,
): string {
  return (
    (demoUnless ? `${describeDemo(client, demoUnless)}\n\n` : '') +
    `This logs test people called "Identity doctor" in to ${client} many times, and sends it wrong hand-offs.\n` +
    `Nobody else is touched. Their e-mail addresses end in .invalid; ${hasEvents ? 'events say at the end that they are to be forgotten' : 'they stay there as local users'}.\n` +
    [
      `Callback      ${callbackUrl}`,
      `Login start   ${loginUrl}`,
      `Events        ${eventsUrl ?? 'not examined: no events URL is set'}`,
    ].join('\n')
  );
}

const describeDemo = (client: string, setting: string) =>
  `THE DEMO CLIENT, and not your ${client}: ${setting} is not set, so the identity service plays ${client} itself.`;

export function describeReport(report: Report): string {
  const { client, findings, unseen, requests, tookMs } = report;
  const sections = Object.entries(groups).map(([group, title]) => {
    const found = findings.filter((finding) => finding.group === group);
    return found.length > 0 ? `${title}\n${found.map(describeFinding).join('\n')}` : '';
  });
  const hidden = [
    ...unseen.map(({ id, why }) => `  ${id}: ${why}`),
    // The doctor cannot see this, because the network hides small differences in time.
    ...(report.verdict === 'not_examined' ? [] : ['  Whether it compares signatures in constant time.']),
    ...(report.hasEvents
      ? []
      : ['  What it does with an event, such as a log-out: without --events none is appended.']),
  ];
  return [
    `${client}: ${describeVerdict(report)}`,
    describeReason(report),
    describeSeen(report),
    ...sections,
    hidden.length > 0 ? `Could not see\n${hidden.join('\n')}` : '',
    report.demoUnless ? describeDemo(client, report.demoUnless) : '',
    `${requests} requests in ${(tookMs / 1_000).toFixed(1)} s`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

function describeVerdict({ verdict, findings, demoUnless }: Report): string {
  if (verdict === 'right' && demoUnless) return 'the demo client is right. Yours was not examined.';
  if (verdict === 'right') return 'right. Nothing wrong was found.';
  if (verdict === 'not_examined') return 'not examined.';
  if (verdict === 'not_sure') return 'not sure. Nothing wrong was found, but much could not be seen.';
  const count = findings.filter(({ group }) => group !== 'advice').length;
  return `wrong. ${count === 1 ? 'One thing was' : `${count} things were`} found.`;
}

function describeReason({ verdict, findings, reason }: Report): string {
  if (reason === undefined || verdict === 'not_sure') return reason ?? '';
  return `It could not be examined${findings.length > 0 ? ' any further' : ''}: ${reason}`;
}

function describeSeen({ secretCount, holdsSecrets, clockAheadSeconds }: Report): string {
  const [first] = holdsSecrets;
  const one = secretCount === 1 ? 'the secret' : first === 1 ? 'the first secret' : 'the second secret';
  return [
    first !== undefined &&
      `Secret   It holds ${holdsSecrets.length > 1 ? 'both secrets' : one} configured here.`,
    clockAheadSeconds !== undefined &&
      `Clock    ${Math.abs(clockAheadSeconds) < 2 ? 'right' : describeClock(clockAheadSeconds)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const describeFinding = ({ id, saw, remedy, launchId }: Finding) =>
  [`  ${id}${launchId ? ` · ${launchId}` : ''}`, `    ${saw}`, `    ${remedy}`].join('\n');

export const toJson = (report: Report) => ({
  client: report.client,
  issuer: report.issuer,
  callback_url: report.callbackUrl,
  login_url: report.loginUrl,
  events_url: report.eventsUrl ?? null,
  is_demo: report.demoUnless !== undefined,
  verdict: report.verdict,
  reason: report.reason ?? null,
  holds_secrets: report.holdsSecrets,
  clock_ahead_seconds: report.clockAheadSeconds ?? null,
  with_events: report.hasEvents,
  findings: report.findings.map(({ launchId, ...finding }) => ({ ...finding, launch_id: launchId ?? null })),
  unseen: report.unseen,
  requests: report.requests,
  took_ms: report.tookMs,
});
