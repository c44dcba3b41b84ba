// Except for the database driver, only the mail library speaks its own protocol over a socket.
import { expect, inject, it } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, startService } from '../support/app/process.ts';
import { buildSignup, signMessage } from '../support/crm/crm.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { linkIn, startMailServer } from '../support/people/mail-server.ts';

it('the service on Deno sends the welcome mail of a signup', async () => {
  const [database, mailServer] = [await cloneDatabase(inject('templateUrl')), await startMailServer()];
  const env = { DATABASE_URL: database.url, SMTP_URL: mailServer.url, MAIL_FROM: 'identity@example.test' };
  const port = await findFreePort();
  const service = await startService('deno', port, env);
  const signup = buildSignup('crm_deno', {
    user: { email: 'zoe@example.test', name: 'Zoë O’Neil' },
    account: { name: 'Zoë’s Flowers' },
  });
  const body = JSON.stringify(signup);
  const answer = await fetch(`http://localhost:${port}/integrations/crm/signups`, {
    method: 'POST',
    body,
    headers: signMessage(readConfig({}).crmSignupsSecrets?.[0] ?? '', body),
  });
  expect(answer.status).toBe(201);

  const [mail] = await mailServer.waitFor('zoe@example.test');
  const link = linkIn(mail ?? {}, '/set-password');
  expect(link.origin).toBe(`http://localhost:${port}`);
  expect(link.searchParams.get('token')).toMatch(/^[\w-]{43}$/);

  service.child.kill('SIGTERM');
  expect(await service.exited, service.output()).toBe(0);
  await mailServer.close();
  await database.drop();
});
