// OmniAuth, as in GitLab: a nonce without a challenge, the secret in the form.
import { expect, it } from 'vitest';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectNobody, findPerson, logInAt, openPair, person } from './pair.ts';
import { openProgram, readHere } from './program-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/users/auth/openid_connect/callback`],
      ...['--pkce', 'optional', '--roles', 'merchant'],
    ],
    async open(place) {
      requirePrograms('/usr/bin/ruby');
      return openProgram(place, {
        program: '/usr/bin/ruby',
        args: () => ['product.rb'],
        files: { 'product.rb': await readHere('omniauth.rb') },
      });
    },
  }),
);

it('logs in with a nonce, out there alone, and in again without a password (contract 14.32)', async () => {
  const { page, context } = await pair.site.visit();
  const ours = { ...person, uid: person.email };
  expect(await logInAt(page, pair)).toEqual(ours);
  await page.getByText('Log out').click();
  await expectNobody(page, pair);
  await askForLogin(page, pair);
  expect(await findPerson(page, pair)).toEqual(ours);
  await context.close();
});

it('asks before it logs out by the address of the strategy, which sends nothing (contract 14.61 and 14.64)', async () => {
  const { page, context } = await pair.site.visit();
  await logInAt(page, pair);
  await page.goto(`${pair.origin}/users/auth/openid_connect/logout`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('You have logged out.').waitFor();
  await page.goto(`${pair.origin}/logout`);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});
