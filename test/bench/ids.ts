/** SQL for the id of the `n`th row of a kind: 0 is an account, 1 a user, 4 a contract. */
export const idOf = (kind: number, n: string) =>
  `('0190f5a0-000${kind}-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
