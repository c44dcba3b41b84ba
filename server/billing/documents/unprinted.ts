// Finds characters that no font has, in the texts of the settings (contract 7.494).
import { listTexts } from '../settings/other-accounts.ts';
import type { BillingSettings } from '../settings/settings.ts';
import { Sheet } from './sheet.ts';

/** The characters of one text in the settings that no font has. `pointer` says where the text is. */
export type Unprinted = { pointer: string; characters: string[] };

export const findUnprinted = (settings: BillingSettings, fonts: readonly Uint8Array[]): Unprinted[] => {
  const sheet = openSheet(fonts.filter(canOpen));
  return listTexts(settings)
    .map(([pointer, text]) => ({ pointer, characters: sheet.listLacking(text) }))
    .filter(({ characters }) => characters.length > 0);
};

// Nothing is drawn, so the colour does not matter.
const openSheet = (fonts: readonly Uint8Array[]) => new Sheet({ fonts, accent: '#000000' }, {});

/** Returns whether the font can be opened. A damaged font shows nothing, so it is left out. */
function canOpen(font: Uint8Array): boolean {
  try {
    openSheet([font]).listLacking('a');
    return true;
  } catch {
    return false;
  }
}
