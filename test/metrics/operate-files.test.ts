// The dashboard and the alerts, checked without Prometheus. test/cluster/metrics.test.ts checks them with Prometheus.
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { readQueries, scrape } from '../support/app/metrics.ts';
import { readAnchors, readOurFile } from '../support/project/documents.ts';

const alerts = readOurFile('docs/operate/files/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1)
  .map((text) => ({ name: /^\w+/.exec(text)?.[0] ?? '', text }));

it('each alert has a severity, a summary, and a section that says what to do', () => {
  expect(alerts.length).toBeGreaterThan(15);
  const anchors = readAnchors(readOurFile('docs/operate/troubleshoot.md'));
  for (const { name, text } of alerts) {
    expect(text, name).toMatch(/^ +labels: \{ severity: (critical|warning) \}$/m);
    expect(text, name).toMatch(/^ +summary: \S/m);
    const page = `{{ $externalLabels.docs_url }}/operate/troubleshoot.md#${name.toLowerCase()}`;
    expect(text, name).toContain(`runbook_url: "${page}"\n`);
    expect(anchors, name).toContain(name.toLowerCase());
  }
});

it('the label that the links of alerts begin with is set', () => {
  expect(readOurFile('docs/operate/files/prometheus.yml')).toMatch(
    /^ {2}external_labels:\n {4}docs_url: https:\S+\/docs$/m,
  );
});

it('each section about an alert has its alert, with the same severity', () => {
  const [, section = ''] =
    /\n## Alerts: [^\n]*\n([\s\S]*?)(?:\n## |$(?![\s\S]))/.exec(
      readOurFile('docs/operate/troubleshoot.md'),
    ) ?? [];
  const told = [...section.matchAll(/^### (\w+)\n\n(\*Critical\.\*)?/gm)].map(([, name, critical]) => [
    name,
    critical ? 'critical' : 'warning',
  ]);
  const set = alerts.map(({ name, text }) => [name, /severity: (\w+)/.exec(text)?.[1]]);
  expect(told).toEqual(set);
});

it('the dashboard and the alerts name only metrics that there are', async () => {
  const app = await openApp();
  await app.send('/healthz');
  const { text } = await scrape(app);
  await app.close();
  // The service has this metric only if METRICS_PORT is set.
  const later = 'identity_event_loop_lag_seconds';
  const known = [later, ...[...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)];
  const queries = [
    ...readQueries(readOurFile('docs/operate/files/grafana-dashboard.json')),
    ...alerts.map(({ text }) => text),
  ];
  const named = queries.flatMap((query) => query.match(/\b(?:identity|process)_[a-z_]+/g) ?? []);
  expect(named.length).toBeGreaterThan(60);
  for (const name of named) expect(known).toContain(name.replace(/_(bucket|count)$/, ''));
});
