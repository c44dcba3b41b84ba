// Why a person gets no payload, whatever their session (contract 4.29). Launches, and what staff see of one person, use this order.
import type { User } from '../../../db/tables/users.ts';
import type { Client } from '../../sso/clients.ts';
import { roleOf } from './profile.ts';

export const mayEnter = ({ roles }: Pick<Client, 'roles'>, user: User) => roles.includes(roleOf(user));

/** Returns the first reason. The second factor comes after these, so that nobody sets one up and is then refused. */
export function findStop(client: Pick<Client, 'roles'>, user: User) {
  if (user.suspendedAt) return 'suspended';
  if (user.deletionDueAt) return 'leaving';
  if (!user.emailVerifiedAt) return 'unproved';
  return mayEnter(client, user) ? undefined : 'not_let_in';
}
