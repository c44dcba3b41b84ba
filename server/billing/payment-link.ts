// Links to pay an invoice (contract 7.108): an https address with placeholders.

const placeholder = /\{(?:number|amount|currency)\}/g;

/** Whether a text is such an address: with no other braces, and with none in its host. */
export function isLinkTemplate(text: string): boolean {
  if (text.length > 500 || !/^https:\/\/[^\s{}/?#\\@]+(?:[/?#]\S*)?$/.test(text)) return false;
  const filled = text.replaceAll(placeholder, 'x');
  if (/[{}\\\p{C}]/u.test(filled) || !URL.canParse(filled)) return false;
  const { protocol, username, password } = new URL(filled);
  return protocol === 'https:' && username === '' && password === '';
}
