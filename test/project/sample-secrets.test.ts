// A person who copies a sample unchanged must not get a secret that everybody can read.
import { expect, it } from 'vitest';
import { exampleSecrets } from '../../server/doors/openapi/examples.ts';
import { faultsOf, production } from '../support/app/settings.ts';
import { readSampleFiles } from '../support/project/documents.ts';

/** A value that is assigned to a name such as `IDENTITY_SECRET`, `secrets` or `CRM_SIGNUPS_SECRET`. */
const assigned =
  /(\w*secrets?)(?:['"`]?\s*(?:=>|:-|=|:)|['"]\s*,)\s*\[?\s*(?:'([^'\n]*)'|"([^"\n]*)"|([^\s'"\\$&|<>()[\]{},;`]+))/gi;

const inUrl = /(IDENTITY_URL)(?:=https:\/\/\w+:([^@\s]+)@|', '([^']*)')/g;

const samples = readSampleFiles().flatMap(({ path, text }) =>
  [...text.matchAll(assigned), ...text.matchAll(inUrl)].map(([, name = '', single, double, bare]) => ({
    path,
    name,
    value: single ?? double ?? bare ?? '',
  })),
);

/** Kits and the plugin accept no secret below 32 bytes, except for http on this machine. The service has rules of its own. */
function isTaken({ name, value }: { name: string; value: string }): boolean {
  if (new TextEncoder().encode(value).length < 32) return false;
  const setting = value.startsWith('whsec_') ? 'CRM_SIGNUPS_SECRET' : name;
  return !(setting in production) || faultsOf({ ...production, [setting]: value }).length === 0;
}

it('the placeholder of a secret is refused by the code that reads it', () => {
  expect(samples.filter(isTaken)).toEqual([]);
  const places = samples.map(({ path, name }) => `${path} ${name}`);
  expect(places).toContain('clients/wordpress/README.md IDENTITY_URL');
  expect(places).toContain('clients/php/README.md IDENTITY_URL');
  expect(places).toContain('docs/crm.md CRM_SIGNUPS_SECRET');
  // The secrets in the examples of the API are published, too (contract 9.145).
  const published = {
    SSO_CRM_SECRET: exampleSecrets.client,
    MARKETPLACE_SSO_SECRET: exampleSecrets.marketplace,
    CRM_SIGNUPS_SECRET: exampleSecrets.signups,
    PAYMENTS_SECRET: exampleSecrets.payments,
  };
  expect(faultsOf({ ...production, ...published }).sort()).toEqual(Object.keys(published).sort());
});
