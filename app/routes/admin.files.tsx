import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import type { ReactNode } from 'react';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Refusal } from '../components/staff/acts.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { answerForm, requireNoAsks, text } from '../forms.ts';
import { isShownToStaff } from '../refused.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Files');

const path = '/admin/files';

type Asked = { file: string; from: string; to: string };

const queryOf = (asked: Asked) =>
  new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ''));

function pathOfFile({ file, ...span }: Asked): string {
  const query = queryOf({ file: '', ...span });
  return query.size > 0 ? `${path}/${file}?${query}` : `${path}/${file}`;
}

export async function loader(args: LoaderFunctionArgs) {
  const { transport, site } = args.context;
  const query = transport.readQuery(args.request);
  const days = { from: query.get('from') ?? '', to: query.get('to') ?? '' };
  const file = query.get('file') ?? '';
  // Without this check, a link on another site could start a download, even if people had to log in on the way.
  const isStarting =
    query.get('saved') === 'download' && transport.comesFrom(args.request, site.baseUrl + path);
  const loaded = await loadForStaff(args, async (procedures) => {
    const list = await procedures.admin.files.list();
    const isKnown = [...list.tables, ...list.books].some((name) => name === file);
    const asked = isKnown ? { file, ...days } : undefined;
    const asks = asked && !isStarting ? await procedures.confirm.find() : undefined;
    return { ...list, days, asked, asks };
  });
  const starts = isStarting && loaded.asked ? pathOfFile(loaded.asked) : undefined;
  return data({ ...loaded, starts }, { headers: starts ? { Refresh: `0; url=${starts}` } : {} });
}

export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: ['file', 'from', 'to'],
    shows: isShownToStaff,
    async act(form, procedures) {
      // Before the form is checked, redirects people who are not staff any more or must give a credential.
      await procedures.staffForms.who();
      const typed = { file: text(form, 'file'), from: text(form, 'from'), to: text(form, 'to') };
      const asked = { from: '', to: '', ...(await procedures.filesForms.read(typed)) };
      requireNoAsks(await procedures.confirm.ask({ form }));
      // If the answer were the download itself, the page that asked for a credential would stay open.
      const hasConfirmed = form.has('confirmPassword') || form.has('confirmPasskey');
      return hasConfirmed ? `${path}?saved=download&${queryOf(asked)}` : pathOfFile(asked);
    },
  });

/** The loader's `Refresh` header starts the download. */
export const headers = (made: { loaderHeaders: Headers; actionHeaders: Headers }) =>
  new Headers([...made.loaderHeaders, ...made.actionHeaders]);

const about: Record<string, string> = {
  'people.csv': 'Everybody, with account, role and state',
  'audit.csv': 'What happened, with who did it and why',
  'mails.csv': 'Emails, and whether they were sent',
  'clients.csv': 'The products, and how far they have read their events',
  'contracts.csv': 'Service contracts, as they are now',
  'invoices.csv': 'Invoices, as they are now',
  'documents.csv': 'Invoices and credit notes, with what was open on the last day',
  'lines.csv': 'What each of them charges, line by line',
  'tax.csv': 'The tax of each of them, by rate',
  'money.csv': 'Payments, refunds and what was paid back',
  'allocations.csv': 'Which payment paid which invoice',
  'oss.csv': 'Sales taxed in other EU countries, by quarter, country and rate',
  'ec_sales.csv': 'Sales under reverse charge in the EU, by month and VAT ID',
};

const spanWords = {
  last_month: 'Last month',
  last_quarter: 'Last quarter',
  this_year: 'This year',
  last_year: 'Last year',
};

export default function Files() {
  const { who, tables, books, left, today, spans, days, asked, asks, starts } =
    useLoaderData<typeof loader>();
  const refused = useRefused();
  const waits = refused?.asks ? refused.values : refused ? undefined : asked;
  const toConfirm = refused ? refused.asks : asks;
  if (waits && toConfirm)
    return <Confirm refused={{ values: waits }} asks={toConfirm} to={`Download ${waits.file}`} />;
  const values = refused?.values ?? asked;
  // The file that was chosen but not yet downloaded, for example because a login was needed first.
  const ready = !starts && !(refused && refused.status !== 200) ? values : undefined;
  // A link to this page may name a span of days. The page then fills in these days, and starts no download.
  const filled = refused?.values ?? days;
  const [from, to] = [filled.from || spans[0]?.from, filled.to || spans[0]?.to];
  const isAboutDays = refused?.errors.from !== undefined || refused?.errors.to !== undefined;
  return (
    <StaffPage
      title="Files"
      intro={`Tables and books as CSV, for a spreadsheet. You can download ${left} more within this hour. Who downloads what is in the audit.`}
      who={who}
      current={path}
    >
      {starts && (
        <Notice kind="success" focus>
          Your download has started. If it has not, <a href={starts}>download {asked?.file}</a>.
        </Notice>
      )}
      {refused && refused.status !== 200 && !isAboutDays && <Refusal refused={refused} />}
      {ready?.file && (
        <form method="post" action={path} className="card" data-download>
          <input type="hidden" name="file" value={ready.file} />
          <input type="hidden" name="from" value={ready.from ?? ''} />
          <input type="hidden" name="to" value={ready.to ?? ''} />
          <button type="submit">Download {ready.file}</button>
        </form>
      )}
      <Section
        id="books"
        title="Books"
        bare
        intro="For your accountant. All files of the same days count as one download."
      >
        <nav className="tabs" aria-label="Days of the books">
          <ul>
            {spans.map((span) => (
              <li key={span.name}>
                <a
                  href={`${path}?from=${span.from}&to=${span.to}#books`}
                  aria-current={span.from === from && span.to === to ? 'true' : undefined}
                >
                  {spanWords[span.name]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <FilesForm files={books}>
          <div className="filters">
            {(['from', 'to'] as const).map((name) => (
              <Field
                key={name}
                label={name === 'from' ? 'First day' : 'Last day'}
                name={name}
                type="date"
                required
                max={today}
                defaultValue={name === 'from' ? from : to}
                error={refused?.errors[name]}
              />
            ))}
          </div>
        </FilesForm>
      </Section>
      <Section id="tables" title="Tables" bare intro="Each as it is now.">
        <FilesForm files={tables} />
      </Section>
    </StaffPage>
  );
}

const FilesForm = ({ files, children }: { files: readonly string[]; children?: ReactNode }) => (
  <form method="post" action={path} className="card" data-download>
    {children}
    <Rows>
      {files.map((file) => (
        <Row
          key={file}
          title={file}
          about={about[file]}
          end={
            <button
              type="submit"
              className="secondary"
              name="file"
              value={file}
              aria-label={`Download ${file}`}
            >
              Download
            </button>
          }
        />
      ))}
    </Rows>
  </form>
);
