// For every page, which works without it: sends each form once, shows a password, copies and prints, closes a menu when
// the reader leaves it, fills in a demo user, and writes times in the reader's time zone.
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

// Buttons that need script. Not every browser lets a page copy.
for (const button of document.querySelectorAll('[data-copy], [data-print]'))
  if (button.hasAttribute('data-print') || navigator.clipboard) button.removeAttribute('hidden');

/** @param {Element} button */
async function copy(button) {
  await navigator.clipboard.writeText(button.getAttribute('data-copy') ?? '');
  const { textContent } = button;
  if (textContent === 'Copied') return;
  // The button's words are read out, because it has the focus.
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

// A second press before the answer has come would send the form twice (contract 9.287). A script that has already prevented the
// event sends the form itself.
const blockMs = 10_000;
let blockedUntil = 0;
let pressed;
window.addEventListener('submit', (event) => {
  // A download leaves its page open.
  if (event.defaultPrevented || event.target.hasAttribute('data-download')) return;
  if (performance.now() < blockedUntil) {
    event.preventDefault();
    return;
  }
  blockedUntil = performance.now() + blockMs;
  // A form without an action goes to the address of the page. With a fragment in it, no field of the answer would get the focus.
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  pressed = event.submitter;
  pressed?.setAttribute('aria-disabled', 'true');
  // The reader may have stopped the load.
  setTimeout(free, blockMs);
});
const free = () => pressed?.removeAttribute('aria-disabled');
window.addEventListener('pageshow', ({ persisted }) => {
  // After Back, the page may be as it was left.
  blockedUntil = 0;
  free();
  // If Back has loaded it anew, the browser puts what was typed beside the time of a newer profile. Save would then undo an edit
  // made elsewhere.
  const [navigation] = performance.getEntriesByType('navigation');
  if (persisted || navigation?.type !== 'back_forward') return;
  for (const time of document.querySelectorAll('input[name=profile_updated_at]')) time.form?.reset();
});

// Hides passwords before a form is sent: browsers remember what is typed into other fields.
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

// app/components/instant.tsx writes them in UTC.
const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

for (const time of document.querySelectorAll('time[datetime*="T"]'))
  time.textContent = local.format(new Date(time.getAttribute('datetime') ?? ''));

// Local mode only: a demo client shows what has arrived. A load of the page could break off a click.
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
