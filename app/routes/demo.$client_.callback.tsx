import { data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DemoPage, demoLinks } from '../components/demo/demo-page.tsx';
import { Notice } from '../components/notice.tsx';
import { ServiceName } from '../components/service-name.ts';

export const meta = () => [{ title: 'Demo client' }];

export const links = demoLinks;

/** Verifies the hand-off and redirects to the client's page, or says why the hand-off was refused. */
export async function loader({ request, params, context }: LoaderFunctionArgs) {
  const { client, title, callbackSetting, clients } = context.demo.requireClient(params.client ?? '');
  const outcome = await clients.receive(client, request);
  if (outcome instanceof Response) throw outcome;
  const { code, reason, status, launchId } = outcome;
  const headers = {
    'Referrer-Policy': 'no-referrer',
    'Identity-Refusal': code,
    ...(launchId && { 'Identity-Launch': launchId }),
  };
  return data({ name: client.name, title, callbackSetting, code, reason, launchId }, { status, headers });
}

export const headers = ({ loaderHeaders }: { loaderHeaders: Headers }) => loaderHeaders;

export default function DemoCallback() {
  const { name, title, callbackSetting, code, reason, launchId } = useLoaderData<typeof loader>();
  return (
    <DemoPage client={name} title={title} heading="Hand-off refused">
      <Notice kind="error">
        This client refused the hand-off: <code>{code}</code> ({reason}).
      </Notice>
      {code === 'state_unknown' && (
        <p>
          Did the login start at another site? Then it came here because <code>{callbackSetting}</code> is not
          set, so this demo client stands in for <code>{name}</code>.
        </p>
      )}
      {launchId && (
        <p>
          The log has this launch as <code>{launchId}</code>.
        </p>
      )}
      <p>Nobody was logged in. If you were already logged in to this client, you still are.</p>
      <div className="actions">
        <a className="button" href={`/demo/${name}/login`}>
          Log in with <ServiceName />
        </a>
        <a href={`/demo/${name}`}>Back to the client</a>
      </div>
    </DemoPage>
  );
}
