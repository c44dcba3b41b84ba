// docs/operate/files/kubernetes.yaml against the schemas of Kubernetes, as the package kubernetes-models has them, and against our
// settings, image and times.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { production } from '../support/app/settings.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { readOurFile } from '../support/project/documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = 'docs/operate/files/kubernetes.yaml';

// biome-ignore lint/suspicious/noExplicitAny: what it holds is checked below, member by member.
type Manifest = any;

function readManifests(text: string): Record<string, Manifest> {
  const found = parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((each) => {
    if (each.errors[0]) throw each.errors[0];
    return each.toJS();
  });
  return Object.fromEntries(found.map((manifest) => [manifest.kind, manifest]));
}

const moduleOf = ({ apiVersion }: Manifest) => `kubernetes-models/${apiVersion}`;

/** Returns the faults that the schemas find in a manifest: members that are missing or of another form. */
async function findFaults(manifest: Manifest): Promise<string[]> {
  const models = await import(moduleOf(manifest));
  try {
    new models[manifest.kind](manifest).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * Returns the faults that the TypeScript types find. Unlike the schemas, the types also find unknown members, which an API
 * server refuses.
 */
function findUnknown(manifests: Manifest[]): string[] {
  const path = join(root, 'kubernetes-manifests.ts');
  const text = manifests
    .map(
      (manifest, at) => `import type { I${manifest.kind} as T${at} } from '${moduleOf(manifest)}';
        export const m${at}: T${at} = ${JSON.stringify(manifest)};`,
    )
    .join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (name, ...rest) =>
    name === path ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  const program = ts.createProgram([path], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

const manifests = readManifests(readOurFile(file));
const { ConfigMap, Deployment, Service, PodDisruptionBudget } = manifests;
const pod = Deployment.spec.template.spec;
const [container] = pod.containers;

describe('the manifests for Kubernetes', () => {
  it('are as its schemas say, and have no member that those do not know', async () => {
    expect(Object.keys(manifests)).toEqual(['ConfigMap', 'Deployment', 'Service', 'PodDisruptionBudget']);
    for (const [kind, manifest] of Object.entries(manifests))
      expect(await findFaults(manifest), kind).toEqual([]);
    expect(findUnknown(Object.values(manifests))).toEqual([]);
  });

  it.each([
    ['replicas: 2', 'replicas: two', /replicas/],
    ['readinessProbe:', 'readynessProbe:', /readynessProbe/],
    ['minAvailable: 1', 'minAvailable: [1]', /minAvailable/],
    ['whenUnsatisfiable: ScheduleAnyway', 'when: ScheduleAnyway', /whenUnsatisfiable/],
  ])('are refused with %j as %j', async (from, to, says) => {
    const text = readOurFile(file);
    expect(text).toContain(from);
    const changed = Object.values(readManifests(text.replace(from, to)));
    const faults = await Promise.all(changed.map(findFaults));
    expect([...faults.flat(), ...findUnknown(changed)].join('\n')).toMatch(says);
  });

  it('belong together', () => {
    const { labels } = Deployment.spec.template.metadata;
    for (const selector of [
      Deployment.spec.selector.matchLabels,
      PodDisruptionBudget.spec.selector.matchLabels,
      pod.topologySpreadConstraints[0].labelSelector.matchLabels,
      Service.spec.selector,
    ])
      expect(selector).toEqual(labels);
    expect(container.envFrom).toEqual([{ configMapRef: { name: ConfigMap.metadata.name } }]);
    const ports = Object.fromEntries(
      container.ports.map(({ name, containerPort }: Manifest) => [name, containerPort]),
    );
    expect(ports).toEqual({ http: 3000, metrics: Number(ConfigMap.data.METRICS_PORT) });
    expect(Service.spec.ports.map(({ targetPort }: Manifest) => targetPort)).toEqual(['http']);
    expect(container.volumeMounts[0].name).toBe(pod.volumes[0].name);
    const { version } = JSON.parse(readOurFile('package.json'));
    expect(container.image).toMatch(new RegExp(`:${version}$`));
    expect(Deployment.spec.replicas).toBeGreaterThan(PodDisruptionBudget.spec.minAvailable);
  });

  it('have settings that the service starts with, and each secret as a file that the documented command puts there', async () => {
    const folder = await makeFolder();
    const { mountPath } = container.volumeMounts[0];
    const command = readOurFile('docs/operate/kubernetes.md');
    const env: Record<string, string> = {};
    for (const [name, value] of Object.entries<string>(ConfigMap.data)) {
      expect(
        listSettings().includes(name.replace(/^SSO_MARKETPLACE_/, 'SSO_<NAME>_').replace(/_FILE$/, '')) ||
          listSettings().includes(name.replace(/_FILE$/, '')),
        name,
      ).toBe(true);
      expect(name).not.toMatch(/(?:_SECRET|_KEY|DATABASE_URL|SMTP_URL)$/);
      env[name] = value;
      if (!name.endsWith('_FILE')) continue;
      expect(dirname(value)).toBe(mountPath);
      expect(command).toContain(`--from-file=${value.slice(mountPath.length + 1)}`);
      env[name] = join(folder, value);
      await mkdir(dirname(env[name]), { recursive: true });
      await writeFile(env[name], `${production[name.replace(/_FILE$/, '')]}\n`);
    }
    expect(readConfig(env)).toMatchObject({ production: true, port: 3000, host: '0.0.0.0' });
    await rm(folder, { recursive: true });
  });

  it('ask /healthz whether it lives, /readyz whether it can serve, and give it time to stop', () => {
    const pathOf = (probe: Manifest) => [probe.httpGet.path, probe.httpGet.port];
    expect(pathOf(container.startupProbe)).toEqual(['/healthz', 'http']);
    expect(pathOf(container.livenessProbe)).toEqual(['/healthz', 'http']);
    expect(pathOf(container.readinessProbe)).toEqual(['/readyz', 'http']);
    // Contract 9.98 and 9.146.
    expect(container.readinessProbe.timeoutSeconds).toBeGreaterThan(3);
    const { shutdownDelaySeconds } = readConfig(production);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(shutdownDelaySeconds + 10);
  });

  it('let it write nothing, have no rights, and take as much memory as the unit for systemd does', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    // The pod's group can read the file.
    expect(pod.volumes[0].secret.defaultMode).toBe(0o440);
    expect(pod.securityContext.fsGroup).toBe(pod.securityContext.runAsGroup);
    const [, bound = ''] =
      /^MemoryMax=(\d+)M$/m.exec(readOurFile('docs/operate/files/identity@.service')) ?? [];
    expect(container.resources.limits).toEqual({ memory: `${bound}Mi` });
  });
});
