// The procedures for what staff do for other people (contract section 12).
import { z } from 'zod';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { type AnyAct, person } from '../../acts/act.ts';
import { searchAsStaff } from '../../acts/staff.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { instantSchema } from '../../basics/instant.ts';
import { textSchema } from '../../basics/text.ts';
import { readNewEmailAddress } from '../../identity/ground/email-address.ts';
import { listMailKinds } from '../../mail/kind-words.ts';
import { isOnPages, readReason, sayOutcome, withForms, withInvitationForms } from '../../staff/act-forms.ts';
import { acts, type Intent } from '../../staff/acts.ts';
import { listAudit, listAuditLines } from '../../staff/audit.ts';
import { getClient, listNewClientForms } from '../../staff/client-page.ts';
import { listClients } from '../../staff/clients.ts';
import { listKinds } from '../../staff/event-words.ts';
import { findNamed, findPeople, showHits } from '../../staff/find-people.ts';
import { peopleActs } from '../../staff/people-acts.ts';
import { wouldGet } from '../../staff/person.ts';
import { getPerson, listPersonForms } from '../../staff/person-page.ts';
import { verification } from '../../staff/rights-acts.ts';
import { askedOf, perform, proceduresOf, text } from './acts.ts';
import { adminBillingRouter } from './admin-billing.ts';
import { adminFilesRouter } from './admin-files.ts';
import { invitationsRouter, readInvitations } from './admin-invitations.ts';
import { adminInvoicesRouter } from './admin-invoices.ts';
import { clientsRouter, mailsOf, mailsRouter, readMails } from './admin-mails.ts';
import { adminOverviewRouter } from './admin-overview.ts';
import { allowed, mergeRouters, router, staff } from './init.ts';

const named = z.object({ id: text('id') });

const peopleRouter = router({
  /** Returns at most 50 people. `more` says whether there are more. */
  find: staff
    .input(
      z.object({
        q: text('q'),
        filters: z
          .object({ role: textSchema('role'), state: textSchema('state') })
          .partial()
          .default({}),
      }),
    )
    .query(async ({ ctx, input: { q, filters } }) => {
      const found = await searchAsStaff(ctx, 'people', () => findPeople(ctx.deps, { q, ...filters }));
      const people = showHits(ctx.session.user.role, found.people, filters);
      return { ...found, people };
    }),
  get: staff.input(named).query(({ ctx, input }) => getPerson(ctx.deps, ctx, input.id)),
  wouldGet: staff.input(named).query(({ ctx, input }) => wouldGet(ctx.deps, ctx, input.id)),

  ...proceduresOf('people', peopleActs),
  /** One procedure serves all decisions about a capability or the verification. */
  decide: staff
    .input(z.object({ ...askedOf(person), what: text('what'), decision: text('decision') }))
    .mutation(({ ctx, input: { what, decision, ...more } }) => {
      const [ofVerification, ofCapability] = decisions.get(decision) ?? [];
      const intent = (what === verification ? ofVerification : ofCapability) ?? 'undecide';
      // If the decision is unknown, the capability stays empty, and the act refuses an empty capability.
      const capability = decisions.has(decision) ? what : '';
      return perform(ctx, acts[intent], { ...more, capability });
    }),
});

const decisions = new Map<string, readonly [Intent, Intent]>([
  ['yes', ['verify', 'grant']],
  ['no', ['unverify', 'revoke']],
  ['undecided', ['undecide', 'undecide']],
]);

/** Accepts only characters that names of event types and clients can have. */
const word = (name: Parameters<typeof textSchema>[0]) =>
  textSchema(name).refine((text) => /^[\w.-]*$/.test(text));

const auditFilters = z
  .object({
    kind: word('kind'),
    person: z.uuid(),
    staff: z.uuid(),
    client: word('client'),
    before: z.union([z.uuid(), instantSchema]),
  })
  .partial();

const auditRouter = router({
  list: staff.input(auditFilters.default({})).query(({ ctx, input }) =>
    // A page of the audit names the people of 50 events. If it did not count as a search, staff could page through everybody.
    searchAsStaff(ctx, 'people', () => listAudit(ctx.deps, ctx, input)),
  ),
});

