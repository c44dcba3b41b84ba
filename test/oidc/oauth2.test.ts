// Go's oauth2 package, as in Grafana: a state and a challenge without a nonce, and AuthStyleAutoDetect.
import { expect, it } from 'vitest';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared } from '../support/run/shared.ts';
import { askForLogin, expectNobody, logInAt, openPair, person } from './pair.ts';
import { openProgram, readHere } from './program-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/login/generic_oauth`, '--post-logout-uri', `${origin}/`],
      ...['--roles', 'merchant'],
    ],
    async open(place) {
      requirePrograms('/usr/bin/go', '/usr/share/gocode/src/golang.org/x/oauth2');
      const build = 'GO111MODULE=off GOPATH=/usr/share/gocode GOFLAGS=-p=2 go build -o product product.go';
      return openProgram(place, {
        program: '/bin/sh',
        args: () => ['-c', `${build} && exec ./product`],
        files: { 'product.go': await readHere('oauth2.go') },
      });
    },
  }),
);

it('logs in with a challenge, and out without a question (contract 14.32 and 14.61)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toMatchObject({ ...person, email_verified: true });
  await page.getByText('Log out').click();
  await page.waitForURL(`${pair.origin}/`);
  await expectNobody(page, pair);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});
