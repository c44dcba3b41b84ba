import type { Procedures } from '../../../server/doors/trpc/router.ts';

export type Row = NonNullable<Awaited<ReturnType<Procedures['staffForms']['client']>>['row']>;

export const clientPath = (name: string) => `/admin/clients/${name}`;

export const stateWords: Record<Row['state'], string> = {
  in_settings: 'Also in the database, where it is off',
  off: 'Off',
  unconfirmed: 'Waits to be confirmed',
  unreadable: 'Refused: no key opens its secrets',
  on: 'In the database',
};