const billingRouter = mergeRouters(
  adminBillingRouter,
  adminInvoicesRouter,
  router({ ...proceduresOf('billing', acts) }),
);

export const adminRouter = router({
  overview: adminOverviewRouter,
  people: peopleRouter,
  audit: auditRouter,
  files: adminFilesRouter,
  billing: billingRouter,
  clients: clientsRouter,
  mails: mailsRouter,
  invitations: invitationsRouter,
});

export const staffFormsRouter = router({
  /** Returns the member of staff who asks. They can lack a second factor only in local mode. */
  who: staff.query(({ ctx: { session } }) => ({
    id: session.user.id,
    role: session.user.role,
    lacksFactor: !session.amr.includes('mfa'),
  })),

  /** Returns the answer of `admin.people.get`, and the forms of the page. */
  person: staff.input(named).query(async ({ ctx, input }) => {
    const person = await getPerson(ctx.deps, ctx, input.id);
    return { person, forms: listPersonForms(person) };
  }),

  /** Says what a form has done, for the page that the browser shows next. Returns null for an unknown intent. */
  outcome: staff
    .input(z.object({ about: z.string(), intent: text('intent') }))
    .query(({ input }) => sayOutcome(input.about, input.intent)),

  /** Returns the answer of `admin.mails.list`, with the forms of each mail. */
  mails: mailsOf.query(async ({ ctx, input }) => {
    const listed = await readMails(ctx, input);
    return { ...listed, mails: withForms(listed.mails) };
  }),

  /** Returns the clients, and the form that adds one. */
  clients: allowed('clients.list').query(async ({ ctx }) => ({
    clients: await listClients(ctx.deps),
    forms: listNewClientForms(),
  })),

  /** Returns one client. If it is a row of the database, its forms are included. Throws 404 `not_found`. */
  client: allowed('clients.list')
    .input(z.object({ client: text('client') }))
    .query(({ ctx, input }) => getClient(ctx.deps, input.client)),

  /**
   * Returns the answer of `admin.invitations.list`, with forms. If an invitation was refused because somebody has its email
   * address, `holder` is that person's id.
   */
  invitations: allowed('invitations.list')
    .input(z.object({ refused: textSchema('email').optional() }))
    .query(async ({ ctx, input: { refused } }) => {
      const { db, config, now } = ctx.deps;
      const email = refused === undefined ? undefined : readNewEmailAddress(refused, config);
      const holder = email && (await findAddressOwner(db, email, now()));
      return { ...withInvitationForms(await readInvitations(ctx)), holder: holder ? holder.id : null };
    }),

  auditKinds: staff.query(() => listKinds()),

  audit: staff
    .input(auditFilters.extend({ hasLooks: z.boolean() }))
    .query(({ ctx, input }) => searchAsStaff(ctx, 'people', () => listAuditLines(ctx.deps, ctx, input))),

  /** Finds people or staff for a filter. */
  findPeople: staff
    .input(z.object({ q: text('q'), isStaff: z.boolean() }))
    .query(({ ctx, input: { q, isStaff } }) =>
      searchAsStaff(ctx, 'people', () => findNamed(ctx.deps, { q, isStaff })),
    ),

  mailKinds: staff.query(() => listMailKinds()),

  /** Performs the act of a form. Throws 400 `invalid_request` for an unknown intent. */
  act: staff
    .input(
      z.object({
        about: z.enum(['person', 'invoice', 'payment', 'mail', 'settings', 'invitation', 'client']),
        ...{ known: text('known'), why: text('why'), seen: text('seen'), intent: z.string() },
        given: z.record(z.string(), z.string()),
      }),
    )
    .mutation(({ ctx, input: { about, intent, given, seen, ...reason } }) => {
      if (!isOnPages(about, intent))
        throw new AppError('invalid_request', { detail: faultWords.choice_missing });
      const asked: AnyAct = acts[intent];
      const { fields, formFields = fields } = asked;
      return perform(
        ctx,
        { ...asked, fields: formFields },
        { ...given, seen, why: readReason(intent, reason) },
      );
    }),
});
