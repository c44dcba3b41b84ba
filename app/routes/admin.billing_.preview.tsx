import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Figures, sayRate } from '../components/staff/billing-reports.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { blockedWords } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta = titled('What will be invoiced');

const months = 24;

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => {
    const { transport } = args.context;
    const query = transport.readQuery(args.request);
    const signup = query.get('signup') ?? '';
    if (!/^[A-Za-z0-9_.:-]{1,128}$/.test(signup)) transport.notFound();
    return { signup, ...(await procedures.booksForms.preview({ signup, months })) };
  });

const dayOf = (text: string) => new Date(`${text}T00:00:00Z`);

export default function Preview() {
  const { who, signup, preview } = useLoaderData<typeof loader>();
  const { documents, held } = preview ?? { documents: [], held: null };
  return (
    <StaffPage
      title="What will be invoiced"
      intro="What has begun and is not invoiced, and what begins within 24 months: as if all is paid when due, and nothing changes."
      who={who}
      current="/admin/billing"
    >
      <Section id="documents" title={`Contract ${signup}`}>
        {documents.length > 0 && (
          <Figures heads={['Invoice of', 'Period', 'Total']}>
            <tbody>
              {documents.map(({ currency, minorDigits, category, rate, total, ...days }) => (
                <tr key={`${days.period_first_day} ${days.period_last_day} ${currency}`}>
                  <th scope="row">
                    <Day at={dayOf(days.issued_on)} />
                  </th>
                  <td>
                    <Day at={dayOf(days.period_first_day)} /> to <Day at={dayOf(days.period_last_day)} />
                  </td>
                  <td>
                    <Money {...{ currency, minorDigits, unitAmount: total }} />
                    <span className="hint">{sayRate(category, rate)}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </Figures>
        )}
        {held && (
          <p>
            Nothing {documents.length > 0 && 'more '}can be invoiced. {blockedWords[held] ?? held}
          </p>
        )}
        {!preview && <p>There is no seller yet. Set one in the settings first.</p>}
        {preview && !held && documents.length === 0 && <p className="hint">Nothing is to come.</p>}
      </Section>
    </StaffPage>
  );
}
