// How long the tests of faults take: `npm run test:processes` runs each in a short form, `npm run test:faults` in a long one.
const isLong = process.env.FAULTS === 'long';

/** Chooses what a test does, by the form that runs. */
export const byForm = <T>(forms: { short: T; long: T }): T => (isLong ? forms.long : forms.short);

/** Prints what a test has measured, in the long form. */
export function noteFigures(name: string, figures: Record<string, number>): void {
  if (!isLong) return;
  const rounded = Object.entries(figures).map(([what, value]) => `${what} ${Math.round(value)}`);
  process.stdout.write(`${name}: ${rounded.join(', ')}\n`);
}
