// Every mail as its reader sees it (contract 9.378). With SCREENSHOTS, each mail is kept as pictures.
import { expect, it } from 'vitest';
import { layOut } from '../../server/mail/layout.ts';
import { inspectAsItIs, openSite } from '../support/app/browser.ts';
import { messages, style } from '../support/people/sample-mails.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(() => openSite());

// In mails, links and names make long lines, so this test uses a long name.
const long = { ...style, name: 'Château & <Söhne> Identity' };

it.each(['light', 'dark'] as const)(
  'every mail can be read on a phone and beside a list, %s',
  async (colorScheme) => {
    const { page } = await site.visit({ colorScheme });
    const faults: string[] = [];
    for (const [what, message] of Object.entries(messages)) {
      await page.setContent(layOut(message, long).html);
      for (const width of [360, 700]) {
        await page.setViewportSize({ width, height: 800 });
        faults.push(...(await inspectAsItIs(page, `mail ${what}, ${width} ${colorScheme}`)));
      }
    }
    expect(faults).toEqual([]);
  },
);
