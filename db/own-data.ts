// Everything kept about one person, in sections of rows that the person may read. This file only reads. A new table about people
// needs a section here, or a reason in test/leaving/download.test.ts.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './postgres/client.ts';
import type { DB } from './schema.ts';

type Columns<Table extends keyof DB> = (keyof DB[Table] & string)[];

export type Section = {
  name: string;
  table: keyof DB & string;
  /** Never list a hash, a token or a secret. */
  columns: string[];
  /** The columns that order and identify the rows, with their types. */
  key: [column: string, type: string][];
  isOwn: (userId: string) => RawBuilder<unknown>;
  /** Values to show instead of the columns with these names. */
  values?: (userId: string) => Record<string, RawBuilder<unknown>>;
  /** The section is shown only if the address is proved, as on the pages. */
  needsProof?: boolean;
};

/** An index must begin with the user and go on with `key`, so that no page reads other people's rows. */
function section<Table extends keyof DB & string>(
  name: string,
  table: Table,
  rows: {
    columns: Columns<Table>;
    key: [column: keyof DB[Table] & string, type: string][];
  } & Partial<Pick<Section, 'isOwn' | 'values' | 'needsProof'>>,
): Section {
  return { name, table, isOwn: (userId) => sql`user_id = ${userId}`, ...rows };
}

// Leaves out columns about the person who made the change, because that may be somebody else.
const changeColumns: Columns<'changes'> = ['at', 'subject', 'row_id', 'kind', 'members', 'by'];
const changeKey: [column: keyof DB['changes'] & string, type: string][] = [
  ['began_at', 'timestamptz'],
  ['id', 'bigint'],
];

const invoicesOfAccount = (userId: string) => sql`select i.number from users u
  join service_contracts c on c.account_id = u.account_id join invoices i on i.contract_id = c.id where u.id = ${userId}`;

