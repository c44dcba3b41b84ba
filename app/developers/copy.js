// Adds to each piece of code a button that copies it. If the browser does not let a page copy, there is no button.
if (navigator.clipboard) for (const part of document.querySelectorAll('.code.copied')) addButton(part);

/** @param {Element} part */
function addButton(part) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(part.querySelector('code')?.textContent ?? '');
    // The button has the focus, so screen readers read its new words.
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  part.append(button);
}
