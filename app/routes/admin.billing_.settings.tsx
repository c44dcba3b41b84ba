import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { isSecret } from '../act-forms.ts';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Refusal } from '../components/staff/acts.tsx';
import { SettingsForm } from '../components/staff/settings-form.tsx';
import { PendingSettings, SettingsVersions } from '../components/staff/settings-versions.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { actConfirmed, answerForm, refuseForm, text } from '../forms.ts';
import { isShownToStaff, pagePath } from '../refused.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Billing settings');

export async function loader(args: LoaderFunctionArgs) {
  const query = args.context.transport.readQuery(args.request);
  const loaded = await loadForStaff(args, (procedures) => procedures.billingForms.settings());
  return { ...loaded, saved: query.get('saved') };
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: (name) => !isSecret(name),
    isLarge: true,
    shows: isShownToStaff,
    async act(form, procedures) {
      // Before the form is checked, redirects people who are not staff any more or must give a credential.
      await procedures.staffForms.who();
      const intent = text(form, 'intent');
      if (addedBy(intent)) throw refuseForm('more_rows');
      if (intent !== 'set' && intent !== 'stop')
        throw args.context.transport.invalidParameter('intent', 'It must be an action of this page.');
      const asked = { why: text(form, 'why'), seen: text(form, 'seen') };
      const fields = Object.fromEntries([...form].filter(([name]) => !isSecret(name)));
      await actConfirmed(args, { procedures, form }, () =>
        intent === 'set'
          ? procedures.billingForms.setSettings({ ...asked, fields })
          : procedures.admin.billing.stopSettings(asked),
      );
      return `${pagePath(args.request)}?saved=${intent}`;
    },
  });

/** The name of the table to which a form adds a row. */
const addedBy = (intent: string | undefined) => /^add-(rules|plans)$/.exec(intent ?? '')?.[1];

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function BillingSettings() {
  const { who, inForce, pending, versions, people, fields, sections, memberNames, seen, saved } =
    useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) {
    const isStop = refused.values.intent === 'stop';
    return (
      <Confirm
        refused={refused}
        asks={refused.asks}
        to={isStop ? 'Stop the change' : 'Save the settings'}
        danger={isStop}
      />
    );
  }
  const isTyped = refused !== undefined && refused.values.intent !== 'stop';
  // A refused form keeps the version of the settings that it was made from. After `edited_meanwhile`, the form gets the newest
  // version, so that it can be sent again.
  const isOfNow = !isTyped || refused.code === 'edited_meanwhile';
  return (
    <StaffPage
      title="Billing settings"
      intro="Who sells, how invoices are numbered, what is taxed, and how customers pay."
      who={who}
      current="/admin/billing"
      part="/admin/billing/settings"
    >
      {!refused && <Saved saved={saved} isPending={pending !== null} />}
      {refused?.code === 'edited_meanwhile' ? (
        <Notice kind="error" focus>
          The settings have changed since you opened the page, so nothing was saved.
          {isTyped &&
            ' The form below holds what you typed. See at the end of the page what is new before you send it again.'}
        </Notice>
      ) : (
        <Refusal refused={refused} />
      )}
      {isTyped && refused.code === 'validation_failed' && (
        <Notice kind="error" focus>
          <p>Nothing was saved. Correct what is wrong, then save again:</p>
          <ul className="points">
            {Object.entries(refused.errors).map(([name, words]) => (
              <li key={name}>
                <a className="alone" href={`#${name}`}>
                  {words}
                </a>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {!inForce && (
        <Notice kind="info">
          There is no seller yet, so nothing is invoiced, and periods wait. The first settings count at once:
          all that waits is invoiced within a minute.
        </Notice>
      )}
      {inForce && pending && (
        <PendingSettings
          inForce={inForce}
          pending={pending}
          people={people}
          seen={seen}
          refused={isTyped ? undefined : refused}
        />
      )}
      {inForce && !refused && (
        <Section id="tax-now" title="Tax in force" intro="The country of the buyer decides.">
          <ul className="points">
            {inForce.tax.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Section>
      )}
      {inForce && (
        <p>
          <a href="/admin/billing/settings/sample.pdf">See a sample</a>: an invoice, a credit note and a
          reminder of {pending ? 'these settings, with what waits' : 'these settings'}. Nothing is stored, and
          no number is taken.
        </p>
      )}
      <SettingsForm
        sections={sections}
        values={isTyped ? refused.values : fields}
        errors={isTyped ? refused.errors : {}}
        seen={isOfNow ? seen : (refused.values.seen ?? '')}
        isFirst={!inForce}
        added={refused?.code === 'more_rows' ? addedBy(refused.values.intent) : undefined}
      />
      {versions.length > 0 && <SettingsVersions {...{ versions, people, memberNames }} />}
    </StaffPage>
  );
}

function Saved({ saved, isPending }: { saved: string | null; isPending: boolean }) {
  if (saved === 'stop')
    return (
      <Notice kind="success" focus>
        The change is stopped. The settings from before stay in force.
      </Notice>
    );
  if (saved !== 'set') return null;
  return (
    <Notice kind="success" focus>
      The settings are saved.{' '}
      {isPending ? 'What waits is below; everything else is in force now.' : 'They are in force now.'}
    </Notice>
  );
}