export const sections: Section[] = [
  section('profile', 'users', {
    columns: [
      ...(['id', 'email', 'holds_email', 'email_verified_at', 'name', 'name_edited_at', 'role'] as const),
      ...(['has_passkey', 'has_authenticator', 'passkeys_declined_at'] as const),
      ...([
        'account_id',
        'created_at',
        'profile_updated_at',
        'suspended_at',
        'frozen_at',
        'deletion_due_at',
        'time_zone',
      ] as const),
    ],
    key: [['id', 'uuid']],
    isOwn: (userId) => sql`id = ${userId}`,
  }),
  section('account', 'accounts', {
    columns: [
      ...(['id', 'name', 'name_edited_at', 'capabilities', 'verified_at', 'created_at'] as const),
      ...(['granted_here', 'revoked_here', 'verified_here'] as const),
    ],
    key: [['id', 'uuid']],
    isOwn: (userId) => sql`id = (select account_id from users where id = ${userId})`,
  }),
  section('connected_accounts', 'external_links', {
    columns: [
      ...(['provider', 'external_id', 'created_at', 'applied_profile_updated_at', 'sleeping_since'] as const),
      ...(['capabilities', 'verified'] as const),
    ],
    key: [
      ['provider', 'text'],
      ['external_id', 'text'],
    ],
  }),
  section('sessions', 'sessions', {
    columns: [
      ...(['id', 'created_at', 'last_seen_at', 'ended_at', 'auth_time', 'amr'] as const),
      ...(['address', 'user_agent', 'place'] as const),
    ],
    key: [
      ['created_at', 'timestamptz'],
      ['id', 'uuid'],
    ],
  }),
  section('passkeys', 'passkeys', {
    columns: [
      ...(['name', 'transports', 'backed_up', 'counter', 'created_at', 'last_used_at'] as const),
      'from_established_browser',
    ],
    key: [['id', 'uuid']],
  }),
  section('authenticator_apps', 'authenticators', {
    columns: ['added_at', 'last_used_at', 'from_established_browser'],
    key: [['user_id', 'uuid']],
  }),
  section('former_addresses', 'reserved_addresses', {
    columns: ['email', 'expires_at'],
    key: [['number', 'bigint']],
  }),
  section('told_changes', 'take_back_changes', {
    columns: ['email', 'what', 'at', 'expires_at', 'device'],
    key: [['id', 'uuid']],
  }),
  section('pending_address', 'pending_email_changes', {
    columns: ['email', 'requested_at', 'expires_at'],
    key: [['user_id', 'uuid']],
  }),
  section('new_address', 'new_addresses', {
    columns: ['email', 'asked_at', 'expires_at'],
    key: [['id', 'uuid']],
  }),
  section('invitation', 'staff_invitations', {
    columns: ['email', 'role', 'sent_at', 'expires_at'],
    key: [['id', 'uuid']],
    isOwn: (userId) => sql`taken_by = ${userId}`,
  }),
  section('browsers', 'devices', {
    columns: ['last_login_at', 'known_since', 'first_credential_at', 'is_last', 'forgotten_at'],
    key: [['token_hash', 'bytea']],
  }),
  section('products_opened', 'launches', {
    columns: ['client', 'at', 'session_id', 'sid'],
    key: [
      ['session_id', 'uuid'],
      ['client', 'text'],
    ],
  }),
  section('products_told', 'client_users', {
    columns: ['client', 'since'],
    key: [['client', 'text']],
  }),
  section('told_to_products', 'events', {
    // Events about contracts are left out, because contracts have their own section.
    isOwn: (userId) => sql`user_id = ${userId} and type <> 'contract.updated'`,
    columns: ['client', 'type', 'occurred_at', 'body'],
    key: [['id', 'bigint']],
  }),
  section('contracts', 'service_contracts', {
    columns: [
      ...(['id', 'signup_id', 'plan', 'status', 'trial_ends_at', 'price_currency'] as const),
      ...(['price_unit_amount', 'price_interval', 'occurred_at', 'created_at'] as const),
      ...(['next_period_starts_at', 'billing_anchor_day', 'cancels_at'] as const),
      ...(['price_quantity', 'price_each'] as const),
    ],
    key: [['id', 'uuid']],
    needsProof: true,
  }),
  section('charges', 'contract_charges', {
    columns: [
      ...(['contract_id', 'id', 'title', 'currency', 'unit_amount', 'quantity', 'due'] as const),
      ...(['left_amount', 'recorded_at'] as const),
    ],
    key: [
      ['contract_id', 'uuid'],
      ['id', 'text'],
    ],
    isOwn: (userId) => sql`contract_id in (select id from service_contracts where user_id = ${userId})`,
    needsProof: true,
  }),
  section('invoices', 'invoices', {
    columns: [
      ...(['number', 'contract_id', 'plan', 'period_starts_at', 'period_ends_at', 'currency'] as const),
      ...(['unit_amount', 'status', 'issued_at', 'due_at', 'paid_at', 'buyer_name', 'buyer_email'] as const),
      ...(['document', 'credited', 'allocated', 'past_due_at'] as const),
    ],
    key: [['number', 'bigint']],
    isOwn: (userId) => sql`contract_id in (select id from service_contracts where user_id = ${userId})`,
    needsProof: true,
  }),
  section('billing_details', 'billing_details', {
    columns: [
      ...(['company', 'line1', 'line2', 'postcode', 'city', 'country', 'vat_id', 'checked_vat_id'] as const),
      ...(['refused_vat_id', 'vat_id_waits_since'] as const),
      ...(['invoice_email', 'invoice_email_proved_at', 'invoice_email_edited_at'] as const),
      ...(['edited_here', 'ignored', 'tax_country', 'waiting', 'waits_since'] as const),
    ],
    key: [['account_id', 'uuid']],
    isOwn: (userId) => sql`account_id = (select account_id from users where id = ${userId})`,
    needsProof: true,
  }),
  section('vat_checks', 'vat_checks', {
    columns: ['vat_id', 'asked_at', 'is_valid', 'consultation', 'name', 'address'],
    key: [['id', 'uuid']],
    isOwn: (userId) => sql`account_id = (select account_id from users where id = ${userId})`,
    needsProof: true,
  }),
  section('documents', 'documents', {
    columns: ['number', 'kind', 'issued_at', 'facts'],
    key: [['number', 'text']],
    isOwn: (userId) => sql`invoice in (${invoicesOfAccount(userId)})`,
    needsProof: true,
  }),
  // Shows only payments that pay for an invoice of the account now. An earlier allocation may have been a mistake.
  section('payments', 'payments', {
    columns: [
      ...(['id', 'currency', 'amount', 'paid_at', 'method', 'reference'] as const),
      ...(['invoice_number', 'recorded_at'] as const),
    ],
    key: [['id', 'text']],
    isOwn: (userId) => sql`id in (
      select payment from allocations where invoice in (${invoicesOfAccount(userId)})
      group by payment having sum(allocations.amount) > 0)`,
    values: (userId) => ({
      amount: sql`(select sum(a.amount) from allocations a
        where a.payment = payments.id and a.invoice in (${invoicesOfAccount(userId)}))`,
    }),
    needsProof: true,
  }),
  section('allocations', 'allocations', {
    columns: ['payment', 'invoice', 'amount', 'recorded_at'],
    key: [['id', 'bigint']],
    isOwn: (userId) => sql`invoice in (${invoicesOfAccount(userId)})`,
    // Shows the invoice's number as people know it.
    values: () => ({
      invoice: sql`(select coalesce(i.document, i.number::text) from invoices i where i.number = allocations.invoice)`,
    }),
    needsProof: true,
  }),
  section('emails', 'mails', {
    // These mails would reveal whether somebody else has the address. The activity shows that they were requested.
    isOwn: (userId) => sql`user_id = ${userId} and kind not in ('change_email', 'invoice_email')`,
    columns: ['kind', 'recipient', 'created_at', 'sent_at', 'given_up_at'],
    key: [['id', 'uuid']],
  }),
  section('activity', 'audit_events', {
    // An event about an address that a hand-off did not apply would reveal that somebody else has the address. An event about a
    // look by staff is only for the audit. Events about contracts need a proved address.
    isOwn: (
      userId,
    ) => sql`user_id = ${userId} and type not in ('hand_off.email_skipped', 'staff.looked') and (type <> 'signup.accepted'
      or exists (select from users u where u.id = ${userId} and u.email_verified_at is not null))`,
    columns: ['at', 'type', 'reason', 'address', 'request_id', 'device', 'place', 'details'],
    // If nobody logged in, the request may have come from a stranger, and the owner must not learn a stranger's IP address. The
    // owner must not learn where staff are, either.
    values: () => ({
      address: sql`case when type not in ('login.refused', 'login.code_asked', 'password_link.requested')
        and type not like 'staff.%' then address end`,
      device: sql`case when type not like 'staff.%' then device end`,
      place: sql`case when type not like 'staff.%' then place end`,
      details: sql`details - '{operator,systemUser}'::text[]`,
    }),
    key: [
      ['at', 'timestamptz'],
      ['id', 'uuid'],
    ],
  }),
  section('notes', 'staff_notes', {
    columns: ['text', 'at'],
    key: [
      ['at', 'timestamptz'],
      ['id', 'uuid'],
    ],
  }),
  section('changes', 'changes', {
    isOwn: (userId) => sql`user_id = ${userId} and (subject <> 'contract'
      or exists (select from users u where u.id = ${userId} and u.email_verified_at is not null))`,
    columns: changeColumns,
    key: changeKey,
  }),
  section('account_changes', 'changes', {
    isOwn: (userId) => sql`subject = 'account'
      and row_id = (select account_id::text from users where id = ${userId})`,
    columns: changeColumns,
    key: changeKey,
  }),
];

/** `row` is JSON. Pass `key` to read the rows after this one. */
export type OwnRow = { row: string; key: string[] };

/**
 * Returns the next rows after the key `after`. Each call is a separate statement, so a slow reader holds no transaction open.
 */
export async function readOwnRows(
  db: Database,
  { table, columns, key, isOwn, values: show }: Section,
  userId: string,
  { after, limit }: { after?: string[]; limit: number },
): Promise<OwnRow[]> {
  const shown = show?.(userId) ?? {};
  const members = columns.flatMap((column) => [sql.lit(column), shown[column] ?? sql.ref(column)]);
  const order = sql.join(key.map(([column]) => sql.ref(column)));
  const texts = sql.join(key.map(([column]) => sql`${sql.ref(column)}::text`));
  const values = key.map(([, type], at) => sql`${after?.[at]}::${sql.raw(type)}`);
  const isBehind = after ? sql`(${order}) > (${sql.join(values)})` : sql`true`;
  const { rows } = await sql<OwnRow>`
    select json_build_object(${sql.join(members)})::text as row, array[${texts}] as key
    from ${sql.table(table)} where ${isOwn(userId)} and ${isBehind} order by ${order} limit ${limit}`.execute(
    db,
  );
  return rows;
}
