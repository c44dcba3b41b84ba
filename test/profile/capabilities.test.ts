// Contract 2.66: the capabilities, in the code and in the database.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  capabilities,
  listActiveCapabilities,
  readCapabilities,
} from '../../server/identity/ground/capabilities.ts';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

it('the code and the database know the same capabilities', async () => {
  const { rows } = await sql<{ definition: string }>`
    select pg_get_constraintdef(oid) as definition from pg_constraint
    where conname = 'accounts_capabilities_known'`.execute(client.db);
  const known = [...(rows[0]?.definition.matchAll(/'(\w+)'/g) ?? [])].map(([, name]) => name);
  expect(known.sort()).toEqual(capabilities);
});

describe('the capabilities granted to an account', () => {
  it('are read as sorted, unique, known names', () => {
    const names = ['sell_services', 'fly', 'manage_storefront', 'sell_services', 'toString'];
    expect(readCapabilities(names)).toEqual(['manage_storefront', 'sell_services']);
  });

  it.each(capabilities)('include %s on a verified account', (name) => {
    expect(listActiveCapabilities({ capabilities: [name], verifiedAt: new Date() })).toEqual([name]);
  });

  it('leave out sell_products until the account is verified', () => {
    const active = listActiveCapabilities({ capabilities, verifiedAt: null });
    expect(active).toEqual(capabilities.filter((name) => name !== 'sell_products'));
  });
});
