// Which procedures exist, who may call each of them, and which ones are for programs.
import { expect, it } from 'vitest';
import { appRouter, pagesRouter } from '../../server/doors/trpc/router.ts';
import { openApp } from '../support/app/app.ts';
import { rights } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const procedures = Object.entries(pagesRouter._def.procedures) as unknown as [
  string,
  { _def: { type: 'query' | 'mutation'; meta?: { access?: string } } },
][];

/** Procedures for programs. Each of them needs a credential that was given within the last ten minutes. */
const confirmed = ['billing.update', 'contracts.cancel', 'contracts.keep', 'email.requestChange'];

it('each says who may call it', () => {
  const found: Record<string, string[]> = {};
  for (const [name, { _def }] of procedures) {
    const access = _def.meta?.access ?? 'unsaid';
    found[access] = [...(found[access] ?? []), name].sort();
  }
  expect(found).toEqual({
    anonymous: [
      'deadLinks.explain',
      'forms.dropDone',
      'forms.find',
      'forms.keep',
      'billingPages.hasOverdue',
      'handOff.confirm',
      'handOff.describe',
      'invitation.find',
      'invitation.take',
      'invoiceEmail.confirm',
      'invoiceEmail.find',
      'keptMails.list',
      'login.byCode',
      'login.byPassword',
      'login.byPasskey',
      'login.keepTypedEmail',
      'login.lastEmail',
      'login.logoutTarget',
      'login.out',
      'login.pending',
      'login.typedEmail',
      'login.typedName',
      'newAddress.canStop',
      'newAddress.find',
      'newAddress.stop',
      'newAddress.use',
      'passwordMail.find',
      'passwordMail.request',
      'passwordMail.requestAgain',
      'passwordMail.use',
      'signUp.confirm',
      'signUp.find',
      'signUp.request',
      'signUp.requestAgain',
      'signUp.requireOpen',
      'takeBack.find',
      'takeBack.freeze',
      'takeBack.use',
      'visitor.find',
      'visitor.session',
    ].sort(),
    setting_up: [
      'authenticator.describe',
      'authenticator.findSetUp',
      'confirm.askWhileSettingUp',
      'confirm.find',
      'passkeys.describe',
      'passkeys.signals',
    ],
    setting_up_confirmed: [
      'authenticator.add',
      'authenticator.remove',
      'authenticator.renewCodes',
      'authenticator.startSetUp',
      'passkeys.add',
      'passkeys.remove',
      'passkeys.rename',
    ],
    confirmed: [
      'billing.update',
      'billingPages.keepInvoiceEmail',
      'billingPages.mailInvoiceEmail',
      'contracts.cancel',
      'contracts.keep',
      'deletion.request',
      'email.requestChange',
      'passkeys.addOffered',
    ],
    person: [
      ...Object.keys(appRouter._def.procedures).filter(
        (name) => !confirmed.includes(name) && !name.startsWith('admin.'),
      ),
      'address.describe',
      'billingPages.describe',
      'billingPages.findUndecided',
      'address.describeChange',
      'address.requireMeant',
      'confirm.ask',
      'confirm.askWithoutPassword',
      'deletion.cancel',
      'passkeys.declineOffers',
      'passkeys.describeOffer',
      'security.describe',
      'timeZones.describe',
    ].sort(),
    // The table of rights says which staff may call these procedures, and about whom.
    staff: [
      ...Object.keys(rights).map((name) => `admin.${name}`),
      'booksForms.acceptLines',
      'booksForms.document',
      'booksForms.mayImport',
      'booksForms.preview',
      'booksForms.readStatement',
      'booksForms.searched',
      'booksForms.waiting',
      'filesForms.read',
      'billingForms.setSettings',
      'billingForms.settings',
      'staffForms.act',
      'staffForms.audit',
      'staffForms.auditKinds',
      'staffForms.client',
      'staffForms.clients',
      'staffForms.findPeople',
      'staffForms.invitations',
      'staffForms.mailKinds',
      'staffForms.mails',
      'staffForms.outcome',
      'staffForms.person',
      'staffForms.who',
    ].sort(),
  });
});

const ofPages = procedures
  .filter(([name]) => !Object.hasOwn(appRouter._def.procedures, name))
  .map(([name, { _def }]) => [name, _def.type] as const);

it.each(ofPages)('%s is not at /trpc, not even for somebody who is logged in', async (name, type) => {
  const cookie = await app.login('customer@example.test');
  const answer = await app.send(
    `/trpc/${name}`,
    type === 'query' ? { cookie } : { cookie, json: { json: {} } },
  );
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('not_found')]);
});
