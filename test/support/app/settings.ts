// A correct production environment, and what the service says about a wrong one.
import { expect } from 'vitest';
import { readConfig } from '../../../server/settings/config.ts';
import { ConfigError } from '../../../server/settings/reader.ts';

export type Settings = Record<string, string | undefined>;

export const production: Settings = {
  NODE_ENV: 'production',
  IDENTITY_ISSUER: 'https://id.example.test',
  DATABASE_URL: 'postgres://identity:fK2w@db.example.test:5432/identity?sslmode=verify-full',
  SMTP_URL: 'smtps://identity:hR9x@mail.example.test:465',
  MAIL_FROM: 'Identity <identity@example.test>',
  SSO_MARKETPLACE_CALLBACK_URL: 'https://market.example.test/sso/in?lang=de',
  SSO_MARKETPLACE_SECRET: 'mO5wXq0cT7hUe2ZrJ9yKbN4sVf8LdGa1',
  SSO_WEBSITE_CALLBACK_URL: 'https://www.example.test/sso',
  SSO_WEBSITE_SECRET: 'Qe7pYt3vWm1kSx9cHz5dRn0jBg6uLf2a,uC8nEw4yPk6zTq2hMx0bVs9rJd3gFl5o',
  SSO_CRM_CALLBACK_URL: 'https://crm.example.test/cb',
  SSO_CRM_SECRET: 'xA1sDf3gHj5kLz7cVb9nMq2wEr4tYu6i',
  MARKETPLACE_SSO_ISSUER: 'https://old-market.example.test',
  MARKETPLACE_SSO_SECRET: 'Zp0oXi9uCy8tVr7eBw6qNl5kMj4hAg3f',
  IDENTITY_ENCRYPTION_KEY: 'fXtK1cQ0sN2mRr9hYw3uEo7bVg5LzPa8DjUiH4xTkSg=',
  TRUSTED_PROXIES: '10.0.0.0/8',
  CRM_SIGNUPS_SECRET: 'whsec_3q2+78r+uq3erb7vyv66rd6tvu/K/rqt3q2+78r+uq0=',
  PAYMENTS_SECRET: 'whsec_xa1Ekif73zg2RBrwPgCWz+VpSnsCyKp6AY6bUHaf3nw=',
};

/** Tests put this word into secret values. A message that contains it has leaked a secret. */
export const canary = 'kanarienvogel';

/** The settings that the service names when it refuses to start. */
export function faultsOf(settings: Settings): string[] {
  return [...messageOf(settings).matchAll(/^ {2}(\w+) \S/gm)].map(([, setting]) => setting ?? '');
}

/**
 * Returns what the service says when it refuses to start. Returns an empty text if it starts. Checks that the message contains
 * no value.
 */
export function messageOf(settings: Settings): string {
  try {
    readConfig(settings);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message, stack, cause } = error as ConfigError;
    expect(cause).toBeUndefined();
    expect(stack?.toLowerCase()).not.toContain(canary);
    for (const value of Object.values(settings)) {
      if (value && value.length > 12) expect(message).not.toContain(value);
    }
    return message;
  }
}
