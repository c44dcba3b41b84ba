import { redirect } from '@remix-run/node';

/** Password managers send people to this address to change a password (https://www.w3.org/TR/change-password-url/). */
export const loader = () => redirect('/profile/security#password', 303);
