// For every page, also those without any other script: shows a password, and closes a menu that is left. Pages work
// without it.
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element)) return;
  const button = target.closest('[data-show-password]');
  if (button) show(button, button.getAttribute('aria-pressed') !== 'true');
  closeMenus((menu) => !menu.contains(target));
});

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  const menu = document.querySelector('details.menu[open]');
  closeMenus(() => true);
  menu?.querySelector('summary')?.focus();
});

// Browsers offer again what was typed into a field that is no password.
document.addEventListener('submit', () => {
  for (const button of document.querySelectorAll('[data-show-password]')) show(button, false);
});

/** @param {Element} button @param {boolean} isShown */
function show(button, isShown) {
  button.setAttribute('aria-pressed', String(isShown));
  button.previousElementSibling?.setAttribute('type', isShown ? 'text' : 'password');
}

/** @param {(menu: Element) => boolean} isLeft */
function closeMenus(isLeft) {
  for (const menu of document.querySelectorAll('details.menu[open]'))
    if (isLeft(menu)) menu.removeAttribute('open');
}
