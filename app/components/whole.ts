const format = new Intl.NumberFormat('en-GB');

/** A whole number as people read it. */
export const whole = (count: number): string => format.format(count);
