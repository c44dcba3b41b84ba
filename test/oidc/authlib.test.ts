// A product on Authlib, as many in Python are.
import { expect, it } from 'vitest';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectNobody, logInAt, openPair, person } from './pair.ts';
import { openProgram, readHere } from './program-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/callback`, '--post-logout-uri', `${origin}/`],
      ...['--roles', 'merchant'],
    ],
    async open(place) {
      const packages = '/usr/lib/python3/dist-packages';
      requirePrograms(`${packages}/authlib`, `${packages}/flask`, `${packages}/requests`);
      return openProgram(place, {
        program: '/usr/bin/python3',
        args: () => ['product.py'],
        files: { 'product.py': await readHere('authlib.py') },
      });
    },
  }),
);

it('logs in with a nonce and a challenge, and out without a question (contract 14.61)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject({ ...person, email_verified: true });
  await page.getByText('Log out').click();
  await page.waitForURL(`${pair.origin}/`);
  await expectNobody(page, pair);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});
