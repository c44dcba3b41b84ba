// A real Chromium from an npm package, and axe in its pages.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { expect, inject, onTestFailed } from 'vitest';
import { demoPassword } from '../../../server/doors/demo/demo-users.ts';
import { listen } from '../../../server/runtime/listen.ts';
import type { Fetch } from '../../../server/runtime/listener.ts';
import { byForm } from '../faults/faults.ts';
import { openApp, type TestApp } from './app.ts';
import { findFreePort } from './process.ts';

export type TestSite = {
  app: TestApp;
  baseUrl: string;
  /** A new visitor; `complaints` collects what its pages write to the console. */
  visit: (
    options?: BrowserContextOptions,
  ) => Promise<{ page: Page; context: BrowserContext; complaints: string[] }>;
  close: () => Promise<void>;
};

/** The service on a port, and a browser. Close it in afterAll. */
export async function openSite(
  env: Record<string, string> = {},
  now?: () => Date,
  { answerFormsLateMs = 0 }: { answerFormsLateMs?: number } = {},
): Promise<TestSite> {
  const port = await findFreePort();
  const app = await openApp({ env: { PORT: String(port), ...env }, now });
  const listener = await listen(answerLate(retryReads(app.fetch), answerFormsLateMs), {
    host: '127.0.0.1',
    port,
  });
  const browser = await launchBrowser();
  return {
    app,
    baseUrl: app.config.baseUrl,
    async visit(options) {
      // Without this, each page would fade in, frame by frame, which takes half of the browser's time.
      const reducedMotion = 'reduce';
      const context = await browser.newContext({ baseURL: app.config.baseUrl, reducedMotion, ...options });
      // A busy machine needs several times as long as a quiet one.
      context.setDefaultTimeout(90_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        // The browser reports the status of each refusal, too, which is no fault of the page.
        const isStatus = message.text().startsWith('Failed to load resource: the server responded');
        if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(`${page.url()} ${error.stack}`));
      if (expect.getState().currentTestName) onTestFailed(() => sayWhatIsShown(page));
      return { page, context, complaints };
    },
    async close() {
      await browser.close();
      await listener.close(1_000);
      await app.close();
    },
  };
}

/** Returns what the page of a failed test shows, so that the test's log says more than which element was missing. */
async function sayWhatIsShown(page: Page): Promise<void> {
  const text = await page.locator('body').ariaSnapshot({ timeout: 5_000 });
  process.stderr.write(`${page.url()} shows: ${text.replaceAll(/\s+/g, ' ').slice(0, 500)}\n`);
}

/** Repeats a request that only reads while a busy machine answers 503, as a balancer does. */
const retryReads =
  (fetch: Fetch): Fetch =>
  async (request, info) => {
    let answer = await fetch(request, info);
    for (let tries = 0; request.method === 'GET' && answer.status === 503 && tries < 10; tries++) {
      await new Promise((again) => setTimeout(again, 200));
      answer = await fetch(request, info);
    }
    return answer;
  };

/** Delays the answers to forms, as a slow network does. */
const answerLate =
  (fetch: Fetch, ms: number): Fetch =>
  async (request, info) => {
    const answer = await fetch(request, info);
    if (request.method === 'POST') await new Promise((arrived) => setTimeout(arrived, ms));
    return answer;
  };

function launchBrowser(): Promise<Browser> {
  const { executablePath, env } = inject('browser');
  return chromium.launch({
    executablePath,
    env: { ...process.env, ...env } as Record<string, string>,
    headless: true,
    // These flags replace the package's own, which switch web security off.
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'],
  });
}

/** Lists what people can press or type into and is smaller than 44 pixels. A link in a sentence may be smaller. */
function measureTargets(): string[] {
  const least = 44;
  const targets = document.querySelectorAll<HTMLElement>(
    'a[href], button, summary, input:not([type=hidden]), select, textarea, [tabindex="0"], label:has(input[type=radio], input[type=checkbox])',
  );
  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  // Elements for screen readers and keyboards do not count. A checkbox does not count either, because people press its label.
  const isElsewhere = (element: HTMLElement) =>
    element.closest('.visually-hidden, .skip, pre') !== null ||
    element.matches('label input') ||
    (location.pathname.startsWith('/developers') && element.matches('main a:not(.button)'));
  // A link is in a sentence if there is text beside the link, or beside the element that contains it.
  const isInSentence = (element: Element): boolean => {
    if (!element.matches('a')) return false;
    for (let at: Element | null = element; at; at = at.parentElement) {
      const isInline = getComputedStyle(at).display.startsWith('inline') || at === element;
      if (!isInline) return false;
      const beside = [...(at.parentNode?.childNodes ?? [])].filter((node) => node !== at);
      if (
        beside.some(
          (node) => node.nodeType === Node.TEXT_NODE && /[\p{L}\p{N}]/u.test(node.textContent ?? ''),
        )
      )
        return true;
    }
    return false;
  };
  return [...targets].flatMap((element) => {
    if (!isShown(element) || isElsewhere(element) || isInSentence(element)) return [];
    // People can press the whole row of such a link.
    const pressed = element.matches('.row-link') ? (element.closest('.row') ?? element) : element;
    const { width, height } = pressed.getBoundingClientRect();
    // Sizes in rem may be smaller by a fraction of a pixel.
    if (width >= least - 0.1 && height >= least - 0.1) return [];
    const what = `${element.tagName.toLowerCase()}.${element.className} "${(element.textContent ?? '').trim().slice(0, 30)}"`;
    return [`target of ${width.toFixed(1)} x ${height.toFixed(1)}: ${what}`];
  });
}

