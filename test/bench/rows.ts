// The rows of the bench that have a floor, and the lines that the service must not fall below.

/**
 * `line`: the least share of the floor's requests a second, on Node and on Deno. `launch` is one of a session that has been
 * at that client before; a first one locks the user and the session, which the floor does not.
 */
export const rows = {
  launch: { status: 303, line: 0.8 },
  'first launch': { status: 303, line: 0.5 },
  profile: { status: 200, line: 0.75 },
  'hand-off': { status: 303, line: 0.8 },
  signups: { status: 201, line: 0.8 },
  'new signups': { status: 201, line: 0.8 },
  login: { status: 303, line: 0.9 },
} as const;

export type Row = keyof typeof rows;

export const rowNames = Object.keys(rows) as Row[];
