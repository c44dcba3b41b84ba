// The script of every page. Pages also work without it. The script sends each form only one time, shows a password, copies and
// prints, closes menus that the reader leaves, fills in a demo user, writes times in the browser's time zone and offers that
// zone, and updates lists.
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return;
  const button = target.closest('[data-show-password]');
  if (button) show(button, button.getAttribute('aria-pressed') !== 'true');
  const copies = target.closest('[data-copy]');
  if (copies) copy(copies);
  if (target.closest('[data-print]')) window.print();
  const demoUser = target.closest('[data-demo-email]');
  if (demoUser) fillIn(demoUser);
  closeMenus((menu) => !menu.contains(target));
});

// Shows the buttons that need script. A copy button stays hidden if the browser does not let a page copy.
for (const button of document.querySelectorAll('[data-copy], [data-print]'))
  if (button.hasAttribute('data-print') || navigator.clipboard) button.removeAttribute('hidden');

/** @param {Element} button */
async function copy(button) {
  await navigator.clipboard.writeText(button.getAttribute('data-copy') ?? '');
  const { textContent } = button;
  if (textContent === 'Copied') return;
  // The button has the focus, so screen readers read its new words.
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = textContent;
  }, 2_000);
}

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  const menu = document.querySelector('details.menu[open]');
  closeMenus(() => true);
  menu?.querySelector('summary')?.focus();
});

// A second press before the answer has come would send the form twice (contract 9.287). If another script has prevented the
// event, that script sends the form itself.
const blockMs = 10_000;
let blockedUntil = 0;
let pressed;
window.addEventListener('submit', (event) => {
  // A download leaves its page open, and people may want to download something else right away.
  if (event.defaultPrevented || event.target.hasAttribute('data-download')) return;
  if (performance.now() < blockedUntil) {
    event.preventDefault();
    return;
  }
  blockedUntil = performance.now() + blockMs;
  // Without an action, a form is posted to the URL of its page. If that URL has a fragment, the fragment would draw the focus
  // away from the fields of the answer.
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  pressed = event.submitter;
  pressed?.setAttribute('aria-disabled', 'true');
  // If the reader stops the page from loading, the button works again.
  setTimeout(free, blockMs);
});
const free = () => pressed?.removeAttribute('aria-disabled');
window.addEventListener('pageshow', ({ persisted }) => {
  // After Back, the browser may show the page as the reader left it, with its button blocked.
  blockedUntil = 0;
  free();
  // After Back, the browser may load the page again and restore what was typed before. The form then has old text, but the time
  // of the newer profile. So Save would undo an edit that was made elsewhere.
  const [navigation] = performance.getEntriesByType('navigation');
  if (persisted || navigation?.type !== 'back_forward') return;
  for (const time of document.querySelectorAll('input[name=profile_updated_at]')) time.form?.reset();
});

// Hides passwords before a form is sent, because browsers remember what was typed into a visible field.
document.addEventListener('submit', () => {
  for (const button of document.querySelectorAll('[data-show-password]')) show(button, false);
});

/** @param {Element} button @param {boolean} isShown */
function show(button, isShown) {
  button.setAttribute('aria-pressed', String(isShown));
  button.previousElementSibling?.setAttribute('type', isShown ? 'text' : 'password');
}

/** Local mode only: fills the login form with a demo user. @param {Element} button */
function fillIn(button) {
  const list = button.closest('[data-demo-password]');
  const typed = {
    email: button.getAttribute('data-demo-email') ?? '',
    password: list?.getAttribute('data-demo-password') ?? '',
  };
  for (const [name, text] of Object.entries(typed))
    for (const input of document.getElementsByName(name))
      if (input instanceof HTMLInputElement) input.value = text;
  const submit = document.querySelector('form:has([name=password]) [type=submit]');
  if (submit instanceof HTMLElement) submit.focus();
}

/** @param {(menu: Element) => boolean} isLeft */
function closeMenus(isLeft) {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (isLeft(menu)) menu.removeAttribute('open');
}

const local = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'short',
});

/** Does nothing if the reader has chosen a time zone, because the page is already in it. @param {ParentNode} part */
function localize(part) {
  if (document.documentElement.hasAttribute('data-time-zone')) return;
  for (const time of part.querySelectorAll('time[datetime*="T"]'))
    time.textContent = local.format(new Date(time.getAttribute('datetime') ?? ''));
}
localize(document);

const { timeZone } = local.resolvedOptions();
const offer = document.querySelector('[data-time-zone-offer]');
// A browser that does not know its time zone says `Etc/Unknown`.
if (offer && timeZone && timeZone !== 'Etc/Unknown') {
  offer.querySelector('strong')?.replaceChildren(timeZone.replaceAll('_', ' '));
  offer.querySelector('input')?.setAttribute('value', timeZone);
  offer.removeAttribute('hidden');
}

// Shows changes from elsewhere without a reload. This ends after ten minutes, because a page that is left open must not keep
// its session alive.
let looksLeft = document.querySelector('[data-live]') ? 150 : 0;
async function look() {
  if (looksLeft-- <= 0) return;
  const text = await fetch(location.href)
    .then((answer) => answer.text())
    .catch(() => '');
  const news = new DOMParser().parseFromString(text, 'text/html').querySelector('[data-live]');
  if (news) {
    localize(news);
    document.querySelector('[data-live]')?.replaceWith(news);
  }
  // After a log-out, the answer is the login page. Nothing new can come then, so this stops asking.
  if (news || text === '') setTimeout(look, 4_000);
}
if (looksLeft > 0) setTimeout(look, 4_000);

// Local mode only: a demo client shows new events without a reload, because a reload could interrupt a click.
const feed = document.querySelector('[data-feed]')?.getAttribute('data-feed');
if (feed) {
  const news = new EventSource(feed);
  news.addEventListener('message', async ({ data }) => {
    if (data === document.querySelector('[data-feed]')?.getAttribute('data-arrived')) return;
    const answer = await fetch(location.href);
    const main = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
    if (answer.ok && main) document.querySelector('main')?.replaceWith(main);
    if (!document.querySelector('[data-feed]')) news.close();
  });
}
