import { fileURLToPath } from 'node:url';
import codegen from 'kysely-codegen';
import { format } from './format.ts';
import { connect } from './postgres.ts';

export const schemaFile = fileURLToPath(new URL('../../../db/schema.ts', import.meta.url));

export async function buildSchema(url: string): Promise<string> {
  const { db, close } = connect(url);
  try {
    const text = await codegen.generate({
      db,
      dialect: new codegen.PostgresDialect(),
      excludePattern: 'kysely_*',
      outFile: null,
      // These types come from check constraints, which the introspection does not read.
      overrides: {
        columns: {
          'authenticators.sealed_secret': 'Uint8Array',
          'client_secrets.sealed': 'Uint8Array',
          'changes.kind': '"changed" | "created" | "found" | "removed"',
          'changes.subject': '"account" | "contract" | "link" | "user"',
          'devices.token_hash': 'Uint8Array',
          'document_files.pdf': 'Uint8Array',
          'document_files.pdf_sha256': 'Uint8Array',
          'document_files.xml': 'Uint8Array | null',
          'document_files.xml_sha256': 'Uint8Array | null',
          'documents.category': '"AE" | "E" | "O" | "S"',
          'documents.kind': '"credit_note" | "invoice"',
          'invoices.status': '"open" | "paid" | "void"',
          'form_answers.browser_hash': 'Uint8Array',
          'form_answers.form_hash': 'Uint8Array',
          'form_answers.sealed': 'Uint8Array | null',
          'mail_tokens.token_hash': 'Uint8Array',
          'oidc_grants.code_hash': 'Uint8Array',
          'oidc_grants.token_hash': 'Uint8Array | null',
          'oidc_keys.sealed': 'Uint8Array',
          'passkey_challenge_keys.key': 'Generated<Uint8Array>',
          'passkeys.public_key': 'Uint8Array',
          'pending_hand_offs.kind': '"connect" | "continue"',
          'pending_hand_offs.token_hash': 'Uint8Array',
          'pending_logins.token_hash': 'Uint8Array',
          'payments.kind': '"paid_back" | "payment" | "refund"',
          'recovery_codes.code_hash': 'Uint8Array',
          'refused_forms.sealed': 'Uint8Array',
          'service_contracts.price_interval': '"month" | "year" | null',
          'service_contracts.status': '"active" | "canceled" | "expired" | "past_due" | "trialing"',
          'webhook_requests.body_hash': 'Uint8Array',
          'sessions.token_hash': 'Uint8Array',
          'used_passkey_challenges.challenge_hash': 'Uint8Array',
          'users.role': 'Generated<"admin" | "manager" | "user">',
        },
      },
    });
    return await format(text, schemaFile);
  } finally {
    await close();
  }
}