/** Returns what is smaller than a fingertip needs (contract 9.224). */
export const findSmallTargets = (page: Page) => page.evaluate(measureTargets);

const heights = { 320: 640, 390: 844, 1280: 800 };

/**
 * The sizes and colour schemes in which every page is inspected. The short form has the narrowest and the widest page, and each
 * colour scheme one time.
 */
const appearances = Object.entries(heights)
  .flatMap(([width, height]) =>
    (['light', 'dark'] as const).map((colorScheme) => ({
      name: `${width} ${colorScheme}`,
      viewport: { width: Number(width), height },
      colorScheme,
    })),
  )
  .filter(
    ({ name }) =>
      byForm({ short: false, long: true }) ||
      process.env.SCREENSHOTS ||
      ['320 dark', '1280 light'].includes(name),
  );

const endTransitions = `document.getAnimations().forEach((each) => each instanceof CSSTransition && each.finish())`;

/** Shows the page in one appearance after the other, and then as it was. */
export async function inEachAppearance(
  page: Page,
  look: (appearance: (typeof appearances)[number]) => Promise<void>,
): Promise<void> {
  const before = page.viewportSize();
  for (const appearance of appearances) {
    await page.setViewportSize(appearance.viewport);
    await page.emulateMedia({ colorScheme: appearance.colorScheme });
    // Without this, a button could be between two colours.
    await page.evaluate(endTransitions);
    await look(appearance);
  }
  if (before) await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: null });
}

/** Returns what `inspectAsItIs` finds in each appearance. */
export async function inspectPage(page: Page, what: string): Promise<string[]> {
  const faults: string[] = [];
  await inEachAppearance(page, async ({ name }) => {
    faults.push(...(await inspectAsItIs(page, `${what}, ${name}`)));
  });
  return faults;
}

/**
 * Returns serious findings of axe, sideways scrolling and, on a phone, small targets. Saves a picture if SCREENSHOTS names a
 * folder.
 */
export async function inspectAsItIs(page: Page, what: string): Promise<string[]> {
  const faults = await findSeriousFaults(page);
  const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  if (await page.evaluate(isTooWide)) faults.push('scrolls sideways');
  if ((page.viewportSize()?.width ?? 0) < 400) faults.push(...(await findSmallTargets(page)));
  const folder = process.env.SCREENSHOTS;
  if (folder) await page.screenshot({ path: `${folder}/${what}.png`, fullPage: true });
  return faults.map((fault) => `${what}: ${fault}`);
}

/** Inspects a page in each appearance, as often as the test asks. `faults` collects everything that was wrong. */
export function openInspection(page: Page, topic = '') {
  const faults: string[] = [];
  const look = async (what: string, path?: string) => {
    if (path) await page.goto(path);
    faults.push(...(await inspectPage(page, `${topic} ${what}`.trim())));
  };
  return { faults, look };
}

export async function logIn(page: Page, email = 'merchant@example.test', password = demoPassword) {
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Opens a link on the page of kept mails: in the newest mail to `recipient`, the link that begins with `path`. */
export async function followMail(page: Page, recipient: string, path: string): Promise<void> {
  const link = page
    .getByRole('article')
    .filter({ hasText: `To ${recipient},` })
    .locator(`a[href*="${path}?token="]`);
  await expect
    .poll(
      async () => {
        await page.goto('/dev/mail');
        return link.count();
      },
      // Each look draws the page anew.
      { timeout: 15_000, interval: 300 },
    )
    .toBeGreaterThan(0);
  await link.first().click();
}

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

async function findSeriousFaults(page: Page): Promise<string[]> {
  // The browser's debugger evaluates this script, so the content security policy does not apply.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(await readFile(axeFile, 'utf8'));
  // axe need not describe what it finds good.
  const run = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)`;
  const violations = (await page.evaluate(run)) as AxeResults['violations'];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`);
}
