import { redirect } from '@remix-run/node';

/** Password managers open this URL when somebody wants to change a password (https://www.w3.org/TR/change-password-url/). */
export const loader = () => redirect('/profile/security#password', 303);
